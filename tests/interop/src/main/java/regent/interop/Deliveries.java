package regent.interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.common.message.MessageExt;

/** The numbered messages of {@link PacedSends} that one consumer group received. */
final class Deliveries {
    private final String kind;
    private final boolean isOrdered;
    private final Map<Integer, BitSet> seen = new ConcurrentHashMap<>();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong repeated = new AtomicLong();
    private final AtomicLong displaced = new AtomicLong();
    private final List<String> faults = Collections.synchronizedList(new ArrayList<>());

    /** An ordered group receives no number of a queue before all smaller ones. */
    Deliveries(String kind, boolean isOrdered) {
        this.kind = kind;
        this.isOrdered = isOrdered;
    }

    String kind() {
        return kind;
    }

    void take(MessageExt message) {
        String[] parts = new String(message.getBody(), StandardCharsets.UTF_8).split(":");
        int queue = Integer.parseInt(parts[0]);
        int number = Integer.parseInt(parts[1]);
        if (message.getQueueId() != queue) {
            faults.add(kind + ": message " + number + " of queue " + queue + " came as of " + message.getQueueId());
        }
        if (message.getQueueOffset() != number) {
            displaced.incrementAndGet();
        }
        BitSet numbers = seen.computeIfAbsent(queue, id -> new BitSet());
        synchronized (numbers) {
            if (numbers.get(number)) {
                repeated.incrementAndGet();
                return;
            }
            int next = numbers.nextClearBit(0);
            if (isOrdered && number != next) {
                faults.add(kind + ": queue " + queue + ": " + number + " came before " + next);
            }
            numbers.set(number);
        }
        received.incrementAndGet();
    }

    /** The number of different messages. */
    long received() {
        return received.get();
    }

    /** The number of messages that came again. */
    long repeated() {
        return repeated.get();
    }

    /** The number of messages whose offset is not their number: none unless sends were refused. */
    long displaced() {
        return displaced.get();
    }

    List<String> faults() {
        return faults;
    }

    /** Returns how many of the first `count` messages of a queue have not come. */
    long lacking(int queue, long count) {
        BitSet numbers = seen.get(queue);
        if (numbers == null) {
            return count;
        }
        synchronized (numbers) {
            return count - numbers.get(0, (int) count).cardinality();
        }
    }
}
