package regent.interop;

import java.io.IOException;
import java.util.function.BooleanSupplier;

/** Waiting for something other threads bring about, always with a deadline. */
final class Waiting {
    private static final int POLL_MS = 10;

    private Waiting() {
    }

    /** Returns the milliseconds it took until `holds`; fails at the deadline. */
    static long until(BooleanSupplier holds, int timeoutMs, String what) throws InterruptedException {
        long started = System.nanoTime();
        while (!holds.getAsBoolean()) {
            long passedMs = (System.nanoTime() - started) / 1_000_000;
            Failure.unless(passedMs < timeoutMs, "not within " + timeoutMs + " ms: " + what);
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
