package regent.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * A subscription to some tags receives messages with these tags and no others.
 *
 * <p>AaTag and BBTag have the same hash, which is all that a queue entry holds of a tag: a broker
 * cannot distinguish them there. Yet only messages with the subscribed tag may reach the listener.
 */
final class TagsScenario {
    private static final List<String> TAGS = List.of("TagA", "TagB", "TagC", "AaTag", "BBTag");
    private static final Set<String> WANTED = Set.of("TagC", "AaTag");

    private TagsScenario() {
    }

    static void run(Arguments arguments) throws Exception {
        String topic = arguments.text("topic");
        int count = arguments.number("count");
        DefaultMQProducer producer = Clients.producer(arguments, "interop-tags");
        producer.start();
        Set<Integer> wanted = new TreeSet<>();
        for (int number = 0; number < count; number++) {
            Message message = Sample.message(topic, number);
            String tag = tag(number);
            message.setTags(tag);
            producer.send(message);
            if (WANTED.contains(tag)) {
                wanted.add(number);
            }
        }

        ConcurrentLinkedQueue<MessageExt> received = new ConcurrentLinkedQueue<>();
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, "tags");
        consumer.subscribe(topic, String.join(" || ", WANTED));
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            received.addAll(messages);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        Report.event("started");
        Waiting.until(() -> received.size() >= wanted.size(), 30_000, wanted.size() + " messages of " + WANTED);
        Waiting.quietly(1_000);
        consumer.shutdown();
        producer.shutdown();

        List<Integer> numbers = new ArrayList<>();
        for (MessageExt message : received) {
            int number = Sample.number(message);
            Failure.unless(tag(number).equals(message.getTags()), message.getKeys() + ": has tag " + message.getTags());
            numbers.add(number);
        }
        numbers.sort(null);
        Failure.unless(numbers.equals(List.copyOf(wanted)), "wanted " + wanted + " and received " + numbers);
        Report.event("result", "sent", count, "received", numbers.size());
    }

    private static String tag(int number) {
        return TAGS.get(number % TAGS.size());
    }
}
