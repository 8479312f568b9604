package regent.interop;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.message.MessageQueue;

/** Shares queues as stock does by default, and counts how often the queues of one topic change. */
final class CountedAllocations implements AllocateMessageQueueStrategy {
    private final AllocateMessageQueueStrategy shares = new AllocateMessageQueueAveragely();
    private final AtomicLong changes = new AtomicLong();
    private final String topic;
    private volatile List<MessageQueue> all = List.of();
    private volatile List<MessageQueue> own = List.of();

    CountedAllocations(String topic) {
        this.topic = topic;
    }

    @Override
    public List<MessageQueue> allocate(
            String group, String clientId, List<MessageQueue> queues, List<String> clientIds) {
        List<MessageQueue> allocated = shares.allocate(group, clientId, queues, clientIds);
        if (!queues.isEmpty() && queues.get(0).getTopic().equals(topic)) {
            if (!queues.equals(all) || !allocated.equals(own)) {
                changes.incrementAndGet();
            }
            all = List.copyOf(queues);
            own = List.copyOf(allocated);
        }
        return allocated;
    }

    @Override
    public String getName() {
        return shares.getName();
    }

    /** How often the queues of the topic, or those of this consumer, have become others. */
    long changes() {
        return changes.get();
    }

    /** The number of queues that this consumer has. */
    int size() {
        return own.size();
    }
}
