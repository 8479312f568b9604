"""The commands that start processes: `regent up` and `regent run …`.

Every other command is a client of the REST API. These commands replace the command line's own
process, so that signals, exit codes and process ids are direct.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter, validators

from backend.supervisor.layout import GROUP_COUNT_MAX, REPLICA_COUNT_MAX

BYTECODE_DIR: Final = "bytecode"

run = App(name="run", help="Run one process of a cluster in the foreground.")

Port = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=65535))]


def up(
    *,
    data: Path = Path(".regent"),
    http_port: Port = 8080,
    remoting_port: Port = 9876,
    broker_port: Port = 10911,
    groups: Annotated[
        int | None, Parameter(validator=validators.Number(gte=0, lte=GROUP_COUNT_MAX))
    ] = None,
    replicas: Annotated[
        int | None, Parameter(validator=validators.Number(gte=1, lte=REPLICA_COUNT_MAX))
    ] = None,
) -> None:
    """Run a whole local cluster until you press Ctrl-C; the data stays for the next start.

    The command runs embedded Postgres and Redis, the migrations, the control plane, a worker, the
    scheduler and the broker groups. If a process ends, the command starts it again. The terminal
    then shows the process, the cause and the new start.

    Without --groups and --replicas, the command starts the broker groups that the directory already
    holds. Larger numbers add broker groups and replicas. With a smaller --groups, the other broker
    groups stay stopped and keep their messages. The command refuses a smaller --replicas.

    Examples:
        regent up
        regent up --replicas 3
        regent up --groups 0
        regent up --data /tmp/second --http-port 8081 --remoting-port 9877 --broker-port 11911

    Args:
        data: Directory of all databases, logs and messages. The command creates a missing
            directory.
        http_port: Port of the console, REST and GraphQL.
        remoting_port: Port of the name server and the controller, for RocketMQ clients and brokers.
        broker_port: Port of the first broker. Each further broker group adds 10; each further
            replica adds 200. A broker also uses the port 2 below its own port. With replicas, it
            also uses the port 1 above its own port.
        groups: Number of broker groups. Default in a new directory: 2. The value 0 runs only the
            control plane, for brokers that run elsewhere.
        replicas: Number of brokers in each group. Default in a new directory: 1. With 2 or more,
            the controller elects a master, and replaces a dead master. With 3, two brokers still
            hold each message after one broker dies.
    """
    _keep_bytecode(data.absolute())
    # This import is local, so that other commands start without the databases' packages.
    from backend.supervisor.cluster import ClusterOptions, run_cluster  # noqa: PLC0415

    sys.exit(
        run_cluster(
            ClusterOptions(
                data_dir=data,
                http_port=http_port,
                remoting_port=remoting_port,
                broker_port=broker_port,
                group_count=groups,
                replica_count=replicas,
            ),
        ),
    )


@run.command
def server() -> None:
    """Run the control plane: console, REST, GraphQL, name server and controller.

    The environment variables REGENT_… are its settings.

    Example:
        REGENT_DATABASE_URL=postgresql://… REGENT_REDIS_URL=redis://… regent run server
    """
    _become("backend.server")


@run.command
def worker(
    *, concurrency: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None
) -> None:
    """Run a worker that carries out operations and maintenance.

    Args:
        concurrency: Number of worker processes. Default: 3, for a report, an operation and other
            tasks at the same time.
    """
    chosen = () if concurrency is None else ("--concurrency", str(concurrency))
    _become("celery", "-A", "workers.celery_app", "worker", *chosen)


@run.command
def beat() -> None:
    """Run the scheduler of the periodic tasks; a second scheduler only waits."""
    _become("celery", "-A", "workers.celery_app", "beat")


@run.command
def broker(*, config: Annotated[Path, Parameter(name=["--config", "-c"])]) -> None:
    """Run one broker agent.

    Example:
        regent run broker -c broker.conf

    Args:
        config: Path of a `broker.conf` with RocketMQ's property names.
    """
    _become("workers.broker", "-c", str(config))


@run.command
def container(*, config: Annotated[Path, Parameter(name=["--config", "-c"])]) -> None:
    """Run a broker container: several broker agents in one process.

    Example:
        regent run container -c container.conf

    Args:
        config: Path of a `container.conf` with RocketMQ's property names.
    """
    _become("workers.broker.container", "-c", str(config))


def _keep_bytecode(data_dir: Path) -> None:
    """Keep compiled Python in the data directory if the environment disables its default place.

    Without bytecode, each process compiles every module again at its start. That takes most of the
    CPU time of the start.
    """
    if not sys.dont_write_bytecode:
        return
    directory = str(data_dir / BYTECODE_DIR)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = directory
    # The first start creates the data directory after its checks.
    if data_dir.is_dir():
        sys.pycache_prefix, sys.dont_write_bytecode = directory, False


def _become(module: str, *arguments: str) -> None:
    command = (sys.executable, "-m", module, *arguments)
    os.execv(command[0], command)  # noqa: S606 - our own interpreter and fixed modules
