package regent.interop;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Command-line options of the form {@code --name value}; a name may be repeated. */
final class Arguments {
    private final Map<String, List<String>> values = new LinkedHashMap<>();

    private Arguments() {
    }

    static Arguments parse(String[] words, int first) {
        Arguments arguments = new Arguments();
        for (int at = first; at < words.length; at += 2) {
            if (!words[at].startsWith("--") || at + 1 == words.length) {
                throw new IllegalArgumentException("expected --name value at: " + words[at]);
            }
            arguments.values.computeIfAbsent(words[at].substring(2), name -> new ArrayList<>()).add(words[at + 1]);
        }
        return arguments;
    }

    String text(String name) {
        List<String> found = values.get(name);
        if (found == null) {
            throw new IllegalArgumentException("missing --" + name);
        }
        return found.get(found.size() - 1);
    }

    String text(String name, String otherwise) {
        return values.containsKey(name) ? text(name) : otherwise;
    }

    /** The value that was given at a position; one that was given once is for every position. */
    String text(String name, int at) {
        return texts(name).size() > 1 ? texts(name).get(at) : text(name);
    }

    String text(String name, int at, String otherwise) {
        return values.containsKey(name) ? text(name, at) : otherwise;
    }

    int number(String name) {
        return Integer.parseInt(text(name));
    }

    int number(String name, int otherwise) {
        return values.containsKey(name) ? number(name) : otherwise;
    }

    List<String> texts(String name) {
        return values.getOrDefault(name, List.of());
    }
}
