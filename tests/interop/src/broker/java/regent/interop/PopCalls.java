package regent.interop;

import com.alibaba.fastjson2.JSON;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.AckResult;
import org.apache.rocketmq.client.consumer.PopResult;
import org.apache.rocketmq.client.impl.ClientRemotingProcessor;
import org.apache.rocketmq.client.impl.mqclient.MQClientAPIExt;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.protocol.header.AckMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.ChangeInvisibleTimeRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.ExtraInfoUtil;
import org.apache.rocketmq.remoting.protocol.header.NotificationRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.PopMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.SendMessageRequestHeader;
import org.apache.rocketmq.remoting.protocol.header.UpdateConsumerOffsetRequestHeader;

/**
 * Has stock's client call brokers: the calls that a POP consumer makes, any number at a time.
 *
 * <p>Each line of the input is a number, the name of a call, and fields {@code name=value}, separated
 * by tabs. A line of the output is such a number and the outcome of its call as JSON. Bodies are in
 * hexadecimal digits.
 */
public final class PopCalls {
  private static final long PATIENCE_MS = 60_000;
  private static final MQClientAPIExt CLIENT = client();

  private PopCalls() {
  }

  /** Begins the calls of the input, to its end. */
  public static void main(String[] arguments) {
    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().forEach(PopCalls::begin);
    Runtime.getRuntime().halt(0);
  }

  private static void begin(String line) {
    String[] words = line.split("\t");
    begun(words[1], new Fields(words)).whenComplete((outcome, failure) ->
        print(words[0], failure == null ? outcome : Map.of("failure", failure.toString())));
  }

  private static synchronized void print(String number, Object outcome) {
    System.out.println(number + "\t" + JSON.toJSONString(outcome));
    System.out.flush();
  }

  private static CompletableFuture<?> begun(String call, Fields fields) {
    try {
      return switch (call) {
        case "send" -> send(fields);
        case "pop" -> pop(fields);
        case "ack" -> ack(fields);
        case "batch-ack" -> CLIENT.batchAckMessageAsync(fields.text("address"), fields.text("topic"),
            fields.text("group"), fields.texts("handle"), PATIENCE_MS).thenApply(PopCalls::describe);
        case "change" -> change(fields);
        case "notification" -> notification(fields);
        case "reset" -> CompletableFuture.supplyAsync(() -> reset(fields));
        default -> throw new IllegalArgumentException("no call " + call);
      };
    } catch (RuntimeException failure) {
      return CompletableFuture.failedFuture(failure);
    }
  }

  private static MQClientAPIExt client() {
    ClientConfig config = new ClientConfig();
    // Bodies are shown as they were stored.
    config.setDecodeDecompressBody(false);
    MQClientAPIExt client =
        new MQClientAPIExt(config, new NettyClientConfig(), new ClientRemotingProcessor(null), null);
    client.start();
    return client;
  }

  private static CompletableFuture<?> send(Fields fields) {
    Message message = new Message(fields.text("topic"), HexFormat.of().parseHex(fields.text("body")));
    for (String property : fields.texts("property")) {
      String[] parts = property.split("=", 2);
      MessageAccessor.putProperty(message, parts[0], parts[1]);
    }
    SendMessageRequestHeader header = new SendMessageRequestHeader();
    header.setProducerGroup("popping");
    header.setTopic(message.getTopic());
    header.setDefaultTopic("TBW102");
    header.setDefaultTopicQueueNums(8);
    header.setQueueId(fields.number("queueId"));
    header.setSysFlag(fields.number("sysFlag"));
    header.setBornTimestamp(System.currentTimeMillis());
    header.setFlag(0);
    header.setReconsumeTimes(0);
    header.setBatch(false);
    header.setProperties(MessageDecoder.messageProperties2String(message.getProperties()));
    return CLIENT.sendMessageAsync(fields.text("address"), fields.text("broker"), message, header, PATIENCE_MS)
        .thenApply(sent -> Map.of("status", sent.getSendStatus(), "queueId", sent.getMessageQueue().getQueueId(),
            "offset", sent.getQueueOffset()));
  }

  private static CompletableFuture<?> pop(Fields fields) {
    PopMessageRequestHeader header = new PopMessageRequestHeader();
    header.setConsumerGroup(fields.text("group"));
    header.setTopic(fields.text("topic"));
    header.setQueueId(fields.number("queueId"));
    header.setMaxMsgNums(fields.number("count"));
    header.setInvisibleTime(fields.number("invisibleMs"));
    header.setInitMode(fields.number("initMode"));
    header.setExpType("TAG");
    header.setExp("*");
    header.setOrder(fields.isSet("order"));
    header.setAttemptId(fields.text("attempt"));
    header.setPollTime(fields.number("pollMs"));
    header.setBornTime(System.currentTimeMillis());
    return CLIENT.popMessageAsync(fields.text("address"), fields.text("broker"), header, PATIENCE_MS)
        .thenApply(PopCalls::describe);
  }

