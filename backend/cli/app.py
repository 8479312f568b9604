"""Build the command line, run it, and exit with the code of its result."""

import inspect
import re
import sys
from collections.abc import Sequence
from typing import Final

from cyclopts import App, CycloptsError

from backend.cli.errors import CommandEnded, CommandError, ExitCode
from backend.cli.reader import new_output, print_note, reader
from backend.cli.usage import usage_error

_HELP_FLAGS: Final = frozenset({"-h", "--help"})
_HELP: Final = """Run a message-queue cluster and its control plane, and inspect the cluster.

Start here:
    regent up                   run a whole local cluster
    regent status               show the health of the cluster
    regent broker list          show the brokers
    regent replica list         show the masters and the replicas
    regent topic list           show the topics
    regent capacity report      show how long the disks last

Terms:
    broker group    a master and the replicas that copy its commit log
    lease           the master's permission to acknowledge, for seconds
    plan            the preview of a change; it expires if facts change
    fence           a rising number: brokers refuse a replaced worker

A command takes its server from --server, --context or --data. Without these options, \
it uses REGENT_URL, then REGENT_CONTEXT, then the context in use (`regent context use`, \
`regent login`). Without a context in use, it uses the local cluster of `regent up` in \
this directory. A command signs in with --token, else with REGENT_TOKEN, else with the \
token of the context. With --context on the command line, it ignores REGENT_TOKEN. \
--cluster replaces REGENT_CLUSTER, which replaces the cluster of the context. --output \
replaces REGENT_OUTPUT, which replaces the output format of the context.
"""
_SECTION: Final = re.compile(r"^(Args|Examples?|Raises|Returns):$")
_EXAMPLES: Final = re.compile(r"^Examples?:\n(?P<lines>(?:[ ]+.*\n?)+)", re.MULTILINE)


COMMANDS: Final = (
    (
        "up",
        "processes:up",
        "Run a whole local cluster until you press Ctrl-C; the data stays for the next start.",
    ),
    ("run", "processes:run", "Run one process of a cluster in the foreground."),
    (
        "login",
        "session:login",
        "Sign in, keep the session's token in a context, and use this context from now on.",
    ),
    (
        "logout",
        "session:logout",
        "End the session of a context and delete its token, but keep the context.",
    ),
    (
        "whoami",
        "session:whoami",
        "Show the signed-in user, the server, and the end of the session.",
    ),
    (
        "context contexts",
        "contexts:context",
        "Manage contexts: named servers, each with a token, a cluster and an output format.",
    ),
    (
        "status",
        "status:show_status",
        "Show the health of clusters, missing brokers, and the effect of one more failure.",
    ),
    ("cluster clusters", "clusters:cluster", "Show clusters."),
    ("broker brokers", "nouns.broker:broker", "Show and change brokers."),
    (
        "controller controllers",
        "nouns.controller:controller",
        "Show and change the masters of broker groups.",
    ),
    (
        "container containers",
        "containers:container",
        "Show broker containers, and add and remove their brokers.",
    ),
    (
        "replica replicas",
        "nouns.replica:replica",
        "Show replicas, and adopt replicas whose group the control plane lost.",
    ),
    ("topic topics", "nouns.topic:topic", "Show and change topics."),
    ("lock locks", "locks:lock", "Show locks of ordered queues, and release them."),
    (
        "queue queues",
        "locks:queue",
        "Explain why consumer groups do not read queues, and show share queues.",
    ),
    ("group groups", "nouns.group:group", "Show, create, change and delete consumer groups."),
    ("client clients", "clients:client", "Show connected producers and consumers."),
    (
        "message messages",
        "messages:message",
        "Find, show and send messages, and follow a topic.",
    ),
    (
        "timer timers",
        "timers:timer",
        "Show messages that wait for a time, and recall one.",
    ),
    (
        "transaction transactions",
        "transactions:transaction",
        "Show pending transactions of producers, and decide them.",
    ),
    ("offset offsets", "offsets:offset", "Change the offsets of consumer groups."),
    ("capacity", "capacity:capacity", "Create and show capacity reports."),
    (
        "store",
        "store:store",
        "Inspect, verify and rebuild a broker's message store from its files.",
    ),
    (
        "operation operations op",
        "nouns.operation:operation",
        "Show and control operations, which change clusters.",
    ),
    ("audit", "audit:audit", "Show the audit of all changes, and verify the audit."),
    ("user users", "users:user", "Manage users, and change your own password."),
    ("session sessions", "sessions:session", "List and end sessions."),
    ("token tokens", "tokens:token", "Create, list and revoke API tokens for programs."),
    ("finding findings", "findings:finding", "Show broken invariants of clusters, with advice."),
    (
        "maintenance",
        "maintenance:maintenance",
        "Show the periodic tasks, and the data that they would delete.",
    ),
    (
        "events event",
        "events:list_or_follow",
        "Show events: elections, lost and returned brokers, operations and their steps.",
    ),
    (
        "completion",
        "completion:print_script",
        "Print the shell script that completes regent commands.",
    ),
)
"""Name, module below this package, and help of each command. A module is imported when its command
runs."""


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - 30 ms

    try:
        return version("regent")
    except PackageNotFoundError:
        return "not installed"


