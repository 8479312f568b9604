package regent.interop;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waiting for something other threads bring about, always with a deadline. */
final class Waiting {
    private static final int POLL_MS = 10;

    private Waiting() {
    }

    /** Returns the milliseconds it took until `holds`; fails at the deadline. */
    static long until(BooleanSupplier holds, int timeoutMs, String what) throws InterruptedException {
        return until(holds, timeoutMs, () -> what);
    }

    /** The same; `what` is read at the deadline, so that it can say what is missing then. */
    static long until(BooleanSupplier holds, int timeoutMs, Supplier<String> what) throws InterruptedException {
        long started = System.nanoTime();
        while (!holds.getAsBoolean()) {
            long passedMs = (System.nanoTime() - started) / 1_000_000;
            if (passedMs >= timeoutMs) {
                throw new Failure("not within " + timeoutMs + " ms: " + what.get());
            }
            Thread.sleep(POLL_MS);
        }
        return (System.nanoTime() - started) / 1_000_000;
    }

    /** Gives messages that should never come the time to come. */
    static void quietly(int milliseconds) throws InterruptedException {
        Thread.sleep(milliseconds);
    }

    /** The same, until a line comes in on the standard input at the longest. */
    static void quietlyUntilTold(int milliseconds) throws InterruptedException, IOException {
        long end = System.nanoTime() + milliseconds * 1_000_000L;
        while (System.nanoTime() < end && System.in.available() == 0) {
            Thread.sleep(POLL_MS);
        }
    }
}
