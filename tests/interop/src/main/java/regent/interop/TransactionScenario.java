package regent.interop;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Of three messages one is committed, one rolled back, and one is decided when the broker asks: consumers see
 * exactly those that were committed.
 */
final class TransactionScenario implements TransactionListener {
    private static final int PATIENCE_MS = 100_000;
    private static final int QUIET_MS = 1_000;

    private final String topic;
    private final Set<Integer> asked = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Integer> received = new ConcurrentHashMap<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private TransactionScenario(String topic) {
        this.topic = topic;
    }

    static void run(Arguments arguments) throws Exception {
        new TransactionScenario(arguments.text("topic")).sendAndConsume(arguments);
    }

    private void sendAndConsume(Arguments arguments) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer("interop-" + topic);
        Clients.configure(producer, arguments, "transactions");
        producer.setTransactionListener(this);
        producer.start();
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, "transactions");
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(this::receive);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        int count = arguments.number("count");
        int committed = 0;
        int unknown = 0;
        for (int number = 0; number < count; number++) {
            TransactionSendResult result =
                producer.sendMessageInTransaction(Sample.message(topic, number), number);
            Failure.unless(result.getSendStatus() == SendStatus.SEND_OK, number + " was answered " + result);
            Failure.unless(result.getTransactionId().equals(result.getMsgId()), "another id: " + result);
            committed += isCommitted(number) ? 1 : 0;
            unknown += isUnknown(number) ? 1 : 0;
        }
        consumer.start();
        Report.event("started");
        int expected = committed;
        int questions = unknown;
        Waiting.until(() -> failure.get() != null || received.size() >= expected && asked.size() >= questions,
            PATIENCE_MS, "committed messages");
        Waiting.quietly(QUIET_MS);
        consumer.shutdown();
        producer.shutdown();
        if (failure.get() != null) {
            throw new Failure(failure.get().getMessage());
        }
        Failure.unless(received.size() == committed, received.size() + " were received of " + committed);
        Report.event("result", "count", received.size(), "asked", asked.size());
    }

    private static boolean isUnknown(int number) {
        return number % 3 == 2;
    }

    private static boolean isCommitted(int number) {
        return number % 3 == 0 || isUnknown(number) && number % 2 == 0;
    }

    private void receive(MessageExt message) {
        try {
            int number = Sample.number(message);
            Sample.verify(topic, number, message);
            Failure.unless(isCommitted(number), message.getKeys() + " was rolled back");
            int times = received.merge(number, 1, Integer::sum);
            Failure.unless(times == 1, message.getKeys() + " came " + times + " times");
            Failure.unless(message.getPreparedTransactionOffset() > 0, message.getKeys() + " names no half message");
        } catch (RuntimeException wrong) {
            failure.compareAndSet(null, wrong);
        }
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object number) {
        return isUnknown((Integer) number) ? LocalTransactionState.UNKNOW : decision((Integer) number);
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        int number = Sample.number(message);
        if (!message.getTopic().equals(topic) || !isUnknown(number)) {
            failure.compareAndSet(null, new Failure("asked about " + message));
        }
        asked.add(number);
        return decision(number);
    }

    private static LocalTransactionState decision(int number) {
        return isCommitted(number)
            ? LocalTransactionState.COMMIT_MESSAGE
            : LocalTransactionState.ROLLBACK_MESSAGE;
    }
}
