"""The commands that start processes: `regent up` and `regent run …`.

Every other command talks to a running cluster over REST; these make one. They replace the
command line's own process, so that signals, exit codes and process ids are the real ones.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter, validators

GROUP_COUNT_MAX = 20
"""More broker groups than this on one machine is a mistake in the command, not a wish."""

run = App(name="run", help="Run one process of a cluster in the foreground.")

Port = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=65535))]


def register(app: App) -> None:
    """Add `up` and `run` to the command line."""
    app.command(up)
    app.command(run)


def up(
    *,
    data: Path = Path(".regent"),
    http_port: Port = 8080,
    remoting_port: Port = 9876,
    broker_port: Port = 10911,
    groups: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=GROUP_COUNT_MAX))] = 2,
) -> None:
    """Run a whole local cluster until Ctrl-C; the data stays for the next start.

    Embedded Postgres and Redis, migrations, control plane, worker, beat and the broker groups.

    Examples:
        regent up
        regent up --data /tmp/second --http-port 8081 --remoting-port 9877 --broker-port 11911

    Args:
        data: Directory that holds everything: databases, logs, messages. Made when absent.
        http_port: Port of the console, REST and GraphQL.
        remoting_port: Port of the name server, to which RocketMQ clients are pointed.
        broker_port: Port of the first broker; each further group takes the next ten.
        groups: Number of broker groups.
    """
    # Imported here, so that every other command starts without the databases' packages.
    from backend.supervisor.cluster import ClusterOptions, run_cluster  # noqa: PLC0415

    sys.exit(
        run_cluster(
            ClusterOptions(
                data_dir=data,
                http_port=http_port,
                remoting_port=remoting_port,
                broker_port=broker_port,
                group_count=groups,
            ),
        ),
    )


@run.command
def server() -> None:
    """Run the control plane: console, REST, GraphQL, name server. Settings: REGENT_… variables.

    Example:
        REGENT_DATABASE_URL=postgresql://… REGENT_REDIS_URL=redis://… regent run server
    """
    _become("backend.server")


@run.command
def worker(*, concurrency: int = 2) -> None:
    """Run a worker that carries out operations and maintenance.

    Args:
        concurrency: Number of worker processes.
    """
    _become("celery", "-A", "workers.celery_app", "worker", "--concurrency", str(concurrency))


@run.command
def beat() -> None:
    """Run the scheduler of the periodic tasks; one is enough, a second one waits."""
    _become("celery", "-A", "workers.celery_app", "beat")


@run.command
def broker(*, config: Annotated[Path, Parameter(name=["--config", "-c"])]) -> None:
    """Run one broker agent.

    Example:
        regent run broker -c broker.conf

    Args:
        config: A `broker.conf` with RocketMQ's property names.
    """
    _become("workers.broker", "-c", str(config))


def _become(module: str, *arguments: str) -> None:
    command = (sys.executable, "-m", module, *arguments)
    os.execv(command[0], command)  # noqa: S606 - our own interpreter and fixed modules
