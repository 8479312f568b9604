package regent.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A subscription by a SQL92 expression receives the messages that match and no others.
 *
 * <p>Half of the messages are there before the consumer starts, so that its first pulls find them. The
 * others come while its pulls are held. A consumer with a wrong expression does not start.
 */
final class SqlScenario {
    private static final String EXPRESSION = "price BETWEEN 3 AND 5 AND region IN ('north', 'it''s far')";
    private static final String WRONG_EXPRESSION = "price BETWEEN 3";

    private SqlScenario() {
    }

    static void run(Arguments arguments) throws Exception {
        String topic = arguments.text("topic");
        int count = arguments.number("count");
        DefaultMQProducer producer = Clients.producer(arguments, "interop-sql");
        producer.start();
        List<Integer> wanted = new ArrayList<>();
        for (int number = 0; number < count / 2; number++) {
            send(producer, topic, number, wanted);
        }

        ConcurrentLinkedQueue<MessageExt> received = new ConcurrentLinkedQueue<>();
        DefaultMQPushConsumer consumer = consumer(arguments, "sql", topic, EXPRESSION, received);
        consumer.start();
        Report.event("started");
        awaitAll(received, wanted);
        for (int number = count / 2; number < count; number++) {
            send(producer, topic, number, wanted);
        }
        awaitAll(received, wanted);
        Waiting.quietly(1_000);
        consumer.shutdown();

        List<Integer> numbers = new ArrayList<>();
        for (MessageExt message : received) {
            numbers.add(Sample.number(message));
        }
        numbers.sort(null);
        Failure.unless(numbers.equals(wanted), "wanted " + wanted + " and received " + numbers);
        String refusal = refusal(arguments, topic);
        producer.shutdown();
        Report.event("result", "sent", count, "received", numbers.size(), "refusal", refusal);
    }

    private static void send(DefaultMQProducer producer, String topic, int number, List<Integer> wanted)
        throws Exception {
        Message message = Sample.message(topic, number);
        String region = number % 3 == 0 ? "north" : number % 3 == 1 ? "it's far" : "south";
        message.putUserProperty("price", String.valueOf(number % 10));
        message.putUserProperty("region", region);
        producer.send(message);
        if (number % 10 >= 3 && number % 10 <= 5 && number % 3 != 2) {
            wanted.add(number);
        }
    }

    private static void awaitAll(ConcurrentLinkedQueue<MessageExt> received, List<Integer> wanted) throws Exception {
        Waiting.until(() -> received.size() >= wanted.size(), 30_000, wanted.size() + " messages by " + EXPRESSION);
    }

    private static DefaultMQPushConsumer consumer(
        Arguments arguments, String name, String topic, String expression, ConcurrentLinkedQueue<MessageExt> received)
        throws Exception {
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, name);
        consumer.subscribe(topic, MessageSelector.bySql(expression));
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            received.addAll(messages);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        return consumer;
    }

    /** Returns the error message that the user of a consumer with a wrong expression gets. */
    private static String refusal(Arguments arguments, String topic) throws Exception {
        DefaultMQPushConsumer consumer =
            consumer(arguments, "wrong", topic, WRONG_EXPRESSION, new ConcurrentLinkedQueue<>());
        try {
            consumer.start();
        } catch (MQClientException told) {
            return told.getMessage();
        }
        throw new Failure("a consumer with the expression " + WRONG_EXPRESSION + " has started");
    }
}
