package regent.interop;

import java.util.Collection;
import java.util.Map;

/** Prints what happened as one JSON object a line, for the test that started the scenario. */
final class Report {
    private Report() {
    }

    /** Prints one event; facts are alternating names and values. */
    static synchronized void event(String name, Object... facts) {
        StringBuilder line = new StringBuilder("{\"event\":");
        write(line, name);
        for (int at = 0; at < facts.length; at += 2) {
            line.append(',');
            write(line, facts[at]);
            line.append(':');
            write(line, facts[at + 1]);
        }
        System.out.println(line.append('}'));
        System.out.flush();
    }

    private static void write(StringBuilder line, Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            line.append(value);
        } else if (value instanceof Collection<?> items) {
            line.append('[');
            String separator = "";
            for (Object item : items) {
                write(line.append(separator), item);
                separator = ",";
            }
            line.append(']');
        } else if (value instanceof Map<?, ?> map) {
            // Looked at once: other threads may fill the map while it is written.
            line.append('{');
            String separator = "";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                write(line.append(separator), entry.getKey().toString());
                write(line.append(':'), entry.getValue());
                separator = ",";
            }
            line.append('}');
        } else {
            writeText(line, value.toString());
        }
    }

    private static void writeText(StringBuilder line, String text) {
        line.append('"');
        for (int at = 0; at < text.length(); at++) {
            char one = text.charAt(at);
            if (one == '"' || one == '\\') {
                line.append('\\').append(one);
            } else if (one < ' ' || one > '~') {
                line.append(String.format("\\u%04x", (int) one));
            } else {
                line.append(one);
            }
        }
        line.append('"');
    }
}
