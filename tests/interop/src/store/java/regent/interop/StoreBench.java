package regent.interop;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.PutMessageResult;

/** Takes the figures of the stock store that ours are compared with; one case each run. */
final class StoreBench {
    private static final int QUEUES_A_TOPIC = 8;
    private static final InetSocketAddress HOST = new InetSocketAddress("127.0.0.1", 10911);
    private static final String UNIQUE_KEY_START = "AC11000200002A9F";

    private final DefaultMessageStore store;
    private final byte[] body;
    private final int queueCount;
    private long turn;

    private StoreBench(DefaultMessageStore store, Arguments arguments) {
        this.store = store;
        this.body = "B".repeat(arguments.number("body-size")).getBytes();
        this.queueCount = arguments.number("queue-count", QUEUES_A_TOPIC);
    }

    static void run(Arguments arguments) throws Exception {
        switch (arguments.text("case")) {
            case "append" -> append(arguments);
            case "sync" -> sync(arguments);
            case "fill" -> fill(arguments);
            case "ready" -> ready(arguments);
            default -> throw new IllegalArgumentException("--case is append, sync, fill or ready");
        }
    }

    /** Appends blocks on this thread; the dispatch to the queues runs beside it, as it always does. */
    private static void append(Arguments arguments) throws Exception {
        DefaultMessageStore store = StockStore.open(arguments);
        StoreBench bench = new StoreBench(store, arguments);
        for (int queue = 0; queue < bench.queueCount; queue++) {
            bench.put();
        }
        StockStore.awaitDispatch(store);
        bench.appendBytes(arguments.number("warm-up-bytes"));
        StockStore.awaitDispatch(store);
        for (int block = 0; block < arguments.number("block-count"); block++) {
            long startedAt = store.getMaxPhyOffset();
            long started = System.nanoTime();
            long count = bench.appendBytes(arguments.number("block-bytes"));
            double appendS = seconds(started);
            long bytes = store.getMaxPhyOffset() - startedAt;
            StockStore.awaitDispatch(store);
            double dispatchedS = seconds(started);
            Report.event("block", "messages", count, "bytes", bytes,
                "seconds", appendS, "messages_per_s", count / appendS, "gb_per_s", bytes / appendS / 1e9,
                "dispatched_seconds", dispatchedS, "dispatched_per_s", count / dispatchedS);
        }
        Report.event("result");
        StockStore.halt();
    }

    /** Keeps a number of appends in flight, each acknowledged when it is on the disk. */
    private static void sync(Arguments arguments) throws Exception {
        DefaultMessageStore store = StockStore.open(arguments);
        StoreBench bench = new StoreBench(store, arguments);
        bench.acknowledge(arguments.number("warm-up-count"), arguments.number("in-flight"));
        for (int block = 0; block < arguments.number("block-count"); block++) {
            int count = arguments.number("count");
            long started = System.nanoTime();
            bench.acknowledge(count, arguments.number("in-flight"));
            double tookS = seconds(started);
            Report.event("block", "messages", count, "seconds", tookS, "messages_per_s", count / tookS);
        }
        Report.event("result");
        StockStore.halt();
    }

    /** Appends a log of a size and stops; what a kill leaves unchecked is then for `ready` to check. */
    private static void fill(Arguments arguments) throws Exception {
        DefaultMessageStore store = StockStore.open(arguments);
        new StoreBench(store, arguments).appendBytes(arguments.number("bytes"));
        StockStore.awaitDispatch(store);
        long end = store.getMaxPhyOffset();
        stop(store, arguments);
        Report.event("result", "bytes", end);
        StockStore.halt();
    }

    /** Times an opening up to the moment when an append is answered and all queues are complete. */
    private static void ready(Arguments arguments) throws Exception {
        long started = System.nanoTime();
        DefaultMessageStore store = StockStore.load(arguments);
        double loadS = seconds(started);
        long bytes = store.getMaxPhyOffset();
        store.start();
        new StoreBench(store, arguments).put();
        StockStore.awaitDispatch(store);
        double readyS = seconds(started);
        stop(store, arguments);
        Report.event("result", "bytes", bytes, "load_seconds", loadS, "ready_seconds", readyS,
            "gb_per_s", bytes / loadS / 1e9);
        StockStore.halt();
    }

    private static void stop(DefaultMessageStore store, Arguments arguments) {
        if (arguments.text("stop").equals("clean")) {
            store.shutdown();
        }
    }

    private long appendBytes(long bytes) {
        long end = store.getMaxPhyOffset() + bytes;
        long count = 0;
        while (store.getMaxPhyOffset() < end) {
            put();
            count++;
        }
        return count;
    }

    private void put() {
        acknowledged(store.putMessage(message()));
    }

    private void acknowledge(int count, int inFlightCount) throws InterruptedException {
        Semaphore inFlight = new Semaphore(inFlightCount);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (int number = 0; number < count; number++) {
            inFlight.acquire();
            store.asyncPutMessage(message()).whenComplete((result, thrown) -> {
                try {
                    Failure.unless(thrown == null, "an append failed: " + thrown);
                    acknowledged(result);
                } catch (Failure wrong) {
                    failure.compareAndSet(null, wrong);
                }
                inFlight.release();
            });
        }
        inFlight.acquire(inFlightCount);
        Failure.unless(failure.get() == null, String.valueOf(failure.get()));
    }

    private MessageExtBrokerInner message() {
        int queue = (int) (turn++ % queueCount);
        MessageExtBrokerInner message = new MessageExtBrokerInner();
        message.setTopic("Benchmark" + queue / QUEUES_A_TOPIC);
        message.setQueueId(queue % QUEUES_A_TOPIC);
        message.setBody(body);
        message.setBornTimestamp(System.currentTimeMillis());
        message.setBornHost(HOST);
        message.setStoreHost(HOST);
        MessageAccessor.setProperties(message, new HashMap<>());
        message.getProperties().put("UNIQ_KEY", UNIQUE_KEY_START + HexFormat.of().toHexDigits(turn));
        message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
        return message;
    }

    private static void acknowledged(PutMessageResult result) {
        Failure.unless(result.isOk(), "an append was answered " + result.getPutMessageStatus());
    }

    private static double seconds(long startedNs) {
        return (System.nanoTime() - startedNs) / 1e9;
    }
}
