"""The command `regent mqadmin …`: translate a stock command line, and run the regent command."""

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Self

from cyclopts import App, Parameter

from backend.cli.clusters import cluster_path
from backend.cli.errors import CommandError, ExitCode
from backend.cli.mqadmin.builders import ASK_BROKERS, BrokerPlace, misuse
from backend.cli.mqadmin.stock import (
    IGNORED,
    StockCommand,
    find_command,
    read_options,
    stock_commands,
    usage,
)
from backend.cli.mqadmin.translations import (
    COUNTERPARTS,
    Counterpart,
    Declined,
    Named,
    Translated,
)
from backend.cli.output import print_line, print_table
from backend.cli.reader import print_note
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options

TRUST: Final = "REGENT_MQADMIN_TRUST"
LISTED_MAX: Final = 100_000
NOT_YET: Final = "not built yet"


def mqadmin(
    *words: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)],
) -> None:
    """Run a command of RocketMQ's mqadmin as the regent command that does the same.

    The command prints the regent command, and then runs it. Options after `--` are options of the
    regent command. A change shows its plan and asks for confirmation. REGENT_MQADMIN_TRUST=1 in the
    environment replaces --yes and --reason. Without arguments, it lists all mqadmin commands.

    Examples:
        regent mqadmin
        regent mqadmin topicList
        regent mqadmin updateTopic -c DefaultCluster -t orders -r 8 -w 8 -- --dry-run
    """
    from backend.cli.app import app  # noqa: PLC0415 - it names this module

    run(app, words)


def run(app: App, words: Sequence[str]) -> None:
    """Translate and run a command, or list all commands.

    Raises:
        CommandError: the command is unknown or has no counterpart, or an option has none.
    """
    if not words or words[0] in {"-h", "--help", "help"}:
        _list_commands(app)
        return
    name, *rest = words
    command = find_command(name)
    arguments, own = _split(rest)
    if set(arguments) & {"-h", "--help"}:
        print_line(usage(command))
        return
    counterpart = COUNTERPARTS[name]
    if not isinstance(counterpart, Translated):
        raise _no_translation(app, command, counterpart)
    given = read_options(command, arguments)
    _check_options(command, given, counterpart)
    with_server = _server_options(own)
    with _Directory(lambda: connect(with_server)) as directory:
        translated = counterpart.build(given, directory)
    if counterpart.is_change and os.environ.get(TRUST) == "1":
        own = [*own, "--yes", "--reason", f"mqadmin {name}"]
    line = [*translated, *own]
    print_note(f"runs: regent {_shown(line)}")
    if counterpart.note:
        print_note(f"note: {counterpart.note}")
    app(line, exit_on_error=False)


def stands(app: App, counterpart: Counterpart) -> str:
    """Summarize in a few words how regent supports a command of mqadmin."""
    if isinstance(counterpart, Declined):
        return "declined"
    if isinstance(counterpart, Translated):
        return "translated"
    return "named" if has_command(app, counterpart.regent) else NOT_YET


def has_command(app: App, line: str) -> bool:
    """Return whether regent has the first command of a line."""
    found = app
    for word in line.partition(",")[0].split():
        if word not in set(found):
            return False
        found = found[word]
    return True


