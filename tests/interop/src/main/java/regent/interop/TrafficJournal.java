package regent.interop;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/** A file with one line for each event, its parts between tabs, that is complete after each event. */
final class TrafficJournal implements Closeable {
    private final BufferedWriter writer;
    private boolean isClosed;

    TrafficJournal(Path path) throws IOException {
        writer = Files.newBufferedWriter(path);
    }

    synchronized void write(Object... parts) {
        if (isClosed) {
            return;
        }
        try {
            writer.write(Arrays.stream(parts).map(Object::toString).collect(Collectors.joining("\t")));
            writer.newLine();
            writer.flush();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        isClosed = true;
        writer.close();
    }
}
