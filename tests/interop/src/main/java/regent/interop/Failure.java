package regent.interop;

/** What a scenario saw was not what the protocol promises; the message says what. */
final class Failure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Failure(String message) {
        super(message);
    }

    static void unless(boolean holds, String message) {
        if (!holds) {
            throw new Failure(message);
        }
    }
}
