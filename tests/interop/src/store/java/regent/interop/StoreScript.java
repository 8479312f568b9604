package regent.interop;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Random;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBatch;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;

/**
 * What a store is filled with: units numbered from 0, each a message or a traditional batch, the
 * same ones for the same seed.
 */
class StoreScript {
    /** A V2 record: topics over 127 characters need two bytes for their length. */
    static final String LONG_TOPIC = "%RETRY%" + "long-group-name-".repeat(12);
    private static final String[] TOPICS = {"Orders", "Orders", "Payments", LONG_TOPIC, "%RETRY%short"};
    private static final String DELAY_TOPIC = "SCHEDULE_TOPIC_XXXX";
    /** The second is not ASCII, the third has a negative hash. */
    private static final String[] TAGS = {"TagA", "\u6807\u7b7e-\ud83d\ude00", "polygenelubricants-x", null};
    private static final String[] HOSTS = {"10.1.2.3", "2001:db8::17", "192.168.255.254", "fe80::1"};
    private static final int PORT_COUNT = 65_536;
    private static final int QUEUE_COUNT = 4;
    private static final int DELAY_LEVEL_MAX = 18;
    private static final int BATCH_EVERY = 19;
    private static final int LARGE_EVERY = 23;
    private static final int SMALL_SIZE_MAX = 400;

    /** Random numbers from neighbouring seeds would begin alike. */
    private static final long SCATTER = 0x9E3779B97F4A7C15L;

    private final int seed;
    private final int bodySizeMax;

    StoreScript(int seed, int bodySizeMax) {
        this.seed = seed;
        this.bodySizeMax = bodySizeMax;
    }

    /** Returns the message, or the batch, of a number. */
    MessageExtBrokerInner unit(int number) throws UnknownHostException {
        Random random = random(number);
        if (number % BATCH_EVERY == 0) {
            return batch(number, random);
        }
        MessageExtBrokerInner message = new MessageExtBrokerInner();
        address(message, number, random);
        describe(message, number, random);
        message.setBody(body(number, random));
        if (number % 13 == 5) {
            delay(message, random);
        }
        transact(message, number);
        message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
        return message;
    }

    final Random random(int number) {
        return new Random((seed * 1_000_003L + number) * SCATTER);
    }

    private MessageExtBatch batch(int number, Random random) throws UnknownHostException {
        List<Message> messages = new ArrayList<>();
        for (int at = 0; at < 2 + random.nextInt(7); at++) {
            Message message = new Message();
            describe(message, number * 100 + at, random);
            message.setBody(body(number + at, random));
            messages.add(message);
        }
        MessageExtBatch batch = new MessageExtBatch();
        MessageAccessor.setProperties(batch, new HashMap<>());
        address(batch, number, random);
        batch.setBody(MessageDecoder.encodeMessages(messages));
        batch.putUserProperty("shared", "by all of batch " + number);
        return batch;
    }

    final void address(MessageExtBrokerInner message, int number, Random random) throws UnknownHostException {
        message.setTopic(TOPICS[number % TOPICS.length]);
        message.setQueueId(random.nextInt(QUEUE_COUNT));
        message.setBornTimestamp(1_700_000_000_000L + number);
        message.setBornHost(host(random));
        message.setStoreHost(host(random));
        message.setReconsumeTimes(number % 4);
    }

    private static InetSocketAddress host(Random random) throws UnknownHostException {
        InetAddress address = InetAddress.getByName(HOSTS[random.nextInt(HOSTS.length)]);
        return new InetSocketAddress(address, random.nextInt(PORT_COUNT));
    }

    final void describe(Message message, int number, Random random) {
        MessageAccessor.setProperties(message, new HashMap<>());
        message.setFlag(random.nextInt());
        String tag = TAGS[random.nextInt(TAGS.length)];
        if (tag != null) {
            message.setTags(tag);
        }
        if (number % 5 != 1) {
            message.putUserProperty("gr\u00fc\u00dfe", "\u4e16\u754c " + random.nextInt());
        }
        if (number % 3 != 2) {
            message.setKeys(List.of("key-" + seed + "-" + number, "shared-" + number % 10));
            message.getProperties().put("UNIQ_KEY", String.format("%08X%024X", seed, number));
        }
    }

    final byte[] body(int number, Random random) {
        int size = switch (number % LARGE_EVERY) {
            case 0 -> random.nextInt(bodySizeMax);
            case 1 -> 0;
            case 2 -> 1;
            default -> random.nextInt(Math.min(bodySizeMax, SMALL_SIZE_MAX));
        };
        byte[] body = new byte[size];
        random.nextBytes(body);
        return body;
    }

    private static void delay(MessageExtBrokerInner message, Random random) {
        int level = 1 + random.nextInt(DELAY_LEVEL_MAX);
        message.getProperties().put("REAL_TOPIC", message.getTopic());
        message.getProperties().put("REAL_QID", String.valueOf(message.getQueueId()));
        message.setDelayTimeLevel(level);
        message.setTopic(DELAY_TOPIC);
        message.setQueueId(level - 1);
    }

    /** Sets the flags a store looks at or must keep: compression, and the types of a transaction. */
    private static void transact(MessageExtBrokerInner message, int number) {
        int flag = number % 7 == 3 ? MessageSysFlag.COMPRESSED_FLAG | MessageSysFlag.COMPRESSION_ZSTD_TYPE : 0;
        switch (number % 29) {
            case 8 -> flag |= MessageSysFlag.TRANSACTION_PREPARED_TYPE;
            case 9 -> {
                flag |= MessageSysFlag.TRANSACTION_COMMIT_TYPE;
                message.setPreparedTransactionOffset(number * 1_000_000_007L);
            }
            case 10 -> flag |= MessageSysFlag.TRANSACTION_ROLLBACK_TYPE;
            default -> { }
        }
        message.setSysFlag(flag);
    }
}
