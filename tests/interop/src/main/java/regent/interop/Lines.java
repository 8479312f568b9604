package regent.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Commands on the standard input: one a line, its words separated by tabs. */
final class Lines {
    private Lines() {
    }

    /** Runs each command, and prints the line {@code --- ended} after it. */
    static void runEach(Consumer<String[]> command) {
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().forEach(line -> {
            command.accept(line.split("\t"));
            System.out.println("--- ended");
        });
    }
}
