package regent.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Options;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.admin.OffsetWrapper;
import org.apache.rocketmq.remoting.protocol.admin.TopicOffset;
import org.apache.rocketmq.remoting.protocol.statictopic.LogicQueueMappingItem;
import org.apache.rocketmq.remoting.protocol.statictopic.TopicConfigAndQueueMapping;
import org.apache.rocketmq.remoting.protocol.statictopic.TopicQueueMappingOne;
import org.apache.rocketmq.remoting.protocol.statictopic.TopicQueueMappingUtils;
import org.apache.rocketmq.remoting.protocol.statictopic.TopicRemappingDetailWrapper;
import org.apache.rocketmq.remoting.rpc.ClientMetadata;
import org.apache.rocketmq.srvutil.ServerUtil;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;
import org.apache.rocketmq.tools.admin.MQAdminUtils;
import org.apache.rocketmq.tools.command.SubCommand;
import org.apache.rocketmq.tools.command.topic.RemappingStaticTopicSubCommand;
import org.apache.rocketmq.tools.command.topic.UpdateStaticTopicSubCommand;

/**
 * Checks by stock clients and stock's administration what RocketMQ demands of static topics.
 *
 * <p>Arguments: the name server, {@code tool} or {@code orders}, the names of three broker groups, and the cases.
 * With {@code tool} the commands of mqadmin change topics, and offsets go on at the next block after a
 * move. With {@code orders} the program prints each change that it wants and goes on when it reads a
 * line. Offsets then go on without a gap. The program prints the name of each case that ended, with
 * its fault.
 */
public final class StaticTopics {
  private static final int EACH = 10;
  private static final int WAIT_MS = 60_000;
  private static final int BUSY = 2;
  private static final String ONE_BROKER = TopicQueueMappingUtils.getMockBrokerName(MixAll.METADATA_SCOPE_GLOBAL);

  private interface Changes {
    void create(String topic, int queueCount, Set<String> brokers) throws Exception;

    void remap(String topic, Set<String> brokers) throws Exception;

    /** The first offset of the messages after some remappings, each after {@link #EACH} messages. */
    long base(int remappings);
  }

  private interface Case {
    void run(String topic) throws Exception;
  }

  private final String nameServer;
  private final Changes changes;
  private final Set<String> all;
  private final String first;
  private final String second;
  private final String third;
  private final DefaultMQAdminExt admin = new DefaultMQAdminExt(20_000);

  private StaticTopics(String nameServer, Changes changes, List<String> brokers) {
    this.nameServer = nameServer;
    this.changes = changes;
    this.all = new TreeSet<>(brokers);
    this.first = brokers.get(0);
    this.second = brokers.get(1);
    this.third = brokers.get(2);
  }

  public static void main(String[] arguments) throws Exception {
    System.setProperty(MixAll.NAMESRV_ADDR_PROPERTY, arguments[0]);
    System.setProperty("rocketmq.client.rebalance.waitInterval", "500");
    boolean isTool = arguments[1].equals("tool");
    Changes changes = isTool ? new Tool() : new Orders();
    StaticTopics program = new StaticTopics(arguments[0], changes, List.of(arguments).subList(2, 5));
    program.admin.setInstanceName("admin");
    program.admin.start();
    Map<String, Case> cases = program.cases();
    for (String name : List.of(arguments).subList(5, arguments.length)) {
      program.run(arguments[1], name, cases.get(name));
    }
    Runtime.getRuntime().halt(0);
  }

  private Map<String, Case> cases() {
    Map<String, Case> cases = new LinkedHashMap<>();
    cases.put("created", this::created);
    cases.put("remapped-to-all", this::remappedToAll);
    cases.put("remapped-after-consuming", this::remappedAfterConsuming);
    cases.put("other-brokers", this::otherBrokers);
    cases.put("expanded", this::expanded);
    cases.put("positions-in-old-segments", this::positionsInOldSegments);
    cases.put("undecided", this::undecided);
    return cases;
  }

  private void run(String mode, String name, Case one) {
    try {
      one.run("static-" + mode + "-" + name);
      System.out.println("case " + name);
    } catch (Throwable fault) {
      fault.printStackTrace();
      System.out.println("case " + name + " " + fault);
    }
  }

  // Cases.

  private void created(String topic) throws Exception {
    changes.create(topic, 10, all);
    Map<Integer, TopicQueueMappingOne> queues = consistent(topic, 10);
    Map<String, Integer> led = new TreeMap<>();
    queues.values().forEach(queue -> led.merge(queue.getBname(), 1, Integer::sum));
    equal("brokers that lead", led.keySet(), all);
    try (Client client = new Client(topic)) {
      client.sendAndCheck(all, 10, 0);
      client.consume();
      client.checkConsumed(10, 0, 1);
    }
  }

