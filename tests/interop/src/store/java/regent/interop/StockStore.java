package regent.interop;

import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.FlushDiskType;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/** Opens the stock message store in a directory; files may be made small, all else is stock's default. */
final class StockStore {
    private StockStore() {
    }

    /** Loads, recovers and starts the store; its queues are complete once {@link #awaitDispatch} returns. */
    static DefaultMessageStore open(Arguments arguments) throws Exception {
        DefaultMessageStore store = load(arguments);
        store.start();
        return store;
    }

    /** Loads and recovers the store. */
    static DefaultMessageStore load(Arguments arguments) throws Exception {
        BrokerConfig broker = new BrokerConfig();
        DefaultMessageStore store = new DefaultMessageStore(settings(arguments),
            new BrokerStatsManager(broker.getBrokerClusterName(), broker.isEnableDetailStat()),
            (topic, queueId, offset, tagsCode, storeTime, filterBits, properties) -> { },
            broker, new ConcurrentHashMap<>());
        Failure.unless(store.load(), "the stock store refuses to load " + arguments.text("directory"));
        return store;
    }

    static MessageStoreConfig settings(Arguments arguments) {
        MessageStoreConfig settings = new MessageStoreConfig();
        Path root = Path.of(arguments.text("directory"));
        settings.setStorePathRootDir(root.toString());
        settings.setStorePathCommitLog(root.resolve("commitlog").toString());
        settings.setMappedFileSizeCommitLog(arguments.number("segment-size", settings.getMappedFileSizeCommitLog()));
        settings.setMappedFileSizeConsumeQueue(
            arguments.number("queue-file-size", settings.getMappedFileSizeConsumeQueue()));
        settings.setMaxHashSlotNum(arguments.number("slot-count", settings.getMaxHashSlotNum()));
        settings.setMaxIndexNum(arguments.number("index-count", settings.getMaxIndexNum()));
        settings.setFlushDiskType(FlushDiskType.valueOf(arguments.text("flush", "ASYNC_FLUSH")));
        boolean hasCrc = Boolean.parseBoolean(arguments.text("crc", "false"));
        settings.setEnabledAppendPropCRC(hasCrc);
        settings.setForceVerifyPropCRC(hasCrc);
        // Its default of 10 segments is meant for segments of 1 GiB.
        settings.setCommitLogRecoverMaxNum(Integer.MAX_VALUE);
        // It refuses writes on a disk that is fuller than this; the default is 75.
        settings.setDiskMaxUsedSpaceRatio(95);
        // The system picks a free port for replicas, of which there are none.
        settings.setHaListenPort(0);
        return settings;
    }

    /** Waits until queues and index hold all that is in the log. */
    static void awaitDispatch(DefaultMessageStore store) throws InterruptedException {
        Waiting.until(() -> store.dispatchBehindBytes() <= 0, 120_000, "the dispatch of all records");
    }

    /** Ends the process as a kill would: nothing is flushed, and the abort file stays. */
    static void halt() {
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
