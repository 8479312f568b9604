package regent.interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Sends to every queue of a static topic and consumes from it while its queues move; ends when a
 * line comes in on its standard input and everything has been consumed.
 *
 * <p>Each queue has one sender, and a message that was refused is sent again before the next one. So
 * numbers rise within a queue, and a consumer sees a number again only where delivery is at least
 * once.
 */
final class StaticMovesScenario {
    private static final int REPORT_EVERY_MS = 100;
    private static final int PAUSE_AFTER_REFUSAL_MS = 10;
    private static final int CONSUMED_WITHIN_MS = 60_000;

    private final String topic;
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong longestGapMs = new AtomicLong();
    private final Map<String, AtomicLong> refusals = new ConcurrentHashMap<>();
    private final List<String> faults = Collections.synchronizedList(new ArrayList<>());
    private final Map<Integer, AtomicLong> sent = new ConcurrentHashMap<>();
    private final Map<Integer, AtomicLong> seenInOrder = new ConcurrentHashMap<>();
    private final Map<Integer, Map<Long, Boolean>> seen = new ConcurrentHashMap<>();

    private StaticMovesScenario(String topic) {
        this.topic = topic;
    }

    static void run(Arguments arguments) throws Exception {
        new StaticMovesScenario(arguments.text("topic")).sendAndConsume(arguments);
    }

    private void sendAndConsume(Arguments arguments) throws Exception {
        int threadCount = arguments.number("threads", 4);
        DefaultMQProducer producer = Clients.producer(arguments, "interop-static");
        producer.start();
        List<MessageQueue> queues = producer.fetchPublishMessageQueues(topic);
        DefaultMQPushConsumer orderly = consumer(arguments, "orderly");
        orderly.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            messages.forEach(this::takeInOrder);
            return ConsumeOrderlyStatus.SUCCESS;
        });
        DefaultMQPushConsumer concurrent = consumer(arguments, "concurrent");
        concurrent.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(this::take);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        orderly.start();
        concurrent.start();
        ExecutorService threads = Executors.newFixedThreadPool(threadCount);
        for (int thread = 0; thread < threadCount; thread++) {
            int first = thread;
            threads.submit(() -> send(producer, queues, first, threadCount, arguments.number("pause-ms", 4)));
        }
        threads.shutdown();
        while (System.in.available() == 0) {
            Report.event("progress", "acknowledged", acknowledged.get(), "refused", refusals);
            Thread.sleep(REPORT_EVERY_MS);
        }
        isOver.set(true);
        Failure.unless(threads.awaitTermination(60, TimeUnit.SECONDS), "sends still wait for their answer");
        Waiting.until(this::isConsumed, CONSUMED_WITHIN_MS, "all is consumed; " + missing());
        orderly.shutdown();
        concurrent.shutdown();
        producer.shutdown();
        Report.event("result", "acknowledged", acknowledged.get(), "queues", queues.size(), "refused", refusals,
            "faults", faults, "longest_gap_ms", longestGapMs.get());
    }

    private DefaultMQPushConsumer consumer(Arguments arguments, String kind) throws Exception {
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, kind);
        consumer.setConsumerGroup(arguments.text("group") + "-" + kind);
        consumer.subscribe(topic, "*");
        return consumer;
    }

    /** Sends to each nth queue in turn. */
    private Void send(DefaultMQProducer producer, List<MessageQueue> queues, int first, int step, int pauseMs)
            throws InterruptedException {
        Map<Integer, Long> lastOffsets = new TreeMap<>();
        Map<Integer, Long> lastTimes = new TreeMap<>();
        while (!isOver.get()) {
            for (int at = first; at < queues.size(); at += step) {
                MessageQueue queue = queues.get(at);
                long number = sent.computeIfAbsent(queue.getQueueId(), id -> new AtomicLong()).get();
                SendResult result = sendOnce(producer, queue, number);
                long offset = result.getQueueOffset();
                Long last = lastOffsets.put(queue.getQueueId(), offset);
                if (last != null && offset <= last) {
                    faults.add("queue " + queue.getQueueId() + ": offset " + offset + " after " + last);
                }
                long now = System.nanoTime() / 1_000_000;
                Long before = lastTimes.put(queue.getQueueId(), now);
                longestGapMs.accumulateAndGet(before == null ? 0 : now - before, Math::max);
                sent.get(queue.getQueueId()).incrementAndGet();
                acknowledged.incrementAndGet();
            }
            Thread.sleep(pauseMs);
        }
        return null;
    }

    private SendResult sendOnce(DefaultMQProducer producer, MessageQueue queue, long number)
            throws InterruptedException {
        byte[] body = (queue.getQueueId() + ":" + number).getBytes(StandardCharsets.UTF_8);
        while (true) {
            try {
                return producer.send(new Message(topic, body), queue);
            } catch (InterruptedException ended) {
                throw ended;
            } catch (Exception refused) {
                refusals.computeIfAbsent(refused.toString(), text -> new AtomicLong()).incrementAndGet();
                Thread.sleep(PAUSE_AFTER_REFUSAL_MS);
            }
        }
    }

    private void takeInOrder(MessageExt message) {
        String[] parts = new String(message.getBody(), StandardCharsets.UTF_8).split(":");
        int queue = Integer.parseInt(parts[0]);
        long number = Long.parseLong(parts[1]);
        AtomicLong next = seenInOrder.computeIfAbsent(queue, id -> new AtomicLong());
        if (number > next.get()) {
            faults.add("queue " + queue + ": " + number + " came before " + next.get());
        }
        next.accumulateAndGet(number + 1, Math::max);
    }

    private void take(MessageExt message) {
        String[] parts = new String(message.getBody(), StandardCharsets.UTF_8).split(":");
        seen.computeIfAbsent(Integer.parseInt(parts[0]), id -> new ConcurrentHashMap<>())
            .put(Long.parseLong(parts[1]), true);
    }

    private boolean isConsumed() {
        return missing().isEmpty();
    }

    /** The number of messages that a group lacks, by group and queue. */
    private Map<String, Long> missing() {
        Map<String, Long> missing = new TreeMap<>();
        sent.forEach((queue, count) -> {
            long inOrder = seenInOrder.getOrDefault(queue, new AtomicLong()).get();
            int concurrent = seen.getOrDefault(queue, Map.of()).size();
            if (inOrder < count.get()) {
                missing.put("orderly " + queue, count.get() - inOrder);
            }
            if (concurrent < count.get()) {
                missing.put("concurrent " + queue, count.get() - concurrent);
            }
        });
        return missing;
    }
}
