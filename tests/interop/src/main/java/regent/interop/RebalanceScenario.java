package regent.interop;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A second consumer of the group takes half of the queues, and gives them back when it leaves.
 *
 * <p>With {@code --dealt-by broker} the consumers ask a broker which queues they have.
 */
final class RebalanceScenario {
    /** Clients rebalance by themselves every 20 s; notifications by a broker are far quicker. */
    private static final int REBALANCE_MS = 20_000;

    private final String topic;
    private final Map<Integer, String> receivers = new ConcurrentHashMap<>();

    private RebalanceScenario(String topic) {
        this.topic = topic;
    }

    static void run(Arguments arguments) throws Exception {
        new RebalanceScenario(arguments.text("topic")).rebalance(arguments);
    }

    private void rebalance(Arguments arguments) throws Exception {
        int count = arguments.number("count");
        DefaultMQProducer producer = Clients.producer(arguments, "interop-rebalance");
        producer.start();
        List<MessageQueue> queues = Topics.open(producer, topic);

        DefaultMQPushConsumer first = start(arguments, "first");
        Waiting.until(() -> owned(first).size() == queues.size(), REBALANCE_MS, "all queues for the first consumer");
        Waiting.until(() -> receivers.size() == Topics.OPENING_COUNT, REBALANCE_MS, "the opening messages");
        DefaultMQPushConsumer second = start(arguments, "second");
        Report.event("started", "queues", queues.size());
        long takenMs = Waiting.until(() -> areHalves(owned(first), owned(second), queues), REBALANCE_MS, "two halves");

        Map<Integer, MessageQueue> sent = new HashMap<>();
        for (int number = Topics.OPENING_COUNT; number < count; number++) {
            sent.put(number, producer.send(Sample.message(topic, number)).getMessageQueue());
        }
        try {
            Waiting.until(() -> receivers.size() == count, REBALANCE_MS, count + " messages");
        } catch (Failure late) {
            sent.keySet().removeAll(receivers.keySet());
            throw new Failure(late.getMessage() + "; missing are " + sent.keySet() + " of "
                + new HashSet<>(sent.values()) + "; the consumers own " + owned(first)
                + " and " + owned(second));
        }
        Map<String, Long> shares = receivers.entrySet().stream()
            .filter(entry -> entry.getKey() >= Topics.OPENING_COUNT)
            .collect(Collectors.groupingBy(Map.Entry::getValue, Collectors.counting()));
        Failure.unless(shares.size() == 2, "both must receive messages: " + shares);

        second.shutdown();
        long returnedMs = Waiting.until(() -> owned(first).size() == queues.size(), REBALANCE_MS, "the queues' return");
        first.shutdown();
        producer.shutdown();
        Report.event("result", "queues", queues.size(), "taken_ms", takenMs, "returned_ms", returnedMs,
            "shares", shares);
    }

    private DefaultMQPushConsumer start(Arguments arguments, String name) throws Exception {
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, name);
        consumer.subscribe(topic, "*");
        if (arguments.text("dealt-by", "client").equals("broker")) {
            // Clients before 5.0 do not have it.
            DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class).invoke(consumer, false);
        }
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(message -> receivers.put(Sample.number(message), name));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    private static boolean areHalves(Set<MessageQueue> one, Set<MessageQueue> other, List<MessageQueue> all) {
        Set<MessageQueue> both = new HashSet<>(one);
        both.addAll(other);
        return one.size() == all.size() / 2 && other.size() == all.size() - one.size() && both.equals(Set.copyOf(all));
    }

    private Set<MessageQueue> owned(DefaultMQPushConsumer consumer) {
        return consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable().keySet().stream()
            .filter(queue -> queue.getTopic().equals(topic))
            .collect(Collectors.toSet());
    }
}