  private static CompletableFuture<?> ack(Fields fields) {
    String[] handle = ExtraInfoUtil.split(fields.text("handle"));
    AckMessageRequestHeader header = new AckMessageRequestHeader();
    header.setTopic(ExtraInfoUtil.getRealTopic(handle, fields.text("topic"), fields.text("group")));
    header.setQueueId(ExtraInfoUtil.getQueueId(handle));
    header.setOffset(ExtraInfoUtil.getQueueOffset(handle));
    header.setConsumerGroup(fields.text("group"));
    header.setExtraInfo(fields.text("handle"));
    return CLIENT.ackMessageAsync(fields.text("address"), header, PATIENCE_MS).thenApply(PopCalls::describe);
  }

  private static CompletableFuture<?> change(Fields fields) {
    String[] handle = ExtraInfoUtil.split(fields.text("handle"));
    ChangeInvisibleTimeRequestHeader header = new ChangeInvisibleTimeRequestHeader();
    header.setTopic(ExtraInfoUtil.getRealTopic(handle, fields.text("topic"), fields.text("group")));
    header.setQueueId(ExtraInfoUtil.getQueueId(handle));
    header.setOffset(ExtraInfoUtil.getQueueOffset(handle));
    header.setConsumerGroup(fields.text("group"));
    header.setExtraInfo(fields.text("handle"));
    header.setInvisibleTime((long) fields.number("invisibleMs"));
    return CLIENT.changeInvisibleTimeAsync(fields.text("address"), fields.text("broker"), header, PATIENCE_MS)
        .thenApply(PopCalls::describe);
  }

  private static CompletableFuture<?> notification(Fields fields) {
    NotificationRequestHeader header = new NotificationRequestHeader();
    header.setConsumerGroup(fields.text("group"));
    header.setTopic(fields.text("topic"));
    header.setQueueId(fields.number("queueId"));
    header.setPollTime(fields.number("pollMs"));
    header.setBornTime(System.currentTimeMillis());
    header.setOrder(fields.isSet("order"));
    header.setAttemptId(fields.text("attempt"));
    return CLIENT.notificationWithPollingStats(fields.text("address"), header, PATIENCE_MS)
        .thenApply(told -> Map.of("hasMessage", told.isHasMsg(), "isFull", told.isPollingFull()));
  }

  /** Resets the offset of one queue by the two requests of stock's administration. */
  private static Map<String, Object> reset(Fields fields) {
    UpdateConsumerOffsetRequestHeader header = new UpdateConsumerOffsetRequestHeader();
    header.setConsumerGroup(fields.text("group"));
    header.setTopic(fields.text("topic"));
    header.setQueueId(fields.number("queueId"));
    header.setCommitOffset((long) fields.number("offset"));
    try {
      CLIENT.updateConsumerOffset(fields.text("address"), header, PATIENCE_MS);
      CLIENT.invokeBrokerToResetOffset(fields.text("address"), fields.text("topic"), fields.text("group"), 0,
          fields.number("queueId"), (long) fields.number("offset"), PATIENCE_MS);
    } catch (Exception failure) {
      throw new CompletionException(failure);
    }
    return Map.of();
  }

  private static Map<String, Object> describe(AckResult answer) {
    Map<String, Object> described = new HashMap<>();
    described.put("status", answer.getStatus());
    described.put("handle", answer.getExtraInfo());
    return described;
  }

  private static Map<String, Object> describe(PopResult answer) {
    List<MessageExt> found = answer.getMsgFoundList();
    return Map.of("status", answer.getPopStatus(),
        "messages", found == null ? List.of() : found.stream().map(PopCalls::describe).toList());
  }

  private static Map<String, Object> describe(MessageExt message) {
    Map<String, Object> described = new HashMap<>();
    described.put("topic", message.getTopic());
    described.put("queueId", message.getQueueId());
    described.put("offset", message.getQueueOffset());
    described.put("body", HexFormat.of().formatHex(message.getBody()));
    described.put("sysFlag", message.getSysFlag());
    described.put("id", message.getMsgId());
    described.put("reconsumeTimes", message.getReconsumeTimes());
    described.put("handle", message.getProperty(MessageConst.PROPERTY_POP_CK));
    described.put("properties", new TreeMap<>(message.getProperties()));
    return described;
  }

  /** The fields of a command; a name may come more than once. */
  private static final class Fields {
    private final Map<String, List<String>> values = new HashMap<>();

    Fields(String[] words) {
      for (int at = 2; at < words.length; at++) {
        String[] parts = words[at].split("=", 2);
        values.computeIfAbsent(parts[0], name -> new ArrayList<>()).add(parts[1]);
      }
    }

    List<String> texts(String name) {
      return values.getOrDefault(name, List.of());
    }

    String text(String name) {
      return texts(name).isEmpty() ? null : texts(name).get(0);
    }

    int number(String name) {
      return Integer.parseInt(text(name));
    }

    boolean isSet(String name) {
      return Boolean.parseBoolean(text(name));
    }
  }
}
