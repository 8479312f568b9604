//! Load one broker over the remoting protocol, and print what it did as one JSON object.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

mod options;
mod peers;
mod pop;
mod pull;
mod read_back;
mod report;
mod send;
mod wake;
mod wire;

type Failure = Box<dyn Error>;

const USAGE: &str = "\
Load one broker over the RocketMQ remoting protocol. Prints one JSON object.

Usage: regent-load send --address HOST:PORT --topic TOPIC (--seconds S | --count N) [options]
       regent-load pull --address HOST:PORT --topic TOPIC --seconds S [options]
       regent-load pop --address HOST:PORT --topic TOPIC --group G --broker NAME --seconds S
       regent-load wake --address HOST:PORT --topic TOPIC [options]

Options of all:
  --queues N        queues of the topic that are used (8)
  --connections N   connections (1; wake: 8)
  --timeout S       time after which a broker that does not answer is an error (10)

send: store messages (request 310). Without a rate it is a closed loop: each answer starts the next
send. With a rate it is an open loop: latency counts from the time at which a send was due.
  --seconds S       time that is measured
  --count N         messages at most
  --warm-up S       time before, which is not measured (0)
  --in-flight N     sends in flight on each connection, in a closed loop (1)
  --rate R          sends a second of all connections together, in an open loop
  --body-size N     bytes of a body (128, at least 8)
  --answer-code N   code of a good answer (0; an echo of a send has 310)
  --read-back       pull each acknowledged message afterwards; check its body and its order;
                    a message that does not appear before the timeout is lost

pull: read queues from start to end, over and over (request 11). Checks offsets and CRC.
  --seconds S, --warm-up S
  --in-flight N     pulls in flight on each connection (8)
  --batch N         messages of a pull (32)

pop: receive messages of any queue (request 200050), and acknowledge each of them (200051). The next
POP of a consumer follows the last answer. Checks CRC. Only messages with an answer are in the rate.
  --group G         consumer group; a new one begins at the first message
  --broker NAME     name of the broker in handles
  --seconds S, --warm-up S
  --in-flight N     consumers of each connection (8)
  --batch N         messages of a POP at most (32)

wake: let the broker hold pulls at the end of each queue, then send one message to each queue.
  --pulls N         pulls that are held (10000)
  --rounds N        how often (5)
  --pause-ms N      time to hold all pulls before the sends (300)

Exit code: 0, or 1 after an error or if --read-back finds a fault, or 2 for a wrong command line.

Examples:
  regent-load send --address 127.0.0.1:10911 --topic T --connections 64 --seconds 5
  regent-load send --address 127.0.0.1:10911 --topic T --in-flight 64 --count 100000 --read-back
  regent-load send --address 127.0.0.1:10911 --topic T --rate 5000 --seconds 10
  regent-load pull --address 127.0.0.1:10911 --topic T --seconds 5
  regent-load pop --address 127.0.0.1:10911 --topic T --group g --broker broker-a --seconds 5
  regent-load wake --address 127.0.0.1:10911 --topic T --pulls 10000
";

/// The queues do not hold what was acknowledged; carries the report.
#[derive(Debug)]
struct ReadBackFailed(String);

impl fmt::Display for ReadBackFailed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the queues do not hold what the broker acknowledged")
    }
}

impl Error for ReadBackFailed {}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let command: fn(options::Options) -> Result<String, Failure> =
        match words.first().map(String::as_str) {
            Some("send") => send::run,
            Some("pull") => pull::run,
            Some("pop") => pop::run,
            Some("wake") => wake::run,
            _ => {
                eprint!("{USAGE}");
                return ExitCode::from(2);
            }
        };
    match options::Options::parse(&words[1..]).and_then(command) {
        Ok(report) => println!("{report}"),
        Err(error) => {
            if let Some(ReadBackFailed(report)) = error.downcast_ref() {
                println!("{report}");
            }
            eprintln!("regent-load: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
