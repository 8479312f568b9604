"""The commands that start processes: `regent up` and `regent run …`.

Every other command talks to a running cluster over REST; these make one. They replace the
command line's own process, so that signals, exit codes and process ids are the real ones.
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
    """Run a whole local cluster until Ctrl-C; the data stays for the next start.

    Embedded Postgres and Redis, migrations, control plane, worker, beat and the broker groups. A
    part that ends is started again, and the terminal says which, why, and when it is up again.

    What a directory has stays: without --groups and --replicas the same groups start again. More
    are added. Groups that are not asked for rest, with their messages. Fewer replicas are refused.

    Examples:
        regent up
        regent up --replicas 3
        regent up --groups 0
        regent up --data /tmp/second --http-port 8081 --remoting-port 9877 --broker-port 11911

    Args:
        data: Directory that holds everything: databases, logs, messages. Made when absent.
        http_port: Port of the console, REST and GraphQL.
        remoting_port: Port of the name server and controller, to which RocketMQ clients and brokers
            are pointed.
        broker_port: Port of the first broker. Each further group is 10 above, each further replica
            200 above; a broker also takes the port 2 below its own and, in a group of replicas, the
            next one.
        groups: Number of broker groups; 2 in a new directory. 0 runs the control plane alone, for
            brokers that come from outside.
        replicas: Number of brokers of each group; 1 in a new directory. From 2 on the controller
            elects a master, and replaces it when it dies; of 3, two still hold each message then.
    """
    _keep_bytecode(data.absolute())
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
                replica_count=replicas,
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
def worker(
    *, concurrency: Annotated[int | None, Parameter(validator=validators.Number(gte=1))] = None
) -> None:
    """Run a worker that carries out operations and maintenance.

    Args:
        concurrency: Number of worker processes; 3 when left out: one for a report, one for an
            operation, one for the rest.
    """
    chosen = () if concurrency is None else ("--concurrency", str(concurrency))
    _become("celery", "-A", "workers.celery_app", "worker", *chosen)


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


def _keep_bytecode(data_dir: Path) -> None:
    """Keep compiled Python in the data directory where the environment forbids it elsewhere.

    Without bytecode a start compiles every module again in each of its processes: that takes most
    of the start's CPU time.
    """
    if not sys.dont_write_bytecode:
        return
    directory = str(data_dir / BYTECODE_DIR)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = directory
    # The first start makes the data directory after its checks, not before.
    if data_dir.is_dir():
        sys.pycache_prefix, sys.dont_write_bytecode = directory, False


def _become(module: str, *arguments: str) -> None:
    command = (sys.executable, "-m", module, *arguments)
    os.execv(command[0], command)  # noqa: S606 - our own interpreter and fixed modules
