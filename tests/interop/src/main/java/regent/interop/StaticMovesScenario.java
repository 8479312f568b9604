package regent.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Sends to every queue of a static topic and consumes from it while its queues move. Two producers take
 * turns in each queue: one looks at the route every second, the other one as the arguments say.
 *
 * <p>Lines on its standard input: {@code measure} forgets the gaps between acknowledgements so far;
 * {@code stop} ends the sends, and the scenario ends when each group has received everything.
 */
final class StaticMovesScenario {
    private static final int REPORT_EVERY_MS = 100;
    private static final int CONSUMED_WITHIN_MS = 60_000;
    private static final int POLL_MS = 100;
    private static final int ROUTE_POLL_MS = 1_000;

    private final Arguments arguments;
    private final String topic;
    private final List<Deliveries> groups = new ArrayList<>();
    private final Map<String, CountedAllocations> allocations = new TreeMap<>();
    private final List<Runnable> closers = new ArrayList<>();
    private volatile boolean isOver;

    private StaticMovesScenario(Arguments arguments) {
        this.arguments = arguments;
        this.topic = arguments.text("topic");
    }

    static void run(Arguments arguments) throws Exception {
        new StaticMovesScenario(arguments).sendAndConsume();
    }

    private void sendAndConsume() throws Exception {
        DefaultMQProducer slow = Clients.producer(arguments, "interop-static");
        DefaultMQProducer quick = Clients.producer(arguments, "interop-static");
        quick.setInstanceName("quick-" + quick.getInstanceName());
        quick.setPollNameServerInterval(ROUTE_POLL_MS);
        for (DefaultMQProducer producer : List.of(slow, quick)) {
            producer.start();
            closers.add(producer::shutdown);
        }
        List<MessageQueue> queues = slow.fetchPublishMessageQueues(topic);
        for (String kind : arguments.texts("consumer")) {
            startConsumer(kind, queues.size());
        }
        PacedSends sends = new PacedSends(List.of(slow, quick), topic, queues, arguments.number("rate"));
        sends.start();
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (true) {
            String order = orders.ready() ? orders.readLine() : "";
            if (order.equals("stop")) {
                break;
            }
            if (order.equals("measure")) {
                sends.forgetGaps();
            }
            Report.event("progress", "acknowledged", sends.acknowledged(), "refused", sends.refusals(),
                "received", received());
            Thread.sleep(REPORT_EVERY_MS);
        }
        sends.stop();
        Waiting.until(() -> missing(sends.counts()).isEmpty(), CONSUMED_WITHIN_MS,
            () -> "all is consumed; missing by consumer and queue: " + missing(sends.counts()));
        isOver = true;
        closers.forEach(Runnable::run);
        report(sends, queues.size());
    }

    private void report(PacedSends sends, int queueCount) {
        Map<String, Long> repeated = new TreeMap<>();
        Map<String, Long> displaced = new TreeMap<>();
        Map<String, Long> allocated = new TreeMap<>();
        allocations.forEach((kind, counted) -> allocated.put(kind, counted.changes()));
        List<String> faults = new ArrayList<>(sends.faults());
        for (Deliveries group : groups) {
            repeated.put(group.kind(), group.repeated());
            displaced.put(group.kind(), group.displaced());
            faults.addAll(group.faults());
        }
        Report.event("result", "acknowledged", sends.acknowledged(), "queues", queueCount,
            "refused", sends.refusals(), "faults", faults, "repeated", repeated, "displaced", displaced,
            "allocated", allocated, "gaps_ms", sends.gapsMs());
    }

    private void startConsumer(String kind, int queueCount) throws Exception {
        Deliveries group = new Deliveries(kind, !kind.equals("concurrent"));
        groups.add(group);
        allocations.put(kind, new CountedAllocations(topic));
        switch (kind) {
            case "orderly" -> {
                DefaultMQPushConsumer consumer = pushConsumer(kind);
                consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                    messages.forEach(group::take);
                    return ConsumeOrderlyStatus.SUCCESS;
                });
                start(consumer);
            }
            case "concurrent" -> {
                DefaultMQPushConsumer consumer = pushConsumer(kind);
                consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                    messages.forEach(group::take);
                    return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
                });
                start(consumer);
            }
            case "litepull" -> startLitePull(group, queueCount);
            default -> throw new IllegalArgumentException("no consumer " + kind);
        }
    }

    private DefaultMQPushConsumer pushConsumer(String kind) throws Exception {
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, kind);
        consumer.setConsumerGroup(arguments.text("group") + "-" + kind);
        consumer.setAllocateMessageQueueStrategy(allocations.get(kind));
        consumer.subscribe(topic, "*");
        return consumer;
    }

    private void start(DefaultMQPushConsumer consumer) throws Exception {
        consumer.start();
        closers.add(consumer::shutdown);
    }

    private void startLitePull(Deliveries group, int queueCount) throws Exception {
        DefaultLitePullConsumer consumer =
            new DefaultLitePullConsumer(arguments.text("group") + "-" + group.kind());
        Clients.configure(consumer, arguments, group.kind());
        consumer.setAllocateMessageQueueStrategy(allocations.get(group.kind()));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        // Each pull of a queue without messages holds a thread for 20 s: with fewer threads the last message of
        // another queue waits for it.
        consumer.setPullThreadNums(queueCount);
        consumer.subscribe(topic, "*");
        consumer.start();
        Thread poller = new Thread(() -> {
            while (!isOver) {
                consumer.poll(POLL_MS).forEach(group::take);
            }
        }, "lite pull");
        poller.start();
        closers.add(() -> {
            joinQuietly(poller);
            consumer.shutdown();
        });
    }

    private static void joinQuietly(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private Map<String, Long> received() {
        Map<String, Long> received = new TreeMap<>();
        groups.forEach(group -> received.put(group.kind(), group.received()));
        return received;
    }

    /** The number of messages that each group lacks, by group and queue. */
    private Map<String, Long> missing(Map<Integer, Long> counts) {
        Map<String, Long> missing = new TreeMap<>();
        counts.forEach((queue, count) -> groups.forEach(group -> {
            long lacking = group.lacking(queue, count);
            if (lacking > 0) {
                missing.put(group.kind() + " " + queue, lacking);
            }
        }));
        return missing;
    }
}
