import java.util.Comparator;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.MessageQueue;

/** Prints the queues that a producer sees of each topic, one on a line, or that it sees none. */
public final class Queues {
  public static void main(String[] arguments) throws MQClientException {
    DefaultMQProducer producer = new DefaultMQProducer("queues");
    producer.setNamesrvAddr(arguments[0]);
    producer.start();
    for (int at = 1; at < arguments.length; at++) {
      print(producer, arguments[at]);
    }
    producer.shutdown();
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
