package regent.interop;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A push consumer that must receive exactly the messages of {@code --expect topic=first:count},
 * each once and byte for byte. It stays for {@code --quiet-ms} after the last of them, or until a
 * line comes in on its standard input.
 */
final class ConsumeScenario {
    private record Range(int first, int count) {
        static Range parse(String text) {
            String[] parts = text.split(":");
            return new Range(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
        }
    }

    private final Map<String, Range> expected = new LinkedHashMap<>();
    private final Map<String, BitSet> seen = new LinkedHashMap<>();
    private final AtomicInteger seenCount = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private ConsumeScenario(Arguments arguments) {
        for (String text : arguments.texts("expect")) {
            String[] parts = text.split("=");
            expected.put(parts[0], Range.parse(parts[1]));
            seen.put(parts[0], new BitSet());
        }
    }

    static void run(Arguments arguments) throws Exception {
        new ConsumeScenario(arguments).consume(arguments);
    }

    private void consume(Arguments arguments) throws Exception {
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, "consumer");
        for (String topic : expected.keySet()) {
            consumer.subscribe(topic, "*");
        }
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(this::receive);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        Report.event("started");
        int total = expected.values().stream().mapToInt(Range::count).sum();
        long tookMs;
        try {
            tookMs = Waiting.until(() -> seenCount.get() >= total || failure.get() != null,
                arguments.number("timeout-ms", 60_000), total + " messages");
        } catch (Failure late) {
            throw new Failure(late.getMessage() + "; received " + describe());
        }
        Waiting.quietlyUntilTold(arguments.number("quiet-ms", 1_000));
        consumer.shutdown();
        if (failure.get() != null) {
            throw new Failure(failure.get().getMessage());
        }
        Report.event("result", "count", seenCount.get(), "took_ms", tookMs);
    }

    private void receive(MessageExt message) {
        try {
            String topic = message.getTopic();
            int number = Sample.number(message);
            Range range = expected.get(topic);
            Failure.unless(range != null, "a message of topic " + topic + ", which was not subscribed");
            Failure.unless(number >= range.first && number < range.first + range.count,
                topic + ": message " + number + " was not to be delivered");
            Failure.unless(message.getReconsumeTimes() == 0, message.getKeys() + ": was delivered before");
            Sample.verify(topic, number, message);
            BitSet numbers = seen.get(topic);
            synchronized (numbers) {
                Failure.unless(!numbers.get(number), message.getKeys() + " was delivered twice");
                numbers.set(number);
            }
            seenCount.incrementAndGet();
        } catch (RuntimeException wrong) {
            failure.compareAndSet(null, wrong);
        }
    }

    private Map<String, Integer> describe() {
        Map<String, Integer> counts = new LinkedHashMap<>();
        seen.forEach((topic, numbers) -> counts.put(topic, numbers.cardinality()));
        return counts;
    }
}
