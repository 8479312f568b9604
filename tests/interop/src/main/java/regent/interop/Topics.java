package regent.interop;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;

/** Topics that must exist on every broker before a scenario begins. */
final class Topics {
    /** Sent before the scenario's own messages: twice round the queues of two brokers. */
    static final int OPENING_COUNT = 16;
    private static final int ROUTE_TIMEOUT_MS = 15_000;

    private Topics() {
    }

    /**
     * Creates a topic by sending messages 0 to 15, and returns its queues on all brokers.
     *
     * <p>Before the first send the client makes its queues up from the template topic, so the real
     * ones are known only once the name server has answered for the topic itself.
     */
    static List<MessageQueue> open(DefaultMQProducer producer, String topic) throws Exception {
        Set<String> brokers = new TreeSet<>();
        for (int number = 0; number < OPENING_COUNT; number++) {
            brokers.add(producer.send(Sample.message(topic, number)).getMessageQueue().getBrokerName());
        }
        Set<MessageQueue> queues = new TreeSet<>();
        Waiting.until(() -> {
            queues.clear();
            queues.addAll(queues(producer, topic));
            return queues.stream().map(MessageQueue::getBrokerName).distinct().count() == brokers.size();
        }, ROUTE_TIMEOUT_MS, "queues of " + topic + " on " + brokers);
        return List.copyOf(queues);
    }

    private static List<MessageQueue> queues(DefaultMQProducer producer, String topic) {
        try {
            return producer.fetchPublishMessageQueues(topic);
        } catch (MQClientException notYet) {
            return List.of();
        }
    }
}
