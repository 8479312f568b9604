import java.util.Comparator;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * Prints the queues that a producer sees of each topic, one on a line, or that it sees none.
 *
 * <p>A client takes an answer after 3 s for a missing topic, and loads its classes in that time. So
 * the first topic, which exists, is asked for until it is found.
 */
public final class Queues {
  private static final int ATTEMPTS_MAX = 30;
  private static final long PAUSE_MS = 100;

  public static void main(String[] arguments) throws MQClientException, InterruptedException {
    DefaultMQProducer producer = new DefaultMQProducer("queues");
    producer.setNamesrvAddr(arguments[0]);
    producer.start();
    for (int attempt = 1; attempt < ATTEMPTS_MAX && !isFound(producer, arguments[1]); attempt++) {
      Thread.sleep(PAUSE_MS);
    }
    for (int at = 1; at < arguments.length; at++) {
      print(producer, arguments[at]);
    }
    producer.shutdown();
  }

  private static boolean isFound(DefaultMQProducer producer, String topic) {
    try {
      return !producer.fetchPublishMessageQueues(topic).isEmpty();
    } catch (MQClientException error) {
      return false;
    }
  }

  private static void print(DefaultMQProducer producer, String topic) {
    try {
      producer.fetchPublishMessageQueues(topic).stream()
          .sorted(Comparator.comparing(MessageQueue::getBrokerName).thenComparing(MessageQueue::getQueueId))
          .forEach(queue -> System.out.println(
              "queue " + topic + " " + queue.getBrokerName() + " " + queue.getQueueId()));
    } catch (MQClientException error) {
      System.out.println("queue " + topic + " none");
    }
  }
}
