package regent.interop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** An orderly consumer sees each queue in order, one message at a time, also after a failure. */
final class OrderlyScenario {
    /** Numbers divisible by this fail on their first delivery and must come again before the next. */
    private static final int REFUSED_EVERY = 97;

    private final Map<MessageQueue, Long> lastOffsets = new ConcurrentHashMap<>();
    private final Map<MessageQueue, AtomicInteger> busy = new ConcurrentHashMap<>();
    private final Map<Integer, Integer> deliveries = new ConcurrentHashMap<>();
    private final AtomicInteger doneCount = new AtomicInteger();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private OrderlyScenario() {
    }

    static void run(Arguments arguments) throws Exception {
        new OrderlyScenario().sendAndConsume(arguments);
    }

    private void sendAndConsume(Arguments arguments) throws Exception {
        String topic = arguments.text("topic");
        int count = arguments.number("count");
        DefaultMQProducer producer = Clients.producer(arguments, "interop-orderly");
        producer.start();
        List<MessageQueue> queues = Topics.open(producer, topic);
        for (int number = Topics.OPENING_COUNT; number < count; number++) {
            Message message = Sample.message(topic, number);
            producer.send(message, (all, sent, order) -> queues.get((int) order % queues.size()), number % 31);
        }
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, "orderly");
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            context.setSuspendCurrentQueueTimeMillis(10);
            return receive(topic, messages.get(0), context.getMessageQueue());
        });
        consumer.start();
        Report.event("started");
        Waiting.until(() -> doneCount.get() >= count || failure.get() != null, 60_000, count + " messages in order");
        Waiting.quietly(300);
        consumer.shutdown();
        producer.shutdown();
        if (failure.get() != null) {
            throw new Failure(failure.get().getMessage());
        }
        Failure.unless(doneCount.get() == count, doneCount + " messages were handled and " + count + " sent");
        Report.event("result", "count", count, "queues", queues.size(), "refused", deliveries.size());
    }

    private ConsumeOrderlyStatus receive(String topic, MessageExt message, MessageQueue queue) {
        AtomicInteger handlers = busy.computeIfAbsent(queue, one -> new AtomicInteger());
        try {
            Failure.unless(handlers.incrementAndGet() == 1, queue + ": two messages at one time");
            int number = Sample.number(message);
            long last = lastOffsets.getOrDefault(queue, -1L);
            Failure.unless(message.getQueueOffset() == last + 1,
                queue + ": offset " + message.getQueueOffset() + " came after " + last);
            Sample.verify(topic, number, message);
            if (number % REFUSED_EVERY == 0 && deliveries.merge(number, 1, Integer::sum) == 1) {
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
            }
            lastOffsets.put(queue, message.getQueueOffset());
            doneCount.incrementAndGet();
        } catch (RuntimeException wrong) {
            failure.compareAndSet(null, wrong);
        } finally {
            handlers.decrementAndGet();
        }
        return ConsumeOrderlyStatus.SUCCESS;
    }
}
