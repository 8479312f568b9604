package regent.interop;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs commands against directories of the stock message store, one after another.
 *
 * <p>The commands are those of {@link Lines}. Facts go to standard output as JSON lines, {@code result} last. Some
 * commands end the process as a kill would. After {@code failed} the process ends with the exit code 1.
 */
public final class StoreMain {
    private interface Command {
        void run(Arguments arguments) throws Exception;
    }

    private static final Map<String, Command> COMMANDS = new TreeMap<>(Map.of(
        "write", StoreWrite::run,
        "read", StoreRead::run,
        "dump-index", IndexDump::run,
        "bench", StoreBench::run));

    private StoreMain() {
    }

    public static void main(String[] none) {
        Lines.runEach(StoreMain::run);
        Runtime.getRuntime().halt(0);
    }

    private static void run(String[] words) {
        try {
            COMMANDS.get(words[0]).run(Arguments.parse(words, 1));
        } catch (Throwable failure) {
            failure.printStackTrace();
            Report.event("failed", "arguments", List.of(words), "reason", failure.toString());
            Runtime.getRuntime().halt(1);
        }
    }
}
