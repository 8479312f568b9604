"""The order in which a local cluster starts, is supervised and stops."""

import asyncio
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from backend.supervisor import preflight, services
from backend.supervisor import process_checks as signs
from backend.supervisor.databases import (
    EmbeddedPostgres,
    migrate,
    redis_process,
    redis_socket_path,
)
from backend.supervisor.errors import CannotStart
from backend.supervisor.groups import BrokerGroups
from backend.supervisor.layout import ClusterLayout, plan_layout
from backend.supervisor.process import ChildProcess, ProcessSpec
from backend.supervisor.progress import Progress
from backend.supervisor.sizes import decide_sizes, find_replica_counts
from backend.supervisor.state import describe, write_atomically
from backend.supervisor.supervision import Part, Supervised

READY_TIMEOUT_S = 60.0
EXIT_OK = 0
EXIT_CANNOT_START = 1
EXIT_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Hold the user's options of the command line; None keeps the state of the directory."""

    data_dir: Path
    http_port: int
    remoting_port: int
    broker_port: int
    group_count: int | None
    replica_count: int | None


def run_cluster(options: ClusterOptions) -> int:
    """Run a local cluster until it is interrupted, and return the exit code of the command."""
    try:
        sizes = decide_sizes(
            find_replica_counts(options.data_dir),
            group_count=options.group_count,
            replica_count=options.replica_count,
        )
        layout = plan_layout(
            data_dir=options.data_dir,
            http_port=options.http_port,
            remoting_port=options.remoting_port,
            broker_port=options.broker_port,
            replica_counts=sizes.replica_counts,
        )
        preflight.prepare_directories(layout)
        with preflight.exclusive_directory(layout):
            preflight.check_disk(layout)
            preflight.check_ports(layout)
            return asyncio.run(LocalCluster(layout, resting=sizes.resting).run())
    except CannotStart as error:
        sys.stderr.write(f"regent up: {error}\n")
        return EXIT_CANNOT_START


class LocalCluster:
    """The processes of one data directory."""

    def __init__(self, layout: ClusterLayout, *, resting: tuple[str, ...]) -> None:
        """Prepare to run `layout`; nothing starts yet."""
        self._layout, self._resting = layout, resting
        self._progress = Progress()
        self._postgres = EmbeddedPostgres(layout)
        self._parts: list[Supervised] = []
        self._clients: list[Supervised] = []
        self._groups = BrokerGroups(layout, self._progress, launch=self._launch)
        self._started_at = datetime.now(UTC)
        self._interrupted = asyncio.Event()

    async def run(self) -> int:
        """Start everything, wait for Ctrl-C, SIGTERM or the terminal's end, stop all in order.

        Raises:
            CannotStart: a part did not start; the parts that did are stopped again.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            # A shell starts a background job with SIGINT ignored; the job must still stop.
            loop.add_signal_handler(number, self._on_interrupt)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            # Under nohup SIGHUP is ignored, so the cluster survives its terminal.
            loop.add_signal_handler(signal.SIGHUP, self._on_interrupt)
        async with AsyncExitStack() as stack:
            starting = asyncio.create_task(self._start(stack))
            interrupt = asyncio.create_task(self._interrupted.wait())
            await asyncio.wait({starting, interrupt}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
                await asyncio.wait({starting})
                return EXIT_INTERRUPTED
            starting.result()
            await self._announce()
            await interrupt
            self._progress.note("stopping; the data is kept")
        self._progress.note("stopped")
        return EXIT_OK

    async def _start(self, stack: AsyncExitStack) -> None:
        layout = self._layout
        secret_made = not layout.bootstrap_secret_path.exists()
        preflight.ensure_bootstrap_secret(layout.bootstrap_secret_path)
        stack.callback(layout.state_path.unlink, missing_ok=True)
        stack.push_async_callback(self._stop)
        redis = await self._launch(redis_process(layout))
        socket_path = redis_socket_path(layout)
        async with self._progress.step("Postgres and Redis", first_time=secret_made):
            await self._keep(self._postgres)
            await redis.wait_until(
                partial(signs.takes_socket_connections, socket_path),
                timeout_s=READY_TIMEOUT_S,
            )
        settings = services.environment(
            layout,
            database_url=self._postgres.url,
            redis_url=f"unix://{socket_path}",
        )
        # Brokers need no database: they open their stores during the schema check.
        await self._groups.begin(settings)
        async with self._progress.step("Database schema"):
            await migrate(settings, layout.log_dir / "migrations.log")
        server = await self._launch(services.server_process(layout, settings))
        worker = await self._launch(services.worker_process(layout, settings))
        beat = await self._launch(services.beat_process(layout, settings))
        self._clients = [worker, beat]
        async with self._progress.step("Control plane"):
            await server.wait_until(
                partial(signs.is_http_ready, layout),
                timeout_s=READY_TIMEOUT_S,
            )
        await self._groups.complete()
        async with self._progress.step("Worker and scheduler"):
            await worker.wait_until(
                partial(signs.is_worker_ready, f"unix://{socket_path}"),
                timeout_s=READY_TIMEOUT_S,
            )
        self._write_state()

    async def _launch(self, spec: ProcessSpec) -> Supervised:
        return await self._keep(ChildProcess(spec))

    async def _keep(self, part: Part) -> Supervised:
        supervised = Supervised(part, show=self._progress.note, on_change=self._write_state)
        self._parts.append(supervised)
        await supervised.start()
        return supervised

    async def _stop(self) -> None:
        """Stop the users of the control plane, then the control plane, and the databases last.

        If a part fails to stop, the others are still stopped; then the error is raised.
        """
        async with AsyncExitStack() as stops:
            for supervised in self._parts:
                stops.push_async_callback(supervised.stop)
            await asyncio.gather(self._groups.stop(), *(client.stop() for client in self._clients))

    def _write_state(self) -> None:
        path = self._layout.state_path
        state = describe(self._layout, self._parts, started_at=self._started_at)
        try:
            write_atomically(path, state)
        except OSError as error:
            # Only tools need the file; on a full disk the cluster still runs.
            self._progress.note(f"{path} is out of date: {error.strerror}")

    def _on_interrupt(self) -> None:
        if self._interrupted.is_set():
            # A second Ctrl-C: the user does not want to wait for a clean stop.
            for supervised in self._parts:
                supervised.kill()
        self._interrupted.set()

    async def _announce(self) -> None:
        layout = self._layout
        address = layout.name_server_address
        secret = preflight.ensure_bootstrap_secret(layout.bootstrap_secret_path)
        brokers = await self._groups.describe() or {
            "Brokers": f"none; in the broker.conf of yours: namesrvAddr={address} and, for a group"
            f" of replicas, enableControllerMode=true and controllerAddr={address}",
        }
        self._progress.facts(
            {
                "Console": layout.http_url,
                "Sign in": f"admin / {secret}",
                "Name server": address,
                **brokers,
                "Java client": f'producer.setNamesrvAddr("{address}");',
                "Logs": str(layout.log_dir),
                "Stop": f"Ctrl-C; the data is kept in {layout.data_dir}",
            },
        )
        if self._resting:
            names = ", ".join(self._resting)
            self._progress.note(f"{names}: not asked for and not running; the messages stay")
        self._progress.note("ready")
