package regent.interop;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.message.MessageQueue;

/** Counts how often a consumer gets other queues of a topic than before. */
final class CountedAllocations implements AllocateMessageQueueStrategy {
    private final AllocateMessageQueueStrategy usual = new AllocateMessageQueueAveragely();
    private final AtomicLong changes = new AtomicLong();
    private final String topic;
    private Set<MessageQueue> last = Set.of();

    CountedAllocations(String topic) {
        this.topic = topic;
    }

    @Override
    public synchronized List<MessageQueue> allocate(
            String group, String client, List<MessageQueue> queues, List<String> clients) {
        List<MessageQueue> allocated = usual.allocate(group, client, queues, clients);
        if (queues.get(0).getTopic().equals(topic) && !last.equals(new HashSet<>(allocated))) {
            last = new HashSet<>(allocated);
            changes.incrementAndGet();
        }
        return allocated;
    }

    @Override
    public String getName() {
        return usual.getName();
    }

    /** The number of changes, the first allocation included. */
    long changes() {
        return changes.get();
    }
}