  private void remappedToAll(String topic) throws Exception {
    changes.create(topic, 10, all);
    try (Client client = new Client(topic)) {
      client.sendAndCheck(all, 10, 0);
      changes.remap(topic, all);
      consistent(topic, 10);
      client.await(all, 10);
      // No queue moves, so that offsets go on.
      client.send();
      client.checkEnds(2 * EACH);
      client.consume();
      client.checkCount(0, 10, 2 * EACH);
    }
  }

  private void remappedAfterConsuming(String topic) throws Exception {
    changes.create(topic, 1, Set.of(first));
    try (Client client = new Client(topic)) {
      client.sendAndCheck(Set.of(first), 1, 0);
      client.consume();
      client.checkConsumed(1, 0, 1);
      changes.remap(topic, Set.of(second));
      for (TopicQueueMappingOne queue : consistent(topic, 1).values()) {
        equal("leader", queue.getBname(), second);
        List<LogicQueueMappingItem> items = queue.getItems();
        equal("start of the last segment", items.get(items.size() - 1).getLogicOffset(), changes.base(1));
      }
      client.await(Set.of(second), 1);
      client.sendAndCheck(Set.of(second), 1, 1);
      client.checkConsumed(1, 0, 2);
    }
  }

  private void otherBrokers(String topic) throws Exception {
    changes.create(topic, 10, Set.of(first));
    TopicConfigAndQueueMapping other = MQAdminUtils.examineTopicConfigAll(topic, admin).get(second);
    equal("write queues of another broker", other.getWriteQueueNums(), 0);
    equal("read queues of another broker", other.getReadQueueNums(), 0);
    equal("queues of another broker", other.getMappingDetail().getHostedQueues().size(), 0);
    consistent(topic, 10);
    changes.remap(topic, Set.of(second));
    consistent(topic, 10).values().forEach(queue -> equal("leader", queue.getBname(), second));
  }

  private void expanded(String topic) throws Exception {
    changes.create(topic, 4, Set.of(first));
    Map<Integer, TopicQueueMappingOne> before = consistent(topic, 4);
    try (Client client = new Client(topic)) {
      client.sendAndCheck(Set.of(first), 4, 0);
      changes.create(topic, 7, Set.of(first, second));
      Map<Integer, TopicQueueMappingOne> after = consistent(topic, 7);
      before.forEach((id, queue) -> equal("queue " + id, after.get(id).getItems(), queue.getItems()));
      client.await(all, 7);
      client.consume();
      client.send();
      client.checkCount(0, 4, 2 * EACH);
      client.checkCount(4, 7, EACH);
    }
  }

  private void positionsInOldSegments(String topic) throws Exception {
    long begun = System.currentTimeMillis();
    changes.create(topic, 5, Set.of(first));
    try (Client client = new Client(topic)) {
      client.sendAndCheck(Set.of(first), 5, 0);
      client.consume();
      client.checkConsumed(5, 0, 1);
      client.stopConsuming();
      client.checkPositions(5, EACH, begun);
      List<String> brokers = List.of(second, third, first);
      for (int at = 0; at < brokers.size(); at++) {
        Set<String> target = Set.of(brokers.get(at));
        changes.remap(topic, target);
        client.await(target, 5);
        client.sendAndCheck(target, 5, at + 1);
      }
      client.checkPositions(5, changes.base(brokers.size()) + EACH, begun);
      client.consume();
      client.checkConsumed(5, 1, brokers.size());
    }
  }

  /** Stock stores messages without an offset here; ours refuses them until the offset is decided. */
  private void undecided(String topic) throws Exception {
    changes.create(topic, 10, Set.of(first));
    try (Client client = new Client(topic)) {
      client.sendAndCheck(Set.of(first), 10, 0);
      Map<String, TopicConfigAndQueueMapping> configs = MQAdminUtils.examineTopicConfigAll(topic, admin);
      TopicRemappingDetailWrapper plan =
          TopicQueueMappingUtils.remappingStaticTopic(topic, configs, Set.of(second));
      MQAdminUtils.completeNoTargetBrokers(plan.getBrokerConfigMap(), admin);
      MQAdminUtils.updateTopicConfigMappingAll(plan.getBrokerConfigMap(), admin, false);
      for (TopicQueueMappingOne queue : consistent(topic, 10).values()) {
        List<LogicQueueMappingItem> items = queue.getItems();
        equal("start of the last segment", items.get(items.size() - 1).getLogicOffset(), -1L);
      }
      client.await(Set.of(second), 10);
      try {
        client.send();
        throw new AssertionError("a message was stored without an offset");
      } catch (MQBrokerException refused) {
        equal("code", refused.getResponseCode(), BUSY);
      }
    }
  }

