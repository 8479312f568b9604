import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/**
 * The load of stock's benchmark.Producer, which is not on Maven Central: threads of one unmodified
 * producer that each send and wait. Each line of standard input is a time in seconds; after that
 * time it prints how many sends were acknowledged, how many were refused, and the seconds.
 */
public final class Producer {
    private Producer() {
    }

    public static void main(String[] words) throws Exception {
        if (words.length != 4) {
            System.err.println("usage: Producer NAME_SERVER TOPIC THREADS BODY_SIZE");
            System.exit(2);
        }
        DefaultMQProducer producer = new DefaultMQProducer("bench_producer");
        producer.setNamesrvAddr(words[0]);
        producer.setInstanceName("bench-" + ProcessHandle.current().pid());
        producer.start();
        int threadCount = Integer.parseInt(words[2]);
        byte[] body = "x".repeat(Integer.parseInt(words[3])).getBytes(StandardCharsets.UTF_8);
        ExecutorService threads = Executors.newFixedThreadPool(threadCount);
        System.out.println("ready");
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            long length = (long) (Double.parseDouble(lines.nextLine()) * 1e9);
            AtomicLong acknowledged = new AtomicLong();
            AtomicLong refused = new AtomicLong();
            long begin = System.nanoTime();
            List<Callable<Void>> loops = new ArrayList<>();
            for (int thread = 0; thread < threadCount; thread++) {
                loops.add(() -> {
                    while (System.nanoTime() - begin < length) {
                        send(producer, new Message(words[1], body), acknowledged, refused);
                    }
                    return null;
                });
            }
            for (Future<Void> loop : threads.invokeAll(loops)) {
                loop.get();
            }
            System.out.println(acknowledged + " " + refused + " " + (System.nanoTime() - begin) / 1e9);
        }
        Runtime.getRuntime().halt(0);
    }

    private static void send(
            DefaultMQProducer producer, Message message, AtomicLong acknowledged, AtomicLong refused) {
        String refusal = "no SEND_OK";
        try {
            if (producer.send(message).getSendStatus() == SendStatus.SEND_OK) {
                acknowledged.incrementAndGet();
                return;
            }
        } catch (Exception failure) {
            refusal = failure.toString();
        }
        if (refused.getAndIncrement() == 0) {
            System.err.println("first refusal: " + refusal);
        }
    }
}
