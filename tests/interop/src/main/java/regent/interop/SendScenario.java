package regent.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Sends messages {@code first} to {@code first + count} of a topic in one of four modes.
 *
 * <p>With several modes it sends in each, one after another. A topic, or a first message, that is given once is that of
 * all modes.
 */
final class SendScenario {
    private static final int IN_FLIGHT_COUNT_MAX = 128;
    private static final int BATCH_COUNT = 40;
    private static final int ARRIVAL_TIMEOUT_MS = 30_000;

    private SendScenario() {
    }

    static void run(Arguments arguments) throws Exception {
        DefaultMQProducer producer = Clients.producer(arguments, "interop-send");
        producer.start();
        Report.event("started");
        int count = arguments.number("count");
        List<String> modes = arguments.texts("mode");
        long tookMs = 0;
        for (int at = 0; at < modes.size(); at++) {
            String topic = arguments.text("topic", at);
            int first = Integer.parseInt(arguments.text("first", at, "0"));
            long started = System.nanoTime();
            send(producer, modes.get(at), topic, first, count, arguments.number("rate", 0));
            tookMs += (System.nanoTime() - started) / 1_000_000;
            awaitArrival(producer, topic, first + count);
        }
        producer.shutdown();
        Report.event("result", "count", modes.size() * count, "took_ms", tookMs);
    }

    private static void send(DefaultMQProducer producer, String mode, String topic, int first, int count, int rate)
        throws Exception {
        switch (mode) {
            case "sync" -> sendOneByOne(producer, topic, first, count, rate);
            case "async" -> sendAsync(producer, topic, first, count);
            case "oneway" -> {
                for (int number = first; number < first + count; number++) {
                    producer.sendOneway(Sample.message(topic, number));
                }
            }
            case "batch" -> sendBatches(producer, topic, first, count);
            default -> throw new IllegalArgumentException("--mode is sync, async, oneway or batch");
        }
    }

    private static void sendOneByOne(DefaultMQProducer producer, String topic, int first, int count, int ratePerSecond)
        throws Exception {
        long started = System.nanoTime();
        for (int number = first; number < first + count; number++) {
            if (ratePerSecond > 0) {
                long dueNs = started + (number - first) * 1_000_000_000L / ratePerSecond;
                Thread.sleep(Math.max(0, (dueNs - System.nanoTime()) / 1_000_000));
            }
            Message message = Sample.message(topic, number);
            verify(message, producer.send(message));
        }
    }

    private static void sendAsync(DefaultMQProducer producer, String topic, int first, int count) throws Exception {
        Semaphore inFlight = new Semaphore(IN_FLIGHT_COUNT_MAX);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (int number = first; number < first + count; number++) {
            inFlight.acquire();
            Message message = Sample.message(topic, number);
            producer.send(message, new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    try {
                        verify(message, result);
                    } catch (Failure wrong) {
                        failure.compareAndSet(null, wrong);
                    }
                    inFlight.release();
                }

                @Override
                public void onException(Throwable exception) {
                    failure.compareAndSet(null, exception);
                    inFlight.release();
                }
            });
        }
        inFlight.acquire(IN_FLIGHT_COUNT_MAX);
        if (failure.get() != null) {
            throw new Failure("an asynchronous send failed: " + failure.get());
        }
    }

    private static void sendBatches(DefaultMQProducer producer, String topic, int first, int count) throws Exception {
        for (int number = first; number < first + count; number += BATCH_COUNT) {
            List<Message> batch = new ArrayList<>();
            for (int at = number; at < Math.min(number + BATCH_COUNT, first + count); at++) {
                batch.add(Sample.message(topic, at));
            }
            SendResult result = producer.send(batch);
            Failure.unless(result.getSendStatus() == SendStatus.SEND_OK, "a batch was answered " + result);
            int ids = result.getOffsetMsgId().split(",").length;
            Failure.unless(ids == batch.size(), ids + " message ids for a batch of " + batch.size());
        }
    }

    private static void verify(Message message, SendResult result) {
        Failure.unless(result.getSendStatus() == SendStatus.SEND_OK, message.getKeys() + " was answered " + result);
        Failure.unless(result.getQueueOffset() >= 0, "a negative queue offset: " + result);
        Failure.unless(result.getOffsetMsgId().matches("[0-9A-F]{32}"), "not an offset message id: " + result);
        Failure.unless(result.getMessageQueue().getTopic().equals(message.getTopic()), "another topic: " + result);
    }

    /** Waits for the topic's queues to hold everything sent, which only one-way sends can delay. */
    private static void awaitArrival(DefaultMQProducer producer, String topic, long expected)
        throws InterruptedException {
        long[] stored = new long[1];
        try {
            Waiting.until(() -> (stored[0] = storedCount(producer, topic)) >= expected, ARRIVAL_TIMEOUT_MS, "arrival");
        } catch (Failure late) {
            throw new Failure(stored[0] + " of " + expected + " messages are in the queues of " + topic);
        }
    }

    private static long storedCount(DefaultMQProducer producer, String topic) {
        try {
            long count = 0;
            for (MessageQueue queue : producer.fetchPublishMessageQueues(topic)) {
                count += producer.maxOffset(queue);
            }
            return count;
        } catch (MQClientException notYet) {
            return -1;
        }
    }
}
