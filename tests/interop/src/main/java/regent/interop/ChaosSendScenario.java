package regent.interop;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;

/**
 * Sends from many threads while brokers die, without the client's retries, and writes every
 * acknowledgement to a journal; ends when a line comes in on its standard input.
 */
final class ChaosSendScenario {
    private static final int REPORT_EVERY_MS = 100;
    private static final int PAUSE_AFTER_FAILURE_MS = 20;

    private final AtomicInteger nextNumber = new AtomicInteger(Topics.OPENING_COUNT);
    private final AtomicLong failedCount = new AtomicLong();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final Map<String, AtomicLong> acknowledged = new ConcurrentHashMap<>();

    private ChaosSendScenario() {
    }

    static void run(Arguments arguments) throws Exception {
        new ChaosSendScenario().send(arguments);
    }

    private void send(Arguments arguments) throws Exception {
        int threadCount = arguments.number("threads", 64);
        DefaultMQProducer producer = Clients.producer(arguments, "interop-chaos");
        producer.setRetryTimesWhenSendFailed(0);
        producer.start();
        Topics.open(producer, arguments.text("topic"));
        try (Journal journal = new Journal(Path.of(arguments.text("journal")))) {
            ExecutorService threads = Executors.newFixedThreadPool(threadCount);
            for (int thread = 0; thread < threadCount; thread++) {
                threads.submit(() -> sendUntilOver(producer, journal, arguments));
            }
            threads.shutdown();
            // The test writes a line when it has seen enough; each report shows it the progress.
            while (System.in.available() == 0) {
                Report.event("progress", "acknowledged", acknowledged, "failed", failedCount);
                Thread.sleep(REPORT_EVERY_MS);
            }
            isOver.set(true);
            Failure.unless(threads.awaitTermination(30, TimeUnit.SECONDS), "sends still wait for their answer");
        }
        producer.shutdown();
        Report.event("result", "acknowledged", acknowledged, "failed", failedCount);
    }

    private Void sendUntilOver(DefaultMQProducer producer, Journal journal, Arguments arguments) throws Exception {
        String topic = arguments.text("topic");
        int pauseMs = arguments.number("pause-ms", 10);
        while (!isOver.get()) {
            int number = nextNumber.getAndIncrement();
            SendResult result;
            try {
                result = producer.send(Sample.message(topic, number));
            } catch (Exception refused) {
                failedCount.incrementAndGet();
                Thread.sleep(PAUSE_AFTER_FAILURE_MS);
                continue;
            }
            if (result.getSendStatus() == SendStatus.SEND_OK) {
                journal.add(number, result);
                String brokerName = result.getMessageQueue().getBrokerName();
                acknowledged.computeIfAbsent(brokerName, name -> new AtomicLong()).incrementAndGet();
            }
            Thread.sleep(pauseMs);
        }
        return null;
    }
}
