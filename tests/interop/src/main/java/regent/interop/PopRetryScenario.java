package regent.interop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Two consumer groups of a topic, one concurrent and one orderly, whose mode is POP: each message fails
 * twice, and succeeds when it comes for the third time.
 *
 * <p>Event {@code opened} names the groups of a topic that exists. Then the scenario waits for a line.
 */
final class PopRetryScenario {
    private static final int PATIENCE_MS = 60_000;
    private static final int FAILURES = 2;
    private static final int SUSPENDED_MS = 10;

    private final String topic;
    /** For each group and number, how often the message had been delivered before. */
    private final Map<String, Map<Integer, List<Integer>>> deliveries = new ConcurrentHashMap<>();

    private PopRetryScenario(String topic) {
        this.topic = topic;
    }

    static void run(Arguments arguments) throws Exception {
        new PopRetryScenario(arguments.text("topic")).consume(arguments);
    }

    private void consume(Arguments arguments) throws Exception {
        int count = arguments.number("count");
        DefaultMQProducer producer = Clients.producer(arguments, "interop-pop");
        producer.start();
        Topics.open(producer, topic);
        DefaultMQPushConsumer concurrent = consumer(arguments, "concurrent");
        concurrent.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
            succeeds("concurrent", messages.get(0))
                ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        DefaultMQPushConsumer orderly = consumer(arguments, "orderly");
        orderly.setSuspendCurrentQueueTimeMillis(SUSPENDED_MS);
        orderly.registerMessageListener((MessageListenerOrderly) (messages, context) ->
            succeeds("orderly", messages.get(0))
                ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        Report.event("opened", "groups", List.of(concurrent.getConsumerGroup(), orderly.getConsumerGroup()));
        System.in.read();
        concurrent.start();
        orderly.start();
        for (int number = Topics.OPENING_COUNT; number < count; number++) {
            producer.send(Sample.message(topic, number));
        }
        List<Integer> expected = IntStream.rangeClosed(0, FAILURES).boxed().toList();
        Waiting.until(() -> deliveries.size() == 2 && deliveries.values().stream().allMatch(ofGroup ->
            ofGroup.size() == count && ofGroup.values().stream().allMatch(expected::equals)),
            PATIENCE_MS, () -> expected + " for each of " + count + " messages: " + deliveries);
        orderly.shutdown();
        concurrent.shutdown();
        producer.shutdown();
        Report.event("result", "count", count);
    }

    private DefaultMQPushConsumer consumer(Arguments arguments, String kind) throws Exception {
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, arguments.text("group") + "-" + kind, kind);
        consumer.setConsumeMessageBatchMaxSize(1);
        consumer.subscribe(topic, "*");
        Clients.receiveByPop(consumer);
        return consumer;
    }

    /** Whether the message is processed: only when it was delivered often enough. */
    private boolean succeeds(String kind, MessageExt message) {
        deliveries.computeIfAbsent(kind, key -> new ConcurrentHashMap<>())
            .computeIfAbsent(Sample.number(message), key -> new CopyOnWriteArrayList<>())
            .add(message.getReconsumeTimes());
        return message.getReconsumeTimes() >= FAILURES;
    }
}
