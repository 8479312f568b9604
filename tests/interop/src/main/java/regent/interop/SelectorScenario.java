package regent.interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Sends asynchronously to queues that a selector chooses, with the client's own retries, until a line
 * comes in on its standard input. Reports each message whose requests or result name another queue.
 */
final class SelectorScenario {
    private static final int SEND = 310;
    private static final int IN_FLIGHT = 32;
    private static final int PAUSE_MS = 2;
    private static final int REPORT_EVERY_MS = 100;

    private final String topic;
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final Semaphore free = new Semaphore(IN_FLIGHT);
    private final Map<String, Integer> chosen = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> attempts = new ConcurrentHashMap<>();
    private final List<String> elsewhere = Collections.synchronizedList(new ArrayList<>());

    private SelectorScenario(String topic) {
        this.topic = topic;
    }

    static void run(Arguments arguments) throws Exception {
        new SelectorScenario(arguments.text("topic")).send(arguments);
    }

    private void send(Arguments arguments) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("interop-selector", new Requests());
        Clients.configure(producer, arguments, "selector");
        producer.setSendMsgTimeout(arguments.number("send-timeout-ms"));
        producer.start();
        long reportedAt = System.nanoTime();
        for (int number = 0; System.in.available() == 0;) {
            if (System.nanoTime() - reportedAt > REPORT_EVERY_MS * 1_000_000L) {
                report("progress");
                reportedAt = System.nanoTime();
            }
            if (!free.tryAcquire(REPORT_EVERY_MS, TimeUnit.MILLISECONDS)) {
                continue;
            }
            Message message = new Message(topic, Integer.toString(number).getBytes(StandardCharsets.UTF_8));
            producer.send(message, this::select, number, new Result(number));
            number++;
            Thread.sleep(PAUSE_MS);
        }
        Failure.unless(free.tryAcquire(IN_FLIGHT, 60, TimeUnit.SECONDS), "sends still wait for their answer");
        producer.shutdown();
        report("result");
    }

    private void report(String event) {
        long retried = attempts.values().stream().filter(count -> count.get() > 1).count();
        Report.event(event, "acknowledged", acknowledged, "refused", refused, "retried", retried,
            "in_flight", IN_FLIGHT - free.availablePermits(), "elsewhere", List.copyOf(elsewhere));
    }

    private MessageQueue select(List<MessageQueue> queues, Message message, Object number) {
        MessageQueue queue = queues.get((int) number % queues.size());
        chosen.put(new String(message.getBody(), StandardCharsets.UTF_8), queue.getQueueId());
        return queue;
    }

    private void check(String body, int queueId, String where) {
        if (chosen.get(body) != queueId) {
            elsewhere.add(where + " of message " + body + ": queue " + queueId + ", not " + chosen.get(body));
        }
    }

    /** Looks at every request that leaves, retries included. */
    private final class Requests implements RPCHook {
        @Override
        public void doBeforeRequest(String address, RemotingCommand request) {
            if (request.getCode() == SEND) {
                String body = new String(request.getBody(), StandardCharsets.UTF_8);
                request.makeCustomHeaderToNet();
                check(body, Integer.parseInt(request.getExtFields().get("e")), "a request");
                attempts.computeIfAbsent(body, one -> new AtomicLong()).incrementAndGet();
            }
        }

        @Override
        public void doAfterResponse(String address, RemotingCommand request, RemotingCommand response) {
        }
    }

    private final class Result implements SendCallback {
        private final int number;

        Result(int number) {
            this.number = number;
        }

        @Override
        public void onSuccess(SendResult result) {
            check(Integer.toString(number), result.getMessageQueue().getQueueId(), "the result");
            acknowledged.incrementAndGet();
            free.release();
        }

        @Override
        public void onException(Throwable fault) {
            refused.incrementAndGet();
            free.release();
        }
    }
}
