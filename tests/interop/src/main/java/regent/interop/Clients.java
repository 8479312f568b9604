package regent.interop;

import java.lang.reflect.Field;
import java.util.Arrays;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;

/**
 * Stock clients with their defaults, except for polls and timeouts. With shorter polls tests need
 * not wait 30 s; with longer timeouts a busy machine fails no test.
 */
final class Clients {
    private static final int ROUTE_POLL_MS = 1_000;
    /**
     * A client whose queues change while it sends a heartbeat sends none for the change. Its pulls
     * are refused (code 25) until the next heartbeat, by default half a minute later.
     */
    private static final int HEARTBEAT_MS = 1_000;
    private static final int OFFSET_PERSIST_MS = 1_000;
    private static final int ANSWER_TIMEOUT_MS = 15_000;
    private static final int POP_DELAY_S = 1;

    private Clients() {
    }

    static DefaultMQProducer producer(Arguments arguments, String group) {
        DefaultMQProducer producer = new DefaultMQProducer(group);
        configure(producer, arguments, "producer");
        producer.setSendMsgTimeout(arguments.number("send-timeout-ms", ANSWER_TIMEOUT_MS));
        return producer;
    }

    static DefaultMQPushConsumer pushConsumer(Arguments arguments, String instance) {
        return pushConsumer(arguments, arguments.text("group"), instance);
    }

    static DefaultMQPushConsumer pushConsumer(Arguments arguments, String group, String instance) {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        configure(consumer, arguments, instance);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPersistConsumerOffsetInterval(OFFSET_PERSIST_MS);
        return consumer;
    }

    /**
     * Has a consumer receive by POP where its broker says so. What fails comes again a second later: stock
     * waits 10 seconds after the first failure, and longer after others.
     */
    static void receiveByPop(DefaultMQPushConsumer consumer) throws ReflectiveOperationException {
        // Clients before 5.0 do not have it.
        DefaultMQPushConsumer.class.getMethod("setClientRebalance", boolean.class).invoke(consumer, false);
        Field delays = DefaultMQPushConsumerImpl.class.getDeclaredField("popDelayLevel");
        delays.setAccessible(true);
        Arrays.fill((int[]) delays.get(consumer.getDefaultMQPushConsumerImpl()), POP_DELAY_S);
    }

    static void configure(ClientConfig client, Arguments arguments, String instance) {
        client.setNamesrvAddr(arguments.text("name-server"));
        client.setInstanceName(instance + "-" + ProcessHandle.current().pid());
        client.setPollNameServerInterval(arguments.number("route-poll-ms", ROUTE_POLL_MS));
        client.setHeartbeatBrokerInterval(arguments.number("heartbeat-ms", HEARTBEAT_MS));
        client.setMqClientApiTimeout(ANSWER_TIMEOUT_MS);
    }
}
