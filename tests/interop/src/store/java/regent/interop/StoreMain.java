package regent.interop;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs one command against a directory of the stock message store.
 *
 * <p>Facts go to standard output as JSON lines. The last one is {@code result}, or {@code failed}
 * with the exit code 1.
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

    public static void main(String[] words) {
        if (words.length == 0 || !COMMANDS.containsKey(words[0])) {
            System.err.println("usage: <command> [--name value]...; commands: " + COMMANDS.keySet());
            System.exit(2);
        }
        try {
            COMMANDS.get(words[0]).run(Arguments.parse(words, 1));
        } catch (Throwable failure) {
            failure.printStackTrace();
            Report.event("failed", "arguments", Arrays.asList(words), "reason", failure.toString());
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }
}
