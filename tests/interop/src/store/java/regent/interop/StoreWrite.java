package regent.interop;

import java.util.List;
import org.apache.rocketmq.common.message.MessageExtBatch;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.store.AppendMessageResult;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.PutMessageResult;

/** Appends the script of a seed, and stops cleanly or as a kill would. */
final class StoreWrite {
    /** Store times stay apart often enough for a search by time to have something to find. */
    private static final int PAUSE_EVERY = 6;
    private static final int PAUSE_MS = 3;
    private static final int BODY_SIZE_MAX = 9_000;
    private static final int DELETE_TIMEOUT_MS = 10_000;

    private StoreWrite() {
    }

    static void run(Arguments arguments) throws Exception {
        DefaultMessageStore store = StockStore.open(arguments);
        int bodySizeMax = arguments.number("body-size-max", BODY_SIZE_MAX);
        int seed = arguments.number("seed");
        StoreScript script = arguments.text("script", "plain").equals("plain")
            ? new StoreScript(seed, bodySizeMax)
            : new QueueScript(seed, bodySizeMax);
        int count = arguments.number("count");
        for (int number = 0; number < count; number++) {
            if (number % PAUSE_EVERY == 0) {
                Thread.sleep(PAUSE_MS);
            }
            MessageExtBrokerInner unit = script.unit(number);
            report(unit, unit instanceof MessageExtBatch batch ? store.putMessages(batch) : store.putMessage(unit));
        }
        long end = store.getMaxPhyOffset();
        expire(store, arguments.number("expire-count", 0));
        // A plain "kill" comes while queues may still lack entries.
        String stop = arguments.text("stop", "clean");
        boolean isClean = stop.equals("clean");
        if (isClean || stop.equals("kill-after-dispatch")) {
            StockStore.awaitDispatch(store);
        }
        if (isClean) {
            store.shutdown();
        }
        Report.event("result", "max_position", end);
        if (!isClean) {
            StockStore.halt();
        }
    }

    /** Deletes the oldest segments and what only they needed, as the store's own cleaning does. */
    private static void expire(DefaultMessageStore store, int segmentCount) throws InterruptedException {
        if (segmentCount > 0) {
            StockStore.awaitDispatch(store);
            int segmentSize = store.getMessageStoreConfig().getMappedFileSizeCommitLog();
            long first = store.getMinPhyOffset() + (long) segmentCount * segmentSize;
            // A segment that another thread reads at that moment stays until the next try.
            Waiting.until(() -> {
                if (store.getMinPhyOffset() < first) {
                    store.getCommitLog().deleteExpiredFile(0, 0, 0, true, 1);
                }
                return store.getMinPhyOffset() == first;
            }, DELETE_TIMEOUT_MS, "the deletion of the oldest segments");
            store.getConsumeQueueTable().values().forEach(queues ->
                queues.values().forEach(queue -> queue.deleteExpiredFile(store.getMinPhyOffset())));
        }
    }

    /** Reports where a unit went; the offset and the position are those of its first message. */
    private static void report(MessageExtBrokerInner unit, PutMessageResult result) {
        Failure.unless(result.isOk(), "an append was answered " + result.getPutMessageStatus());
        AppendMessageResult appended = result.getAppendMessageResult();
        Report.event("appended",
            "topic", unit.getTopic(),
            "queue_id", unit.getQueueId(),
            "queue_offset", appended.getLogicsOffset(),
            "log_position", appended.getWroteOffset(),
            "size", appended.getWroteBytes(),
            "message_ids", List.of(appended.getMsgId().split(",")),
            "count", appended.getMsgNum());
    }
}
