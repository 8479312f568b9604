package regent.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.broker.filter.MessageEvaluationContext;
import org.apache.rocketmq.filter.FilterFactory;
import org.apache.rocketmq.filter.expression.Expression;
import org.apache.rocketmq.filter.expression.MQFilterException;

/**
 * Answers what stock's SQL92 filter makes of expressions.
 *
 * <p>Each line of the input is an expression in hex, then property strings in hex, separated by
 * blanks. Its answer is one line: {@code refused}, or a letter for each property string, {@code y}
 * for one that passes and {@code n} for one that does not.
 */
public final class FilterOracle {
  public static void main(String[] arguments) throws Exception {
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    var answers = new StringBuilder();
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      answers.append("answer ").append(answer(line.split(" "))).append('\n');
    }
    System.out.print(answers);
  }

  private static String answer(String[] words) {
    Expression expression;
    try {
      expression = FilterFactory.INSTANCE.get("SQL92").compile(text(words[0]));
    } catch (MQFilterException error) {
      return "refused";
    }
    var passes = new StringBuilder();
    for (int at = 1; at < words.length; at++) {
      passes.append(passes(expression, text(words[at])) ? 'y' : 'n');
    }
    return passes.toString();
  }

  /** What a broker makes of the value, or of an exception. */
  private static boolean passes(Expression expression, String properties) {
    Map<String, String> decoded =
        new HashMap<>(MessageDecoder.string2messageProperties(properties));
    try {
      return Boolean.TRUE.equals(expression.evaluate(new MessageEvaluationContext(decoded)));
    } catch (Throwable error) {
      return false;
    }
  }

  private static String text(String hex) {
    byte[] bytes = new byte[hex.length() / 2];
    for (int at = 0; at < bytes.length; at++) {
      bytes[at] = (byte) Integer.parseInt(hex.substring(2 * at, 2 * at + 2), 16);
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
