package regent.interop;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.rocketmq.common.BoundaryType;
import org.apache.rocketmq.common.attribute.CQType;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.store.ConsumeQueue;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.SelectMappedBufferResult;
import org.apache.rocketmq.store.queue.BatchConsumeQueue;
import org.apache.rocketmq.store.queue.ConsumeQueueInterface;

/** Opens and recovers a store and prints all that can be read from it. */
final class StoreRead {
    private static final int BLANK_MAGIC = 0xCBD43194;
    private static final int BATCH_SIZE_AT = 36;
    private static final int LOOK_UP_COUNT_MAX = 64;
    private static final int READ_COUNT_MAX = 4;
    /** Some reads begin just before the end of a queue file. */
    private static final int READ_STEP = 9;
    /** How many store times of a queue are searched for, each with its two neighbours. */
    private static final int TIME_COUNT_MAX = 40;

    private final DefaultMessageStore store;
    private final Map<String, Set<String>> keysByTopic = new TreeMap<>();
    private final Map<String, Set<String>> tagsByTopic = new TreeMap<>();

    private StoreRead(DefaultMessageStore store) {
        this.store = store;
    }

    static void run(Arguments arguments) throws Exception {
        DefaultMessageStore store = StockStore.open(arguments);
        StockStore.awaitDispatch(store);
        StoreRead read = new StoreRead(store);
        read.reportLog();
        store.getConsumeQueueTable().forEach((topic, queues) ->
            new TreeMap<>(queues).forEach((queueId, queue) -> read.reportQueue(queue)));
        read.reportLookUps("key", read.keysByTopic);
        read.reportLookUps("tags", read.tagsByTopic);
        long minPosition = store.getMinPhyOffset();
        long maxPosition = store.getMaxPhyOffset();
        store.shutdown();
        Report.event("result", "min_position", minPosition, "max_position", maxPosition);
    }

    /** Prints every record of the log, those without a queue entry too. */
    private void reportLog() {
        long position = store.getMinPhyOffset();
        while (position >= 0 && position < store.getMaxPhyOffset()) {
            SelectMappedBufferResult rest = store.getCommitLogData(position);
            Failure.unless(rest != null, "there is nothing to read at " + position);
            try {
                ByteBuffer bytes = rest.getByteBuffer();
                int size = bytes.getInt(0);
                if (bytes.getInt(4) != BLANK_MAGIC) {
                    Report.event("record", "log_position", position, "bytes", hex(bytes.slice(0, size)));
                    collectKeys(decode(bytes.slice(0, size)));
                }
                position += size;
            } finally {
                rest.release();
            }
        }
    }

    /** Prints a queue; of the entries of a batch queue the part that plain ones have too. */
    private void reportQueue(ConsumeQueueInterface queue) {
        boolean isBatch = queue.getCQType() == CQType.BatchCQ;
        long first = queue.getMinOffsetInQueue();
        long end = queue.getMaxOffsetInQueue();
        StringBuilder entries = new StringBuilder();
        Set<Long> times = new TreeSet<>();
        for (long offset = first; offset < end; ) {
            SelectMappedBufferResult rest = isBatch
                ? ((BatchConsumeQueue) queue).getBatchMsgIndexBuffer(offset)
                : ((ConsumeQueue) queue).getIndexBuffer(offset);
            Failure.unless(rest != null, "no entries at " + offset + " of " + queue.getTopic());
            try {
                for (ByteBuffer bytes = rest.getByteBuffer(); bytes.remaining() > 0; ) {
                    ByteBuffer entry = bytes.slice(bytes.position(), queue.getUnitSize());
                    bytes.position(bytes.position() + queue.getUnitSize());
                    entries.append(hex(entry.slice(0, ConsumeQueue.CQ_STORE_UNIT_SIZE)));
                    times.add(reportMessage(queue, offset, entry.getLong(0), entry.getInt(Long.BYTES)));
                    offset += isBatch ? entry.getShort(BATCH_SIZE_AT) : 1;
                }
            } finally {
                rest.release();
            }
        }
        Report.event("queue",
            "topic", queue.getTopic(),
            "queue_id", queue.getQueueId(),
            "min_offset", first,
            "max_offset", end,
            "entries", entries);
        if (!isBatch) {
            reportTimes(queue, new ArrayList<>(times));
        }
        reportReads(queue);
    }

    /** Prints what pulls of a queue are answered, at its borders and inside. */
    private void reportReads(ConsumeQueueInterface queue) {
        long first = queue.getMinOffsetInQueue();
        long end = queue.getMaxOffsetInQueue();
        Set<Long> offsets = new TreeSet<>(List.of(-1L, 0L, first - 1, end - 1, end, end + 1, end + 100));
        for (long offset = first; offset < end; offset += READ_STEP) {
            offsets.add(offset);
        }
        for (long offset : offsets) {
            GetMessageResult found = store.getMessage(
                "reader", queue.getTopic(), queue.getQueueId(), offset, READ_COUNT_MAX, null);
            Report.event("read",
                "topic", queue.getTopic(),
                "queue_id", queue.getQueueId(),
                "offset", offset,
                "status", found.getStatus(),
                "next_offset", found.getNextBeginOffset(),
                "min_offset", found.getMinOffset(),
                "max_offset", found.getMaxOffset(),
                "count", found.getMessageCount());
            found.release();
        }
    }

