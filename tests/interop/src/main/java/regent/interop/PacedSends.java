package regent.interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * One sender for each queue, which waits for the answer to a message before it sends the next one.
 *
 * <p>A message that was refused is sent again. So numbers rise within a queue, and a number is stored
 * twice only where a refused message was stored. Offsets of acknowledged messages rise, one by one
 * unless a message was refused in between.
 */
final class PacedSends {
    private static final int PAUSE_AFTER_REFUSAL_MS = 10;
    private static final int STOPPED_WITHIN_MS = 60_000;

    private final List<DefaultMQProducer> producers;
    private final String topic;
    private final long intervalNs;
    private final List<Sender> senders = new ArrayList<>();
    private final AtomicLong acknowledged = new AtomicLong();
    private final Map<String, AtomicLong> refusals = new ConcurrentHashMap<>();
    private final List<String> faults = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean isOver;

    /** Sends `rate` messages a second at most, evenly to all queues, by each producer in turn. */
    PacedSends(List<DefaultMQProducer> producers, String topic, List<MessageQueue> queues, int rate) {
        this.producers = producers;
        this.topic = topic;
        this.intervalNs = 1_000_000_000L * queues.size() / rate;
        queues.forEach(queue -> senders.add(new Sender(queue)));
    }

    void start() {
        senders.forEach(Thread::start);
    }

    void stop() throws InterruptedException {
        isOver = true;
        for (Sender sender : senders) {
            sender.join(STOPPED_WITHIN_MS);
            Failure.unless(!sender.isAlive(), "a send to " + sender.queue + " still waits for its answer");
        }
    }

    long acknowledged() {
        return acknowledged.get();
    }

    Map<String, AtomicLong> refusals() {
        return refusals;
    }

    List<String> faults() {
        return faults;
    }

    /** The number of acknowledged messages of each queue, which have the numbers below it. */
    Map<Integer, Long> counts() {
        Map<Integer, Long> counts = new TreeMap<>();
        senders.forEach(sender -> counts.put(sender.queue.getQueueId(), sender.count));
        return counts;
    }

    void forgetGaps() {
        senders.forEach(sender -> sender.longestGapNs = 0);
    }

    /** The longest time between two acknowledgements of each queue, in the order of the queues. */
    List<Double> gapsMs() {
        return senders.stream().map(sender -> sender.longestGapNs / 1e6).toList();
    }

    private final class Sender extends Thread {
        private final MessageQueue queue;
        private volatile long count;
        private volatile long longestGapNs;

        Sender(MessageQueue queue) {
            super("sender " + queue.getQueueId());
            this.queue = queue;
        }

        @Override
        public void run() {
            try {
                send();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }

        private void send() throws InterruptedException {
            long lastOffset = -1;
            long lastNs = System.nanoTime();
            while (!isOver) {
                long dueNs = System.nanoTime() + intervalNs;
                int refused = 0;
                SendResult result;
                while ((result = sendOnce()) == null) {
                    refused++;
                    Thread.sleep(PAUSE_AFTER_REFUSAL_MS);
                }
                check(lastOffset, result.getQueueOffset(), refused);
                lastOffset = result.getQueueOffset();
                long nowNs = System.nanoTime();
                if (count > 0) {
                    longestGapNs = Math.max(longestGapNs, nowNs - lastNs);
                }
                lastNs = nowNs;
                count++;
                acknowledged.incrementAndGet();
                Thread.sleep(Math.max(0, dueNs - nowNs) / 1_000_000);
            }
        }

        private void check(long last, long offset, int refused) {
            boolean isNext = refused == 0 ? offset == last + 1 : offset > last && offset <= last + 1 + refused;
            if (!isNext) {
                faults.add("queue " + queue.getQueueId() + ": offset " + offset + " after " + last);
            }
        }

        private SendResult sendOnce() throws InterruptedException {
            byte[] body = (queue.getQueueId() + ":" + count).getBytes(StandardCharsets.UTF_8);
            DefaultMQProducer producer = producers.get((int) (count % producers.size()));
            try {
                return producer.send(new Message(topic, body), queue);
            } catch (InterruptedException ended) {
                throw ended;
            } catch (Exception refused) {
                refusals.computeIfAbsent(refused.toString(), text -> new AtomicLong()).incrementAndGet();
                return null;
            }
        }
    }
}
