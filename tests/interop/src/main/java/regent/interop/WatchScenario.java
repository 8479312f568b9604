package regent.interop;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;

/**
 * A push consumer that runs until a line comes in on its standard input. It reports how many
 * messages it received and how many requests of each code it sent. It also reports how many queues
 * of the topic it has, and how often these changed.
 */
final class WatchScenario {
    private static final int REPORT_EVERY_MS = 100;

    private WatchScenario() {
    }

    static void run(Arguments arguments) throws Exception {
        CountedRequests requests = new CountedRequests();
        AtomicLong received = new AtomicLong();
        CountedAllocations allocations = new CountedAllocations(arguments.text("topic"));
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(arguments.text("group"), requests, allocations);
        Clients.configure(consumer, arguments, "watch");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(arguments.text("topic"), "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            received.addAndGet(messages.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        while (System.in.available() == 0) {
            Report.event("progress", "received", received, "requests", requests.counts(),
                "queues", allocations.size(), "allocations", allocations.changes());
            Thread.sleep(REPORT_EVERY_MS);
        }
        consumer.shutdown();
        Report.event("result", "received", received, "requests", requests.counts(),
            "queues", allocations.size(), "allocations", allocations.changes());
    }
}
