package regent.interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * Runs commands of stock's mqadmin, one after another, in one process.
 *
 * <p>Each line of the input is a command and its arguments, separated by tabs. The end of what it
 * prints is {@code --- ended} and the end of a line.
 */
public final class Tools extends MQAdminStartup {
  public static void main(String[] arguments) {
    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().forEach(Tools::run);
    // Threads of clients that were not shut down would keep the process alive.
    Runtime.getRuntime().halt(0);
  }

  private static void run(String line) {
    // Some commands keep a client, which they have shut down.
    SUB_COMMANDS.clear();
    main0(line.split("\t"), null);
    System.out.println("--- ended");
  }
}
