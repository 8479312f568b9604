package regent.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Sends delayed, timer and transactional messages, without the client's retries, while brokers fail. Two concurrent
 * and two orderly consumers read all of them. What was meant, acknowledged, decided and received is in a journal. The
 * first line of its standard input ends the sends, the second one the consumers.
 */
final class SpecialTrafficScenario implements TransactionListener {
    private static final int REPORT_EVERY_MS = 100;
    private static final int PAUSE_AFTER_FAILURE_MS = 50;
    private static final int SHORTEST_TIMER_MS = 500;
    private static final int TIMER_STEP_MS = 137;
    private static final int TIMER_STEPS = 11;
    private static final int HANDLING_MS = 5;
    private static final int CONSUMERS_OF_A_GROUP = 2;

    private final AtomicInteger nextNumber = new AtomicInteger();
    private final AtomicInteger failedCount = new AtomicInteger();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    private final Arguments arguments;
    private final TrafficJournal journal;

    private SpecialTrafficScenario(Arguments arguments, TrafficJournal journal) {
        this.arguments = arguments;
        this.journal = journal;
    }

    static void run(Arguments arguments) throws Exception {
        try (TrafficJournal journal = new TrafficJournal(Path.of(arguments.text("journal")))) {
            new SpecialTrafficScenario(arguments, journal).sendAndConsume();
        }
    }

    private void sendAndConsume() throws Exception {
        DefaultMQProducer timed = Clients.producer(arguments, "special-timed");
        TransactionMQProducer transactional = new TransactionMQProducer("special-transactions");
        Clients.configure(transactional, arguments, "transactions");
        transactional.setSendMsgTimeout(arguments.number("send-timeout-ms"));
        transactional.setTransactionListener(this);
        for (DefaultMQProducer producer : List.of(timed, transactional)) {
            producer.setRetryTimesWhenSendFailed(0);
            producer.start();
        }
        List<DefaultMQPushConsumer> consumers = startConsumers();
        List<Thread> senders = List.of(
            sender(() -> sendDelayed(timed)), sender(() -> sendTimer(timed)), sender(() -> sendHalf(transactional)));
        reportUntilTold("sending");
        isOver.set(true);
        for (Thread one : senders) {
            one.join();
        }
        reportUntilTold("consuming");
        consumers.forEach(DefaultMQPushConsumer::shutdown);
        timed.shutdown();
        transactional.shutdown();
        Report.event("result", "sent", nextNumber, "failed", failedCount);
    }

    /** The test writes to us when it has seen enough; it reads the journal, and each report says that we live. */
    private void reportUntilTold(String phase) throws Exception {
        while (!input.ready()) {
            Report.event(phase, "sent", nextNumber, "failed", failedCount);
            Thread.sleep(REPORT_EVERY_MS);
        }
        input.readLine();
    }

    // Senders.

    private interface Send {
        void once() throws Exception;
    }

    private Thread sender(Send send) {
        Thread thread = new Thread(() -> sendUntilOver(send));
        thread.start();
        return thread;
    }

    private void sendUntilOver(Send send) {
        while (!isOver.get()) {
            int pauseMs = arguments.number("pause-ms");
            try {
                send.once();
            } catch (Exception refused) {
                failedCount.incrementAndGet();
                pauseMs = PAUSE_AFTER_FAILURE_MS;
            }
            try {
                Thread.sleep(pauseMs);
            } catch (InterruptedException end) {
                return;
            }
        }
    }

    private void sendDelayed(DefaultMQProducer producer) throws Exception {
        int number = nextNumber.getAndIncrement();
        Message message = message("timed", number);
        message.setDelayTimeLevel(arguments.number("delay-level"));
        long now = System.currentTimeMillis();
        journal.write("intended", number, "delayed", now, now + arguments.number("delay-ms"));
        acknowledge(number, producer.send(message));
    }

    private void sendTimer(DefaultMQProducer producer) throws Exception {
        int number = nextNumber.getAndIncrement();
        Message message = message("timed", number);
        long now = System.currentTimeMillis();
        long due = now + SHORTEST_TIMER_MS + number % TIMER_STEPS * TIMER_STEP_MS;
        MessageAccessor.putProperty(message, "TIMER_DELIVER_MS", Long.toString(due));
        journal.write("intended", number, "timer", now, due);
        acknowledge(number, producer.send(message));
    }

    private void sendHalf(TransactionMQProducer producer) throws Exception {
        int number = nextNumber.getAndIncrement();
        long now = System.currentTimeMillis();
        journal.write("intended", number, "transaction", now, now);
        acknowledge(number, producer.sendMessageInTransaction(message("transactions", number), number));
    }

    private void acknowledge(int number, SendResult result) throws Exception {
        if (result.getSendStatus() == SendStatus.SEND_OK) {
            journal.write("acknowledged", number, System.currentTimeMillis());
        } else {
            failedCount.incrementAndGet();
        }
    }

    private Message message(String topic, int number) {
        Message message = new Message(arguments.text(topic), Integer.toString(number).getBytes());
        message.setKeys("special-" + number);
        return message;
    }

    // Decisions about transactions: of three, one is committed, one is rolled back, and one is decided when asked.

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object number) {
        return (Integer) number / 3 % 3 == 2 ? LocalTransactionState.UNKNOW : decide((Integer) number, "sender");
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        return decide(number(message), "asked");
    }

    /** Write the decision before any broker can hear of it. */
    private LocalTransactionState decide(int number, String by) {
        boolean isCommitted = number / 3 % 3 == 0 || number / 3 % 3 == 2 && number % 2 == 0;
        journal.write("decided", number, isCommitted ? "commit" : "rollback", by, System.currentTimeMillis());
        return isCommitted ? LocalTransactionState.COMMIT_MESSAGE : LocalTransactionState.ROLLBACK_MESSAGE;
    }

    // Consumers.

    private List<DefaultMQPushConsumer> startConsumers() throws Exception {
        List<DefaultMQPushConsumer> consumers = new ArrayList<>();
        for (int at = 0; at < CONSUMERS_OF_A_GROUP; at++) {
            String name = "concurrent-" + at;
            DefaultMQPushConsumer concurrent = consumer("special-concurrent", name);
            concurrent.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                messages.forEach(one -> receive("concurrent", name, one));
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            consumers.add(concurrent);
            String orderlyName = "orderly-" + at;
            DefaultMQPushConsumer orderly = consumer("special-orderly", orderlyName);
            orderly.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                messages.forEach(one -> receive("orderly", orderlyName, one));
                return ConsumeOrderlyStatus.SUCCESS;
            });
            consumers.add(orderly);
        }
        for (DefaultMQPushConsumer one : consumers) {
            one.start();
        }
        return consumers;
    }

    private DefaultMQPushConsumer consumer(String group, String name) throws Exception {
        DefaultMQPushConsumer consumer = Clients.pushConsumer(arguments, group, name);
        for (String topic : List.of("timed", "transactions")) {
            consumer.subscribe(arguments.text(topic), "*");
        }
        return consumer;
    }

    private void receive(String group, String consumer, MessageExt message) {
        long begin = System.currentTimeMillis();
        try {
            Thread.sleep(group.equals("orderly") ? HANDLING_MS : 0);
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
        journal.write("received", group, consumer, number(message), message.getTopic(), message.getQueueId(),
            message.getQueueOffset(), begin, System.currentTimeMillis(), message.getMsgId());
    }

    private static int number(MessageExt message) {
        return Integer.parseInt(new String(message.getBody()));
    }
}
