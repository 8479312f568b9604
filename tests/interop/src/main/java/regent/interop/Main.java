package regent.interop;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Runs the scenario of the arguments against a running cluster, or without arguments those of {@link Lines}.
 *
 * <p>Events go to standard output as JSON lines. The last one is {@code result}, or {@code failed}
 * with the exit code 1.
 */
public final class Main {
    private interface Scenario {
        void run(Arguments arguments) throws Exception;
    }

    private static final Map<String, Scenario> SCENARIOS = new TreeMap<>(Map.ofEntries(
        Map.entry("send", SendScenario::run),
        Map.entry("consume", ConsumeScenario::run),
        Map.entry("orderly", OrderlyScenario::run),
        Map.entry("tags", TagsScenario::run),
        Map.entry("sql", SqlScenario::run),
        Map.entry("retry", RetryScenario::run),
        Map.entry("rebalance", RebalanceScenario::run),
        Map.entry("pop", PopScenario::run),
        Map.entry("pop-retry", PopRetryScenario::run),
        Map.entry("litepull", LitePullScenario::run),
        Map.entry("chaos-send", ChaosSendScenario::run),
        Map.entry("read-back", ReadBackScenario::run),
        Map.entry("special-traffic", SpecialTrafficScenario::run),
        Map.entry("static-moves", StaticMovesScenario::run),
        Map.entry("selector", SelectorScenario::run),
        Map.entry("kept-client", KeptClientScenario::run),
        Map.entry("transactions", TransactionScenario::run),
        Map.entry("watch", WatchScenario::run)));

    private Main() {
    }

    public static void main(String[] words) {
        if (words.length > 0) {
            run(words);
        } else {
            Lines.runEach(Main::run);
        }
        // Threads of clients that were never shut down would keep the process alive.
        Runtime.getRuntime().halt(0);
    }

    private static void run(String[] words) {
        if (!SCENARIOS.containsKey(words[0])) {
            System.err.println("usage: <scenario> [--name value]...; scenarios: " + SCENARIOS.keySet());
            System.exit(2);
        }
        try {
            SCENARIOS.get(words[0]).run(Arguments.parse(words, 1));
        } catch (Throwable failure) {
            failure.printStackTrace();
            Report.event("failed", "scenario", words[0], "arguments", Arrays.asList(words), "reason", describe(failure));
            Runtime.getRuntime().halt(1);
        }
    }

    private static String describe(Throwable failure) {
        return failure instanceof Failure ? failure.getMessage() : failure.toString();
    }
}
