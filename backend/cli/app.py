"""Put the command line together, and end it with the code that says how it went."""

import inspect
import os
import re
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from cyclopts import App, CycloptsError

from backend.cli import (
    adoptions,
    broker_orders,
    controller_settings,
    group_views,
    processes,
    replica_lags,
    session,
    topic_orders,
)
from backend.cli.audit import audit
from backend.cli.broker_configs import config
from backend.cli.brokers import broker
from backend.cli.capacity import capacity
from backend.cli.clients import client
from backend.cli.clusters import cluster
from backend.cli.consumer_groups import group
from backend.cli.controllers import controller
from backend.cli.errors import CommandError, ExitCode
from backend.cli.events import list_or_follow
from backend.cli.locks import lock, queue
from backend.cli.messages import message
from backend.cli.offsets import offset
from backend.cli.operations import operation
from backend.cli.replicas import replica
from backend.cli.sessions import session as open_session
from backend.cli.store import store
from backend.cli.tokens import token
from backend.cli.topics import topic
from backend.cli.users import user

_EXAMPLES: Final = re.compile(r"^Examples?:\n(?P<lines>(?:[ ]+.*\n?)+)", re.MULTILINE)


def _version() -> str:
    try:
        return version("regent")
    except PackageNotFoundError:
        return "not installed"


app = App(
    name="regent",
    version=_version,
    help="""Run a message-queue cluster and its control plane, and look into it.

    Start here:
        regent up                   run a whole local cluster
        regent broker list          see its brokers
        regent replica list         see who is master, and who could be
        regent topic list           see its topics
        regent capacity report      see how long the disks last

    Commands speak to the server of --server, REGENT_URL or `regent login`, with
    REGENT_TOKEN or as who signed in; without any, to the local cluster of
    `regent up` in this directory.
    """,
    help_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
processes.register(app)
session.register(app)
app.command(cluster)
app.command(broker)
broker_orders.register(broker)
broker.command(config)
app.command(controller)
controller_settings.register(controller)
app.command(replica)
adoptions.register(replica)
replica_lags.register(replica)
app.command(topic)
app.command(lock)
app.command(queue)
topic_orders.register(topic)
app.command(group)
group_views.register(group)
app.command(client)
app.command(message)
app.command(offset)
app.command(capacity)
app.command(store)
app.command(operation)
app.command(audit)
app.command(user)
app.command(open_session)
app.command(token)
app.command(list_or_follow, name=["events", "event"])


def _show_examples(commands: App) -> None:
    """Put the examples of each command's docstring below its help, which would leave them out."""
    for name in commands:
        command = commands[name]
        if name.startswith("-"):
            continue
        _show_examples(command)
        found = _EXAMPLES.search(inspect.getdoc(command.default_command) or "")
        if command.default_command is not None and found:
            command.help_epilogue = f"Examples:\n{found['lines'].rstrip()}"


_show_examples(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code (console-and-cli.md 2.1)."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors are told on standard error."""
    try:
        app(arguments, exit_on_error=False)
        sys.stdout.flush()
    except CycloptsError:
        return ExitCode.USAGE
    except CommandError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the product
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        _drop_output()
    return ExitCode.DONE


def _drop_output() -> None:
    """Send what is left to nowhere: the reader (`| head`) has what it wanted."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
