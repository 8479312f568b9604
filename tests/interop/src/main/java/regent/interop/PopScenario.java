package regent.interop;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Two consumers of a group receive by POP: one of them processes each message, and a message that
 * fails comes again.
 *
 * <p>Event {@code opened} says that topic and group exist: the mode of the group can then be set to
 * POP. Event {@code consumed} says that a round of messages has been processed, and another round
 * follows. After each event the scenario waits for a line. With {@code exists} the topic exists
 * already.
 */
final class PopScenario {
    private static final int PATIENCE_MS = 60_000;
    private static final int RETRY_MS = 40_000;
    private static final int FAILING_EVERY = 20;
    private static final int SEND_PAUSE_MS = 200;

    private final String topic;
    private final Map<Integer, Set<String>> receivers = new ConcurrentHashMap<>();
    private final Set<Integer> processed = ConcurrentHashMap.newKeySet();
    private final AtomicInteger deliveries = new AtomicInteger();
    private final AtomicInteger withHandle = new AtomicInteger();

    private PopScenario(String topic) {
        this.topic = topic;
    }

    static void run(Arguments arguments) throws Exception {
        new PopScenario(arguments.text("topic")).consume(arguments);
    }

    private void consume(Arguments arguments) throws Exception {
        int count = arguments.number("count");
        DefaultMQProducer producer = Clients.producer(arguments, "interop-pop");
        producer.start();
        boolean exists = Boolean.parseBoolean(arguments.text("exists", "false"));
        if (!exists) {
            Topics.open(producer, topic);
        }
        DefaultMQPushConsumer first = start(arguments, "first");
        Report.event("opened", "topic", topic);
        System.in.read();
        DefaultMQPushConsumer second = start(arguments, "second");
        int rounds = arguments.number("rounds", 2);
        sendAndReceive(producer, exists ? 0 : Topics.OPENING_COUNT, count);
        for (int round = 1; round < rounds; round++) {
            Report.event("consumed", "count", receivers.size());
            System.in.read();
            sendAndReceive(producer, round * count, (round + 1) * count);
        }
        second.shutdown();
        first.shutdown();
        producer.shutdown();
        long both = receivers.values().stream().flatMap(Set::stream).distinct().count();
        Report.event("result", "count", receivers.size(), "deliveries", deliveries.get(),
            "with_handle", withHandle.get(), "consumers", both);
    }

    /** Sends messages, and waits until each is processed, also those that failed at first. */
    private void sendAndReceive(DefaultMQProducer producer, int from, int to) throws Exception {
        for (int number = from; number < to; number++) {
            sendPatiently(producer, number);
        }
        Waiting.until(() -> receivers.size() == to, PATIENCE_MS, to + " messages");
        int failing = (to + FAILING_EVERY - 1) / FAILING_EVERY;
        Waiting.until(() -> processed.stream().filter(number -> number % FAILING_EVERY == 0).count() == failing,
            RETRY_MS, failing + " messages that failed");
    }

    /** Sends until it succeeds: the route of the producer names the former master for a moment. */
    private void sendPatiently(DefaultMQProducer producer, int number) throws Exception {
        long end = System.nanoTime() + PATIENCE_MS * 1_000_000L;
        while (true) {
            try {
                producer.send(Sample.message(topic, number));
                return;
            } catch (Exception failure) {
                if (System.nanoTime() > end) {
                    throw failure;
                }
                Thread.sleep(SEND_PAUSE_MS);
            }
        }
    }

    private DefaultMQPushConsumer start(Arguments arguments, String name) throws Exception {
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, name);
        consumer.subscribe(topic, "*");
        Clients.receiveByPop(consumer);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            ConsumeConcurrentlyStatus status = ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            for (MessageExt message : messages) {
                if (!take(message, name)) {
                    status = ConsumeConcurrentlyStatus.RECONSUME_LATER;
                }
            }
            return status;
        });
        consumer.start();
        return consumer;
    }

    /** Whether the message is processed: some are only when they come the second time. */
    private boolean take(MessageExt message, String name) {
        int number = Sample.number(message);
        Sample.verify(topic, number, message);
        deliveries.incrementAndGet();
        if (message.getProperty("POP_CK") != null) {
            withHandle.incrementAndGet();
        }
        receivers.computeIfAbsent(number, key -> ConcurrentHashMap.newKeySet()).add(name);
        if (number % FAILING_EVERY == 0 && message.getReconsumeTimes() == 0) {
            return false;
        }
        processed.add(number);
        return true;
    }
}
