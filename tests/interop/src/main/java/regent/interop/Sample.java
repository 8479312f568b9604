package regent.interop;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * The messages of a topic, numbered from 0: each number always gives the same message, so that a
 * consumer in another process knows byte for byte what it must receive.
 */
final class Sample {
    static final List<String> TAGS = List.of("TagA", "TagB", "TagC");
    private static final int LARGE_EVERY = 40;
    private static final int COMPRESSED_ABOVE = 4096;
    private static final Set<String> SYSTEM_PROPERTIES = Set.of(
        "KEYS", "TAGS", "WAIT", "DELAY", "UNIQ_KEY", "CLUSTER", "MSG_REGION", "TRACE_ON", "MIN_OFFSET",
        "MAX_OFFSET", "CONSUME_START_TIME", "RETRY_TOPIC", "ORIGIN_MESSAGE_ID", "REAL_TOPIC", "REAL_QID",
        "RECONSUME_TIME", "POP_CK", "1ST_POP_TIME", "MAX_RECONSUME_TIMES", "BUYER_ID", "INNER_NUM", "PGROUP", "TRAN_MSG",
        "__transactionId__", "TRANSACTION_CHECK_TIMES", "TRAN_PREPARED_QUEUE_OFFSET");

    private Sample() {
    }

    static Message message(String topic, int number) {
        Random random = new Random(topic.hashCode() * 31L + number);
        Message message = new Message(topic, TAGS.get(number % TAGS.size()), body(topic, number, random));
        message.setKeys(List.of(key(topic, number), "shared-" + number % 10));
        message.setFlag(number);
        properties(number, random).forEach(message::putUserProperty);
        return message;
    }

    static String key(String topic, int number) {
        return topic + "#" + number;
    }

    /** Returns the number of a received message, or fails when it has no key of ours. */
    static int number(MessageExt received) {
        String keys = received.getKeys();
        Failure.unless(keys != null && keys.contains("#"), "a message without its key: " + received);
        String first = keys.split(" ")[0];
        return Integer.parseInt(first.substring(first.lastIndexOf('#') + 1));
    }

    /** Fails unless `received` is message `number` of `topic` in every part the sender chose. */
    static void verify(String topic, int number, MessageExt received) {
        Message sent = message(topic, number);
        String which = sent.getKeys();
        same(which, "topic", sent.getTopic(), received.getTopic());
        same(which, "keys", sent.getKeys(), received.getKeys());
        same(which, "tags", sent.getTags(), received.getTags());
        same(which, "flag", sent.getFlag(), received.getFlag());
        Failure.unless(Arrays.equals(sent.getBody(), received.getBody()), which + ": the body differs");
        same(which, "user properties", userProperties(sent), userProperties(received));
        Failure.unless(received.getProperty("UNIQ_KEY") != null, which + ": UNIQ_KEY is missing");
        Failure.unless(received.getStoreTimestamp() > 0, which + ": there is no store timestamp");
    }

    private static void same(String which, String what, Object sent, Object received) {
        if (!sent.equals(received)) {
            throw new Failure(which + ": " + what + " were sent as " + sent + " and received as " + received);
        }
    }

    private static Map<String, String> userProperties(Message message) {
        Map<String, String> properties = new TreeMap<>(message.getProperties());
        properties.keySet().removeAll(SYSTEM_PROPERTIES);
        return properties;
    }

    private static Map<String, String> properties(int number, Random random) {
        Map<String, String> properties = new TreeMap<>();
        properties.put("number", Integer.toString(number));
        properties.put("grüße", "Grüß Gott, 世界 🚀 № " + number);
        properties.put("json", "{\"quoted\": \"\\\\ and \t tab\", \"n\": " + random.nextInt() + "}");
        if (number % 10 == 0) {
            properties.put("long", "λ".repeat(100 + random.nextInt(400)));
        }
        return properties;
    }

    private static byte[] body(String topic, int number, Random random) {
        boolean isLarge = number % LARGE_EVERY == 1;
        int size = isLarge ? COMPRESSED_ABOVE + 1 + random.nextInt(12_000) : 1 + random.nextInt(600);
        byte[] body = new byte[size];
        random.nextBytes(body);
        if (number % 2 == 1) {
            byte[] words = (topic + " says " + number + ", ").getBytes(StandardCharsets.UTF_8);
            for (int at = 0; at < size; at++) {
                body[at] = words[at % words.length];
            }
        }
        return body;
    }
}
