package regent.interop;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Messages whose listener fails come back through the retry topic, those that fail for ever end in
 * the dead-letter topic.
 */
final class RetryScenario {
    private static final int FAILS_ONCE_EVERY = 5;
    /** Its delay is the broker's choice, which is level 3: ten seconds. */
    private static final int FAILS_WITH_DEFAULT_DELAY = 10;
    private static final int FAILS_ALWAYS = 7;
    private static final int DEFAULT_DELAY_MS = 10_000;
    private static final int FIRST_DELAY_MS = 1_000;

    private final String topic;
    private final AtomicInteger doneCount = new AtomicInteger();
    private final AtomicInteger returnedCount = new AtomicInteger();
    private final Set<String> brokers = new TreeSet<>();
    private final Map<Integer, Integer> deliveries = new ConcurrentHashMap<>();
    private final Map<Integer, Long> failedAt = new ConcurrentHashMap<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private RetryScenario(String topic) {
        this.topic = topic;
    }

    static void run(Arguments arguments) throws Exception {
        new RetryScenario(arguments.text("topic")).sendAndConsume(arguments);
    }

    private void sendAndConsume(Arguments arguments) throws Exception {
        int count = arguments.number("count");
        DefaultMQProducer producer = Clients.producer(arguments, "interop-retry");
        producer.start();
        for (int number = 0; number < count; number++) {
            brokers.add(producer.send(Sample.message(topic, number)).getMessageQueue().getBrokerName());
        }
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, "retry");
        consumer.setMaxReconsumeTimes(1);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
            receive(messages.get(0), context));
        consumer.start();
        Report.event("started");
        Waiting.until(() -> doneCount.get() >= count - 1 || failure.get() != null, 60_000, count + " messages");
        if (failure.get() == null) {
            Waiting.until(() -> deadLetterCount(consumer, arguments.text("group")) == 1, 10_000, "one dead letter");
        }
        Waiting.quietly(500);
        consumer.shutdown();
        producer.shutdown();
        if (failure.get() != null) {
            throw new Failure(failure.get().getMessage());
        }
        Failure.unless(doneCount.get() == count - 1, doneCount + " were handled of " + (count - 1));
        Report.event("result", "count", count, "returned", returnedCount.get(), "dead_letters", 1);
    }

    private ConsumeConcurrentlyStatus receive(MessageExt message, ConsumeConcurrentlyContext context) {
        try {
            int number = Sample.number(message);
            int delivery = deliveries.merge(number, 1, Integer::sum);
            Failure.unless(message.getReconsumeTimes() == delivery - 1,
                message.getKeys() + ": delivery " + delivery + " says reconsumed " + message.getReconsumeTimes());
            Sample.verify(topic, number, message);
            if (delivery == 1 && (number % FAILS_ONCE_EVERY == 0 || number == FAILS_ALWAYS)) {
                context.setDelayLevelWhenNextConsume(number == FAILS_WITH_DEFAULT_DELAY ? 0 : 1);
                failedAt.put(number, System.nanoTime());
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            if (delivery == 2) {
                verifyReturned(number, message);
            }
            if (number == FAILS_ALWAYS) {
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            doneCount.incrementAndGet();
        } catch (RuntimeException wrong) {
            failure.compareAndSet(null, wrong);
        }
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
    }

    private void verifyReturned(int number, MessageExt message) {
        Failure.unless(failedAt.containsKey(number), message.getKeys() + ": came again though nothing failed");
        long afterMs = (System.nanoTime() - failedAt.get(number)) / 1_000_000;
        long leastMs = number == FAILS_WITH_DEFAULT_DELAY ? DEFAULT_DELAY_MS : FIRST_DELAY_MS;
        // The delay counts from the broker's store time in whole milliseconds.
        Failure.unless(afterMs >= leastMs - 50, message.getKeys() + ": came again after " + afterMs + " ms only");
        Failure.unless(topic.equals(message.getProperty("RETRY_TOPIC")), message.getKeys() + ": lost its topic");
        Failure.unless(message.getProperty("ORIGIN_MESSAGE_ID") != null, message.getKeys() + ": lost its first id");
        returnedCount.incrementAndGet();
    }

    private long deadLetterCount(DefaultMQPushConsumer consumer, String group) {
        long count = 0;
        for (String broker : brokers) {
            try {
                count += consumer.maxOffset(new MessageQueue("%DLQ%" + group, broker, 0));
            } catch (MQClientException notYet) {
                continue;
            }
        }
        return count;
    }
}
