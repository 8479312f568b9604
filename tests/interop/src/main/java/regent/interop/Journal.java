package regent.interop;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.client.producer.SendResult;

/** A file with one line for each acknowledged message: where it must be, and what it is. */
final class Journal implements Closeable {
    /** A place in a queue. */
    record Place(String brokerName, int queueId, long queueOffset) {
    }

    /** What was acknowledged for a place. */
    record Entry(int number, String offsetMessageId, String uniqueKey) {
    }

    private final BufferedWriter writer;

    Journal(Path path) throws IOException {
        writer = Files.newBufferedWriter(path);
    }

    synchronized void add(int number, SendResult result) throws IOException {
        writer.write(String.join("\t", result.getMessageQueue().getBrokerName(),
            Integer.toString(result.getMessageQueue().getQueueId()), Long.toString(result.getQueueOffset()),
            Integer.toString(number), result.getOffsetMsgId(), result.getMsgId()));
        writer.newLine();
    }

    @Override
    public synchronized void close() throws IOException {
        writer.close();
    }

    /** Reads a journal; two acknowledgements for one place are a failure. */
    static Map<Place, Entry> read(Path path) throws IOException {
        Map<Place, Entry> entries = new HashMap<>();
        for (String line : Files.readAllLines(path)) {
            String[] parts = line.split("\t");
            Place place = new Place(parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2]));
            Entry entry = new Entry(Integer.parseInt(parts[3]), parts[4], parts[5]);
            Entry other = entries.put(place, entry);
            Failure.unless(other == null, "two messages were acknowledged at " + place + ": " + other + ", " + entry);
        }
        return entries;
    }
}