app = App(
    name="regent",
    version=_version,
    help=_HELP,
    help_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
    print_error=False,
)
for _names, _place, _help in COMMANDS:
    app.command(f"backend.cli.{_place}", name=_names.split(), help=_help)
app.command(
    "backend.cli.mqadmin.command:mqadmin",
    name="mqadmin",
    help="Run a command of RocketMQ's mqadmin as the regent command that does the same.",
    # It reads `--help` and `--` itself.
    help_flags=[],
    version_flags=[],
    end_of_options_delimiter="",
)


def find_command(words: Sequence[str]) -> App:
    """Find the command that the words name; reflow its help, and put its examples at the end.

    For a noun, import all its commands.
    """
    command = app
    for word in words:
        if word.startswith("-") or word not in set(command):
            break
        command = command[word]
    if command is not app and command.default_command is not None:
        # The line in the list does not replace a docstring.
        command.help = None
        docstring = reflow(inspect.getdoc(command.default_command) or "")
        command.default_command.__doc__ = docstring
        found = _EXAMPLES.search(docstring)
        if found:
            command.help_epilogue = f"Examples:\n{found['lines'].rstrip()}"
    elif command is not app:
        # The import is needed for the help line in the noun's list.
        for name in command:
            command[name]
    return command


def reflow(text: str) -> str:
    """Join the lines of each paragraph, and of each entry of a docstring's section.

    Docstrings break lines at the width of the source; a terminal breaks lines at its own width.
    Indented paragraphs and the text after `Examples:` stay unchanged.
    """
    joined: list[str] = []
    section = ""
    for line in text.splitlines():
        if found := _SECTION.match(line):
            section = found[1]
        elif joined and _goes_on(line, joined[-1], section):
            joined[-1] += f" {line.strip()}"
            continue
        joined.append(line)
    return "\n".join(joined)


def _goes_on(line: str, last: str, section: str) -> bool:
    if not line.strip() or not last.strip() or _SECTION.match(last):
        return False
    if section:
        return not section.startswith("Example") and line.startswith(" " * 8)
    return not line.startswith(" ") and not last.startswith(" ")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code (console-and-cli.md 2.1)."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors are printed on standard error."""
    words = sys.argv[1:] if arguments is None else arguments
    with new_output():
        try:
            return _run(words)
        except BrokenPipeError:
            return ExitCode.READER_GONE


def _run(words: Sequence[str]) -> int:
    asks_help = not _HELP_FLAGS.isdisjoint(words)
    if asks_help or not any(word.startswith("-") for word in words):
        # A noun without a command also prints its help.
        find_command(words)
    try:
        _refuse_option_first(words)
        app(words, exit_on_error=False)
        # The output may still be in a buffer.
        with reader():
            sys.stdout.flush()
    except CycloptsError as error:
        print_note(str(usage_error(error, app)))
        return ExitCode.USAGE
    except CommandEnded as ended:
        return ended.exit_code
    except CommandError as error:
        print_note(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except SystemExit:
        if not asks_help:
            raise
        # The library prints the help, and raises this when the reader has closed the pipe.
        return ExitCode.READER_GONE
    return ExitCode.DONE


def _refuse_option_first(words: Sequence[str]) -> None:
    if words and words[0].startswith("-") and words[0] not in set(app):
        option = words[0].partition("=")[0]
        raise CommandError(
            f"{option} stands before the command",
            why="options follow the command that they are for",
            next_step=f"regent topic list {option} …, or regent --help",
            exit_code=ExitCode.USAGE,
        )