    /** Prints the message that a queue entry points at, and returns its store time. */
    private long reportMessage(ConsumeQueueInterface queue, long offset, long position, int size) {
        SelectMappedBufferResult record = store.selectOneMessageByOffset(position, size);
        Failure.unless(record != null, "no record at " + position + " for offset " + offset);
        try {
            MessageExt message = decode(record.getByteBuffer());
            Report.event("message",
                "entry_topic", queue.getTopic(),
                "entry_queue_id", queue.getQueueId(),
                "topic", message.getTopic(),
                "queue_id", message.getQueueId(),
                "queue_offset", message.getQueueOffset(),
                "entry_offset", offset,
                "log_position", message.getCommitLogOffset(),
                "size", message.getStoreSize(),
                "flag", message.getFlag(),
                "sys_flag", message.getSysFlag(),
                "born_timestamp_ms", message.getBornTimestamp(),
                "born_host", host(message.getBornHost()),
                "store_timestamp_ms", message.getStoreTimestamp(),
                "store_host", host(message.getStoreHost()),
                "reconsume_times", message.getReconsumeTimes(),
                "prepared_transaction_offset", message.getPreparedTransactionOffset(),
                "body", message.getBody() == null ? "" : HexFormat.of().formatHex(message.getBody()),
                "properties", message.getProperties() == null ? Map.of() : message.getProperties(),
                "message_id", message.getMsgId());
            return message.getStoreTimestamp();
        } finally {
            record.release();
        }
    }

    private void reportTimes(ConsumeQueueInterface queue, List<Long> times) {
        if (times.isEmpty()) {
            return;
        }
        Set<Long> searched = new TreeSet<>(List.of(times.get(0) - 10_000, times.get(times.size() - 1) + 10_000));
        int step = Math.max(1, times.size() / TIME_COUNT_MAX);
        for (int at = 0; at < times.size(); at += step) {
            searched.addAll(List.of(times.get(at) - 1, times.get(at), times.get(at) + 1));
        }
        Map<Long, List<Long>> found = new LinkedHashMap<>();
        for (long time : searched) {
            found.put(time, List.of(
                store.getOffsetInQueueByTime(queue.getTopic(), queue.getQueueId(), time, BoundaryType.LOWER),
                store.getOffsetInQueueByTime(queue.getTopic(), queue.getQueueId(), time, BoundaryType.UPPER)));
        }
        Report.event("offsets_by_time", "topic", queue.getTopic(), "queue_id", queue.getQueueId(), "found", found);
    }

    private void collectKeys(MessageExt message) {
        Map<String, String> properties = message.getProperties() == null ? Map.of() : message.getProperties();
        Set<String> keys = keysByTopic.computeIfAbsent(message.getTopic(), topic -> new TreeSet<>());
        if (properties.containsKey("UNIQ_KEY")) {
            keys.add(properties.get("UNIQ_KEY"));
        }
        if (properties.containsKey("KEYS")) {
            keys.addAll(List.of(properties.get("KEYS").split(" ")));
        }
        if (properties.containsKey("TAGS")) {
            tagsByTopic.computeIfAbsent(message.getTopic(), topic -> new TreeSet<>()).add(properties.get("TAGS"));
        }
    }

    /** Prints what the index gives for each key, in its own order: the newest first. */
    private void reportLookUps(String kind, Map<String, Set<String>> wanted) {
        String indexType = kind.equals("tags") ? MessageConst.INDEX_TAG_TYPE : MessageConst.INDEX_KEY_TYPE;
        wanted.forEach((topic, keys) -> {
            for (String key : keys) {
                List<Long> found = store.getIndexService()
                    .queryOffset(topic, key, LOOK_UP_COUNT_MAX, 0, Long.MAX_VALUE, indexType)
                    .getPhyOffsets();
                Report.event("look_up", "kind", kind, "topic", topic, "key", key, "log_positions", found);
            }
        });
    }

    private static MessageExt decode(ByteBuffer record) {
        MessageExt message = MessageDecoder.decode(record, true, false);
        Failure.unless(message != null, "stock does not decode a record of its own log");
        return message;
    }

    private static List<Object> host(SocketAddress address) {
        InetSocketAddress host = (InetSocketAddress) address;
        return List.of(host.getAddress().getHostAddress(), host.getPort());
    }

    private static String hex(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return HexFormat.of().formatHex(copy);
    }
}
