package regent.interop;

import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;

/** Fills the other kinds of queues: inner batches and messages in batch queues, messages in light queues. */
final class QueueScript extends StoreScript {
    private static final String LIGHT_TOPIC = "Devices";
    private static final String[] LIGHT_NAMES = {"%LMQ%a", "%LMQ%device_7", "%LMQ%b"};
    private static final int KIND_COUNT = 3;
    private static final int INNER_COUNT_MAX = 6;

    QueueScript(int seed, int bodySizeMax) {
        super(seed, bodySizeMax);
    }

    @Override
    MessageExtBrokerInner unit(int number) throws UnknownHostException {
        Random random = random(number);
        MessageExtBrokerInner message = new MessageExtBrokerInner();
        address(message, number, random);
        describe(message, number, random);
        message.setBody(body(number, random));
        message.setTopic(StockStore.BATCH_TOPIC);
        switch (number % KIND_COUNT) {
            case 0 -> pack(message, number, random);
            case 1 -> light(message, random);
            default -> { }
        }
        message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
        return message;
    }

    /** Makes the message one inner batch, as the broker does with a batch for a topic of this type. */
    private void pack(MessageExtBrokerInner message, int number, Random random) {
        List<Message> messages = new ArrayList<>();
        for (int at = 0; at <= random.nextInt(INNER_COUNT_MAX); at++) {
            Message one = new Message();
            describe(one, number * 100 + at, random);
            one.setBody(body(number + at, random));
            messages.add(one);
        }
        message.setBody(MessageDecoder.encodeMessages(messages));
        message.setSysFlag(MessageSysFlag.INNER_BATCH_FLAG | MessageSysFlag.NEED_UNWRAP_FLAG);
        message.getProperties().put(MessageConst.PROPERTY_INNER_NUM, String.valueOf(messages.size()));
    }

    private static void light(MessageExtBrokerInner message, Random random) {
        List<String> names = new ArrayList<>(List.of(LIGHT_NAMES));
        names.remove(random.nextInt(names.size()));
        if (random.nextBoolean()) {
            names.remove(0);
        }
        message.setTopic(LIGHT_TOPIC);
        message.getProperties().put(MessageConst.PROPERTY_INNER_MULTI_DISPATCH, String.join(",", names));
    }
}
