package regent.interop;

import java.lang.reflect.Field;
import java.util.List;
import java.util.StringJoiner;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.rocketmq.tools.command.MQAdminStartup;
import org.apache.rocketmq.tools.command.SubCommand;

/** Prints every command that stock's mqadmin has registered, one on a line, with its options. */
public final class AdminCommands {
  public static void main(String[] arguments) throws ReflectiveOperationException {
    MQAdminStartup.initCommand();
    Field registered = MQAdminStartup.class.getDeclaredField("SUB_COMMANDS");
    registered.setAccessible(true);
    for (Object entry : (List<?>) registered.get(null)) {
      SubCommand command = (SubCommand) entry;
      StringJoiner line = new StringJoiner("\t", "command ", "");
      line.add(command.commandName());
      for (Option option : command.buildCommandlineOptions(new Options()).getOptions()) {
        line.add(describe(option));
      }
      System.out.println(line);
    }
  }

  private static String describe(Option option) {
    StringJoiner words = new StringJoiner("|");
    words.add(option.getOpt() == null ? "" : option.getOpt());
    words.add(option.getLongOpt() == null ? "" : option.getLongOpt());
    if (!option.hasArg()) {
      words.add("flag");
    }
    if (option.isRequired()) {
      words.add("required");
    }
    return words.toString();
  }
}