  /** Demands that the copies of all brokers agree, and returns the queues. */
  private Map<Integer, TopicQueueMappingOne> consistent(String topic, int queueCount) throws Exception {
    Map<String, TopicConfigAndQueueMapping> configs = MQAdminUtils.examineTopicConfigAll(topic, admin);
    equal("brokers", configs.keySet(), all);
    TopicQueueMappingUtils.checkNameEpochNumConsistence(topic, configs);
    Map<Integer, TopicQueueMappingOne> queues = TopicQueueMappingUtils.checkAndBuildMappingItems(
        TopicQueueMappingUtils.getMappingDetailFromConfig(configs.values()), false, true);
    TopicQueueMappingUtils.checkIfReusePhysicalQueue(queues.values());
    TopicQueueMappingUtils.checkPhysicalQueueConsistence(configs);
    equal("queues", queues.size(), queueCount);
    return queues;
  }

  private static void equal(String what, Object found, Object wanted) {
    if (!found.equals(wanted)) {
      throw new AssertionError(what + ": " + found + ", not " + wanted);
    }
  }

  private static void await(String what, BooleanSupplier holds) throws InterruptedException {
    long until = System.currentTimeMillis() + WAIT_MS;
    while (!holds.getAsBoolean()) {
      if (System.currentTimeMillis() > until) {
        throw new AssertionError("not within " + WAIT_MS + " ms: " + what);
      }
      Thread.sleep(20);
    }
  }

  /** A producer and a push consumer of one topic. */
  private final class Client implements AutoCloseable {
    private final String topic;
    private final DefaultMQProducer producer;
    private final ConcurrentLinkedQueue<MessageExt> received = new ConcurrentLinkedQueue<>();
    private DefaultMQPushConsumer consumer;

    Client(String topic) throws Exception {
      this.topic = topic;
      producer = new DefaultMQProducer("producer-" + topic);
      producer.setNamesrvAddr(nameServer);
      producer.setInstanceName("producer-" + topic);
      producer.setSendMsgTimeout(20_000);
      producer.start();
    }

    List<MessageQueue> queues() throws Exception {
      return producer.fetchPublishMessageQueues(topic).stream()
          .sorted(Comparator.comparing(MessageQueue::getQueueId)).toList();
    }

    void sendAndCheck(Set<String> brokers, int queueCount, int remappings) throws Exception {
      ClientMetadata metadata = MQAdminUtils.getBrokerAndTopicMetadata(topic, admin);
      List<MessageQueue> queues = queues();
      equal("queues", queues.size(), queueCount);
      for (int id = 0; id < queueCount; id++) {
        equal("queue", queues.get(id), new MessageQueue(topic, ONE_BROKER, id));
        String leader = metadata.getBrokerNameFromMessageQueue(queues.get(id));
        equal(leader + " leads queue " + id, brokers.contains(leader), true);
      }
      send();
      checkEnds(changes.base(remappings) + EACH);
    }

    void send() throws Exception {
      for (MessageQueue queue : queues()) {
        for (int number = 0; number < EACH; number++) {
          SendResult sent = producer.send(new Message(topic, (queue.getQueueId() + ":" + number).getBytes()), queue);
          equal("queue of a result", sent.getMessageQueue().getQueueId(), queue.getQueueId());
        }
      }
    }

    void checkEnds(long end) throws Exception {
      Map<MessageQueue, TopicOffset> stats = admin.examineTopicStats(topic).getOffsetTable();
      for (MessageQueue queue : queues()) {
        equal("least offset of " + queue, admin.minOffset(queue), 0L);
        equal("end of " + queue, admin.maxOffset(queue), end);
        equal("least offset in the statistics", stats.get(queue).getMinOffset(), 0L);
        equal("end in the statistics", stats.get(queue).getMaxOffset(), end);
      }
    }

    /** Waits until the producer and the consumer know the leaders, as after the next look at the route. */
    void await(Set<String> brokers, int queueCount) throws Exception {
      List<MQClientInstance> clients = new ArrayList<>();
      clients.add(producer.getDefaultMQProducerImpl().getMqClientFactory());
      if (consumer != null) {
        clients.add(consumer.getDefaultMQPushConsumerImpl().getmQClientFactory());
      }
      for (MQClientInstance client : clients) {
        StaticTopics.await("the leaders are " + brokers, () -> {
          client.updateTopicRouteInfoFromNameServer(topic);
          for (int id = 0; id < queueCount; id++) {
            String leader = client.getBrokerNameFromMessageQueue(new MessageQueue(topic, ONE_BROKER, id));
            if (!brokers.contains(leader)) {
              return false;
            }
          }
          return true;
        });
      }
    }