class _Directory:
    """Query the control plane, when needed, for facts that stock's options omit."""

    def __init__(self, open_client: Callable[[], RestClient]) -> None:
        self._open = open_client
        self._client: RestClient | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        if self._client is not None:
            self._client.__exit__(None, None, None)

    def find_broker(self, address: str) -> BrokerPlace:
        """Find the broker of an address in any cluster."""
        for cluster in self._clusters():
            path = cluster_path(self._rest, cluster, "brokers")
            for one in self._rest.list(path, limit=LISTED_MAX):
                if one["address"] == address:
                    return BrokerPlace(cluster, one["broker_group_name"], one["own_id"])
        raise CommandError(
            f"no broker is registered at {address}",
            next_step="regent broker list",
            exit_code=ExitCode.NOT_FOUND,
        )

    def has_topic(self, cluster_name: str | None, topic_name: str) -> bool:
        """Return whether a cluster, or any cluster, holds a topic."""
        for cluster in [cluster_name] if cluster_name else self._clusters():
            if self._find(cluster_path(self._rest, cluster, "topics", topic_name)):
                return True
        return False

    def list_broker_groups(self, cluster_name: str) -> list[str]:
        """List the names of the broker groups of a cluster."""
        path = cluster_path(self._rest, cluster_name, "brokers")
        return sorted({one["broker_group_name"] for one in self._rest.list(path, limit=LISTED_MAX)})

    def has_group(
        self, cluster_name: str | None, broker_group: str | None, consumer_group_name: str
    ) -> bool:
        """Return whether a broker group, or any broker group, knows a consumer group."""
        for cluster in [cluster_name] if cluster_name else self._clusters():
            path = cluster_path(self._rest, cluster, "consumer-groups", consumer_group_name)
            found = self._find(path)
            knowing = {one["broker_group_name"] for one in found["settings"]} if found else set()
            if (broker_group in knowing) if broker_group else knowing:
                return True
        return False

    def _find(self, path: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._rest.get(path)
        except CommandError as error:
            if error.exit_code is not ExitCode.NOT_FOUND:
                raise
            return None
        return found

    @property
    def _rest(self) -> RestClient:
        if self._client is None:
            self._client = self._open().__enter__()
        return self._client

    def _clusters(self) -> Iterator[str]:
        return (str(one["name"]) for one in self._rest.list("/clusters", limit=LISTED_MAX))


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    found = list(words)
    if "--" not in found:
        return found, []
    at = found.index("--")
    return found[:at], found[at + 1 :]


def _server_options(own: Sequence[str]) -> Options:
    """Read the chosen server, so that lookups query the same server."""
    chosen: dict[str, str] = {}
    for word, following in pairwise([*own, ""]):
        name, equals, value = word.partition("=")
        if name in {"--server", "--context", "--token", "--data"}:
            chosen[name[2:]] = value if equals else following
    return Options(
        server=chosen.get("server"),
        context=chosen.get("context"),
        token=chosen.get("token"),
        data=Path(chosen["data"]) if "data" in chosen else None,
    )


def _shown(line: Sequence[str]) -> str:
    """Write a command for display: without its token."""
    words = ["***" if before == "--token" else word for before, word in pairwise(["", *line])]
    words = ["--token=***" if word.startswith("--token=") else word for word in words]
    return shlex.join(words)


def _check_options(command: StockCommand, given: dict[str, str], translated: Translated) -> None:
    reads = set(translated.reads.split())
    for name in sorted(set(given) - reads):
        is_address = name == "n" or any(
            one.name == name and one.long == "controllerAddress" for one in command.options
        )
        if not is_address:
            what = f"-{name} of mqadmin {command.name} has no counterpart"
            why = f"regent {translated.regent} has no such option"
            raise misuse(what, why, next_step=ASK_BROKERS)
        print_note(f"note: -{name} is not used: {IGNORED[name]}")


def _no_translation(app: App, command: StockCommand, counterpart: Counterpart) -> CommandError:
    if isinstance(counterpart, Named) and has_command(app, counterpart.regent):
        return CommandError(
            f"mqadmin {command.name} has another form here",
            why=counterpart.note or None,
            next_step=f"regent {counterpart.regent.partition(',')[0]} --help",
            exit_code=ExitCode.USAGE,
        )
    reason = counterpart.reason if isinstance(counterpart, Declined) else NOT_YET
    return CommandError(
        f"mqadmin {command.name} has no counterpart",
        why=reason,
        next_step=ASK_BROKERS,
        exit_code=ExitCode.REFUSED,
    )


def _list_commands(app: App) -> None:
    rows = []
    for name in stock_commands():
        counterpart = COUNTERPARTS[name]
        counterpart_text = (
            counterpart.reason if isinstance(counterpart, Declined) else counterpart.regent
        )
        rows.append((name, stands(app, counterpart), counterpart_text))
    print_table(("MQADMIN", "STANDS", "REGENT"), rows)
