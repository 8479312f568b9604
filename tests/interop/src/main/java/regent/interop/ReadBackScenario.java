package regent.interop;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Reads every queue of a topic from its beginning to its end and compares it with a journal: each
 * acknowledged message is where its acknowledgement said, and no offset or message occurs twice.
 */
@SuppressWarnings("deprecation") // The only stock consumer that pulls exactly the given offsets.
final class ReadBackScenario {
    private static final int PULL_COUNT = 32;
    private static final int ROUTE_TIMEOUT_MS = 20_000;

    private final String topic;
    private final Map<Journal.Place, Journal.Entry> missing;
    private final Set<String> uniqueKeys = new HashSet<>();
    private long storedCount;

    private ReadBackScenario(String topic, Map<Journal.Place, Journal.Entry> acknowledged) {
        this.topic = topic;
        this.missing = new HashMap<>(acknowledged);
    }

    static void run(Arguments arguments) throws Exception {
        Map<Journal.Place, Journal.Entry> acknowledged = Journal.read(Path.of(arguments.text("journal")));
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer(arguments.text("group"));
        Clients.configure(consumer, arguments, "read-back");
        consumer.start();
        ReadBackScenario scenario = new ReadBackScenario(arguments.text("topic"), acknowledged);
        Set<MessageQueue> queues = scenario.awaitQueues(consumer);
        for (MessageQueue queue : queues) {
            scenario.readBack(consumer, queue);
        }
        consumer.shutdown();
        Failure.unless(scenario.missing.isEmpty(), scenario.missing.size() + " acknowledged messages are gone, such as "
            + scenario.missing.entrySet().stream().limit(5).toList());
        Report.event("result", "acknowledged", acknowledged.size(), "stored", scenario.storedCount,
            "queues", queues.size());
    }

    /** A broker that has only just restarted may still be on its way into the route. */
    private Set<MessageQueue> awaitQueues(DefaultMQPullConsumer consumer) throws InterruptedException {
        Set<String> brokers = missing.keySet().stream().map(Journal.Place::brokerName).collect(Collectors.toSet());
        Set<MessageQueue> queues = new HashSet<>();
        Waiting.until(() -> {
            queues.clear();
            try {
                queues.addAll(consumer.fetchSubscribeMessageQueues(topic));
            } catch (MQClientException notYet) {
                return false;
            }
            return queues.stream().map(MessageQueue::getBrokerName).collect(Collectors.toSet()).containsAll(brokers);
        }, ROUTE_TIMEOUT_MS, "a route to " + brokers);
        return queues;
    }

    private void readBack(DefaultMQPullConsumer consumer, MessageQueue queue) throws Exception {
        long next = consumer.minOffset(queue);
        long end = consumer.maxOffset(queue);
        while (next < end) {
            PullResult result = consumer.pull(queue, "*", next, PULL_COUNT);
            Failure.unless(result.getPullStatus() == PullStatus.FOUND, queue + " at " + next + ": " + result);
            for (MessageExt message : result.getMsgFoundList()) {
                Failure.unless(message.getQueueOffset() == next,
                    queue + ": offset " + message.getQueueOffset() + " where " + next + " was due");
                verify(queue, message);
                next++;
            }
            Failure.unless(result.getNextBeginOffset() == next, queue + ": does not go on at " + next + ": " + result);
        }
    }

    private void verify(MessageQueue queue, MessageExt message) {
        int number = Sample.number(message);
        Sample.verify(topic, number, message);
        String uniqueKey = message.getMsgId();
        Failure.unless(uniqueKeys.add(uniqueKey), uniqueKey + " is stored twice, once at " + message);
        storedCount++;
        Journal.Place place =
            new Journal.Place(queue.getBrokerName(), queue.getQueueId(), message.getQueueOffset());
        Journal.Entry stored =
            new Journal.Entry(number, ((MessageClientExt) message).getOffsetMsgId(), uniqueKey);
        Journal.Entry entry = missing.remove(place);
        Failure.unless(entry == null || entry.equals(stored),
            place + ": " + entry + " was acknowledged and " + stored + " is there");
    }
}
