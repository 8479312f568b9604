package regent.interop;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;

/** Topics that must exist on every broker before a scenario begins. */
final class Topics {
    /** Sent before the scenario's own messages: twice to each queue of two brokers. */
    static final int OPENING_COUNT = 16;
    private static final String TEMPLATE_TOPIC = "TBW102";
    private static final int ROUTE_TIMEOUT_MS = 15_000;

    private Topics() {
    }

    /**
     * Creates a topic on every broker by sending messages 0 to 15, and returns all of its queues.
     *
     * <p>Left to itself the client may send to one broker alone: once that has created the topic,
     * the name server knows of its queues and no others. A client whose own route is of that moment
     * forgets the other brokers' addresses, so the route that counts in the end is the client's.
     */
    static List<MessageQueue> open(DefaultMQProducer producer, String topic) throws Exception {
        List<String> brokers = producer.fetchPublishMessageQueues(TEMPLATE_TOPIC).stream()
            .map(MessageQueue::getBrokerName).distinct().sorted().toList();
        for (int number = 0; number < OPENING_COUNT; number++) {
            String broker = brokers.get(number % brokers.size());
            producer.send(Sample.message(topic, number), new MessageQueue(topic, broker, number / brokers.size() % 4));
        }
        MQClientInstance client = producer.getDefaultMQProducerImpl().getMqClientFactory();
        Set<MessageQueue> queues = new TreeSet<>();
        Waiting.until(() -> {
            client.updateTopicRouteInfoFromNameServer(topic);
            var route = client.getTopicRouteTable().get(topic);
            if (route == null || route.getBrokerDatas().size() < brokers.size()) {
                return false;
            }
            queues.clear();
            queues.addAll(MQClientInstance.topicRouteData2TopicPublishInfo(topic, route).getMessageQueueList());
            return queues.stream().map(MessageQueue::getBrokerName).distinct().count() == brokers.size();
        }, ROUTE_TIMEOUT_MS, "queues of " + topic + " on " + brokers);
        return List.copyOf(queues);
    }
}
