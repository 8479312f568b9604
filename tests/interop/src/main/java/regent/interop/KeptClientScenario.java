package regent.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A producer and a consumer that stay connected while their topic is deleted and created again.
 *
 * <p>Each line on the standard input is a command, and each has one event. {@code send} sends to
 * every queue. {@code clear} clears what the clients know of static topics; clients of version 5
 * never do so by themselves. {@code queues} waits until the producer has a route with a number of
 * queues. {@code received} waits for a number of messages, and {@code stop} ends.
 */
final class KeptClientScenario {
    private static final int RECEIVED_WITHIN_MS = 60_000;

    private final String topic;
    private final AtomicLong received = new AtomicLong();
    private DefaultMQProducer producer;
    private DefaultMQPushConsumer consumer;

    private KeptClientScenario(String topic) {
        this.topic = topic;
    }

    static void run(Arguments arguments) throws Exception {
        new KeptClientScenario(arguments.text("topic")).obey(arguments);
    }

    private void obey(Arguments arguments) throws Exception {
        producer = Clients.producer(arguments, "interop-kept");
        producer.start();
        consumer = Clients.pushConsumer(arguments, "kept");
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            received.addAndGet(messages.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null && !line.equals("stop"); line = lines.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "send" -> send();
                case "clear" -> clear();
                case "queues" -> awaitQueues(Integer.parseInt(words[1]));
                case "received" -> await(Long.parseLong(words[1]));
                default -> throw new IllegalArgumentException("unknown command: " + line);
            }
        }
        consumer.shutdown();
        producer.shutdown();
        Report.event("result", "received", received.get());
    }

    private void send() throws Exception {
        Set<String> brokers = new TreeSet<>();
        Set<String> refusals = new TreeSet<>();
        int count = 0;
        for (MessageQueue queue : producer.fetchPublishMessageQueues(topic)) {
            brokers.add(queue.getBrokerName());
            try {
                producer.send(new Message(topic, new byte[] {1}), queue);
                count++;
            } catch (MQClientException refused) {
                refusals.add(refused.getMessage().lines().findFirst().orElse(""));
            } catch (MQBrokerException refused) {
                refusals.add("code " + refused.getResponseCode());
            }
        }
        Report.event("sent", "count", count, "brokers", brokers, "refusals", refusals);
    }

    private void clear() throws Exception {
        clear(producer.getDefaultMQProducerImpl().getMqClientFactory());
        clear(consumer.getDefaultMQPushConsumerImpl().getmQClientFactory());
        Report.event("cleared");
    }

    private void clear(MQClientInstance client) throws Exception {
        // Clients before 5.0 have no such table.
        Field table = MQClientInstance.class.getDeclaredField("topicEndPointsTable");
        table.setAccessible(true);
        ((Map<?, ?>) table.get(client)).remove(topic);
    }

    private void awaitQueues(int count) throws Exception {
        Waiting.until(() -> queueCount() == count, RECEIVED_WITHIN_MS, count + " queues at the producer");
        Report.event("queues", "count", count);
    }

    /**
     * Returns the queues of the route that the producer holds. {@code fetchPublishMessageQueues} asks
     * a name server and stores nothing: a send to a queue that the held route lacks is refused.
     */
    private int queueCount() {
        TopicPublishInfo held = producer.getDefaultMQProducerImpl().getTopicPublishInfoTable().get(topic);
        return held == null ? 0 : held.getMessageQueueList().size();
    }

    private void await(long count) throws Exception {
        Waiting.until(() -> received.get() >= count, RECEIVED_WITHIN_MS, count + " messages");
        Report.event("received", "count", received.get());
    }
}
