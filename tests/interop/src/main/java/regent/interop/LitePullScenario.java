package regent.interop;

import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Lite pull consumers that subscribe, with explicit commits, or are assigned, with a seek. */
final class LitePullScenario {
    private static final int TIMEOUT_MS = 30_000;
    private static final int POLL_MS = 200;

    private LitePullScenario() {
    }

    static void run(Arguments arguments) throws Exception {
        String topic = arguments.text("topic");
        int count = arguments.number("count");

        DefaultLitePullConsumer subscriber = subscriber(arguments);
        Report.event("started");
        poll(subscriber, topic, count);
        subscriber.commitSync();
        subscriber.shutdown();

        DefaultLitePullConsumer returning = subscriber(arguments);
        long until = System.nanoTime() + 3_000_000_000L;
        while (System.nanoTime() < until) {
            List<MessageExt> again = returning.poll(POLL_MS);
            Failure.unless(again.isEmpty(), again.size() + " messages came again after a commit");
        }
        returning.shutdown();

        DefaultLitePullConsumer assigned = consumer(arguments, "assigned");
        assigned.start();
        Collection<MessageQueue> queues = assigned.fetchMessageQueues(topic);
        assigned.assign(queues);
        for (MessageQueue queue : queues) {
            assigned.seek(queue, 0);
        }
        poll(assigned, topic, count);
        assigned.shutdown();
        Report.event("result", "count", count, "queues", queues.size());
    }

    private static DefaultLitePullConsumer subscriber(Arguments arguments) throws Exception {
        DefaultLitePullConsumer consumer = consumer(arguments, "subscriber");
        consumer.subscribe(arguments.text("topic"), "*");
        consumer.start();
        return consumer;
    }

    private static DefaultLitePullConsumer consumer(Arguments arguments, String instance) {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(arguments.text("group"));
        Clients.configure(consumer, arguments, instance);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setAutoCommit(false);
        return consumer;
    }

    private static void poll(DefaultLitePullConsumer consumer, String topic, int count) {
        BitSet seen = new BitSet();
        long until = System.nanoTime() + TIMEOUT_MS * 1_000_000L;
        while (seen.cardinality() < count) {
            Failure.unless(System.nanoTime() < until, seen.cardinality() + " of " + count + " messages were polled");
            for (MessageExt message : consumer.poll(POLL_MS)) {
                int number = Sample.number(message);
                Failure.unless(!seen.get(number), message.getKeys() + " was polled twice");
                Sample.verify(topic, number, message);
                seen.set(number);
            }
        }
    }
}