    void consume() throws Exception {
      received.clear();
      consumer = new DefaultMQPushConsumer("group-" + topic);
      consumer.setNamesrvAddr(nameServer);
      consumer.setInstanceName("consumer-" + topic);
      consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
      // A message is consumed when its listener returns, and its position is noted after that.
      consumer.setAwaitTerminationMillisWhenShutdown(WAIT_MS);
      consumer.subscribe(topic, "*");
      consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
        received.addAll(messages);
        return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
      });
      consumer.start();
    }

    void stopConsuming() {
      if (consumer != null) {
        consumer.shutdown();
        consumer = null;
      }
    }

    List<MessageExt> consumed(int id) {
      return received.stream().filter(message -> message.getQueueId() == id)
          .sorted(Comparator.comparing(MessageExt::getQueueOffset)).toList();
    }

    /** Waits until queues have a number of messages, and demands that they have no more. */
    void checkCount(int firstId, int endId, int count) throws Exception {
      StaticTopics.await(count + " messages of each queue", () -> {
        for (int id = firstId; id < endId; id++) {
          if (consumed(id).size() < count) {
            return false;
          }
        }
        return true;
      });
      for (int id = firstId; id < endId; id++) {
        equal("messages of queue " + id, consumed(id).size(), count);
      }
    }

    /** Demands the messages of some remappings on, each once and with its logical offset. */
    void checkConsumed(int queueCount, int firstRemapping, int remappingCount) throws Exception {
      checkCount(0, queueCount, remappingCount * EACH);
      for (int id = 0; id < queueCount; id++) {
        List<MessageExt> messages = consumed(id);
        for (int at = 0; at < messages.size(); at++) {
          MessageExt message = messages.get(at);
          long offset = changes.base(firstRemapping + at / EACH) + at % EACH;
          equal("topic", message.getTopic(), topic);
          equal("broker", message.getBrokerName(), ONE_BROKER);
          equal("offset in queue " + id, message.getQueueOffset(), offset);
          equal("body", new String(message.getBody()), id + ":" + at % EACH);
        }
      }
    }

    /** Demands that the group has read the first messages of each queue, and no more. */
    void checkPositions(int queueCount, long end, long begun) throws Exception {
      Map<MessageQueue, OffsetWrapper> table = admin.examineConsumeStats("group-" + topic).getOffsetTable();
      for (int id = 0; id < queueCount; id++) {
        OffsetWrapper offsets = table.get(new MessageQueue(topic, ONE_BROKER, id));
        equal("queue " + id + " has positions", offsets != null, true);
        equal("end of queue " + id, offsets.getBrokerOffset(), end);
        equal("position in queue " + id, offsets.getConsumerOffset(), (long) EACH);
        equal("queue " + id + " has a time", offsets.getLastTimestamp() >= begun, true);
      }
    }

    @Override
    public void close() {
      stopConsuming();
      producer.shutdown();
    }
  }

  /** The commands of mqadmin. */
  private static final class Tool implements Changes {
    @Override
    public void create(String topic, int queueCount, Set<String> brokers) throws Exception {
      execute(new UpdateStaticTopicSubCommand(), "-t", topic, "-qn", "" + queueCount, "-b", String.join(",", brokers));
    }

    @Override
    public void remap(String topic, Set<String> brokers) throws Exception {
      execute(new RemappingStaticTopicSubCommand(), "-t", topic, "-b", String.join(",", brokers));
    }

    @Override
    public long base(int remappings) {
      return (long) remappings * TopicQueueMappingUtils.DEFAULT_BLOCK_SEQ_SIZE;
    }

    private static void execute(SubCommand command, String... words) throws Exception {
      Options options = command.buildCommandlineOptions(ServerUtil.buildCommandlineOptions(new Options()));
      command.execute(new DefaultParser().parse(options, words), options, null);
    }
  }

  /** The reader of the standard output, which carries out the changes. */
  private static final class Orders implements Changes {
    private final BufferedReader answers = new BufferedReader(new InputStreamReader(System.in));

    @Override
    public void create(String topic, int queueCount, Set<String> brokers) throws Exception {
      ask("create " + topic + " " + queueCount + " " + String.join(",", brokers));
    }

    @Override
    public void remap(String topic, Set<String> brokers) throws Exception {
      ask("remap " + topic + " " + String.join(",", brokers));
    }

    @Override
    public long base(int remappings) {
      return (long) remappings * EACH;
    }

    private void ask(String order) throws Exception {
      System.out.println("order " + order);
      equal("answer to " + order, answers.readLine(), "done");
    }
  }
}
