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

    private StoreWrite() {
    }

    static void run(Arguments arguments) throws Exception {
        DefaultMessageStore store = StockStore.open(arguments);
        StoreScript script = new StoreScript(arguments.number("seed"));
        int count = arguments.number("count");
        for (int number = 0; number < count; number++) {
            if (number % PAUSE_EVERY == 0) {
                Thread.sleep(PAUSE_MS);
            }
            List<MessageExtBrokerInner> messages = script.unit(number);
            MessageExtBrokerInner first = messages.get(0);
            report(messages, first instanceof MessageExtBatch batch
                ? store.putMessages(batch)
                : store.putMessage(first));
        }
        long end = store.getMaxPhyOffset();
        if (arguments.text("stop", "clean").equals("clean")) {
            StockStore.awaitDispatch(store);
            store.shutdown();
        }
        Report.event("result", "max_position", end);
        StockStore.halt();
    }

    /** Reports where each message went; of a batch, the messages themselves follow it in the list. */
    private static void report(List<MessageExtBrokerInner> messages, PutMessageResult result) {
        Failure.unless(result.isOk(), "an append was answered " + result.getPutMessageStatus());
        AppendMessageResult appended = result.getAppendMessageResult();
        MessageExtBrokerInner first = messages.get(0);
        Report.event("appended",
            "topic", first.getTopic(),
            "queue_id", first.getQueueId(),
            "queue_offset", appended.getLogicsOffset(),
            "log_position", appended.getWroteOffset(),
            "size", appended.getWroteBytes(),
            "message_ids", List.of(appended.getMsgId().split(",")),
            "count", appended.getMsgNum());
    }
}
