"""The order in which a local cluster starts, is watched and stops."""

import asyncio
import signal
import sys
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from backend.supervisor import preflight, services
from backend.supervisor.databases import (
    EmbeddedPostgres,
    migrate,
    redis_process,
    redis_socket_path,
)
from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import ClusterLayout, plan_layout
from backend.supervisor.process import ProcessSpec, SupervisedProcess
from backend.supervisor.progress import Progress
from backend.supervisor.state import describe, write_atomically

READY_TIMEOUT_S = 60.0
EXIT_OK = 0
EXIT_CANNOT_START = 1
EXIT_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What the user chose on the command line."""

    data_dir: Path
    http_port: int
    remoting_port: int
    broker_port: int
    group_count: int


def run_cluster(options: ClusterOptions) -> int:
    """Run a local cluster until it is interrupted, and return the exit code of the command."""
    layout = plan_layout(
        data_dir=options.data_dir,
        http_port=options.http_port,
        remoting_port=options.remoting_port,
        broker_port=options.broker_port,
        group_count=options.group_count,
    )
    try:
        preflight.prepare_directories(layout)
        with preflight.exclusive_directory(layout):
            preflight.check_disk(layout)
            preflight.check_ports(layout)
            return asyncio.run(LocalCluster(layout).run())
    except CannotStart as error:
        sys.stderr.write(f"regent up: {error}\n")
        return EXIT_CANNOT_START


class LocalCluster:
    """The processes of one data directory."""

    def __init__(self, layout: ClusterLayout) -> None:
        """Prepare to run `layout`; nothing starts yet."""
        self._layout = layout
        self._progress = Progress()
        self._postgres = EmbeddedPostgres(layout)
        self._processes: list[SupervisedProcess] = []
        self._started_at = datetime.now(UTC)
        self._interrupted = asyncio.Event()

    async def run(self) -> int:
        """Start everything, wait for Ctrl-C or SIGTERM, stop everything in reverse order.

        Raises:
            CannotStart: a part did not start; the parts that did are stopped again.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_interrupt)
        async with AsyncExitStack() as stack:
            starting = asyncio.create_task(self._start(stack))
            interrupt = asyncio.create_task(self._interrupted.wait())
            await asyncio.wait({starting, interrupt}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                starting.cancel()
                await asyncio.wait({starting})
                return EXIT_INTERRUPTED
            starting.result()
            self._announce()
            await interrupt
            self._progress.note("stopping; the data stays")
        self._progress.note("stopped")
        return EXIT_OK

    async def _start(self, stack: AsyncExitStack) -> None:
        layout = self._layout
        secret_made = not layout.bootstrap_secret_path.exists()
        preflight.ensure_bootstrap_secret(layout.bootstrap_secret_path)
        stack.callback(layout.state_path.unlink, missing_ok=True)
        stack.push_async_callback(self._postgres.stop)
        redis = await self._launch(stack, redis_process(layout))
        async with self._progress.step("Postgres and Redis", first_time=secret_made):
            await self._postgres.start()
            socket_path = redis_socket_path(layout)
            await redis.wait_until(lambda: _exists(socket_path), timeout_s=READY_TIMEOUT_S)
        settings = services.environment(
            layout,
            database_url=self._postgres.url,
            redis_url=f"unix://{socket_path}",
        )
        # Brokers need no database: they open their stores while the schema is looked at.
        brokers = []
        for broker in layout.brokers:
            services.write_broker_config(layout, broker)
            spec = services.broker_process(layout, broker, settings)
            brokers.append(await self._launch(stack, spec))
        async with self._progress.step("Database schema"):
            await migrate(settings, layout.log_dir / "migrations.log")
        server = await self._launch(stack, services.server_process(layout, settings))
        worker = await self._launch(stack, services.worker_process(layout, settings))
        beat = await self._launch(stack, services.beat_process(layout, settings))
        # What uses the control plane stops before it does, and all at once.
        stack.push_async_callback(_stop_together, *brokers, worker, beat)
        async with self._progress.step("Control plane"):
            await server.wait_until(
                lambda: services.is_http_ready(layout),
                timeout_s=READY_TIMEOUT_S,
            )
        for broker, process in zip(layout.brokers, brokers, strict=True):
            async with self._progress.step(f"Broker group {broker.group_name}"):
                await process.wait_until(
                    partial(self._is_registered, broker.group_name),
                    timeout_s=READY_TIMEOUT_S,
                )
        async with self._progress.step("Worker and scheduler"):
            await worker.wait_until(
                lambda: services.is_worker_ready(f"unix://{socket_path}"),
                timeout_s=READY_TIMEOUT_S,
            )
        self._write_state()

    async def _launch(self, stack: AsyncExitStack, spec: ProcessSpec) -> SupervisedProcess:
        process = SupervisedProcess(spec, on_change=self._write_state)
        self._processes.append(process)
        stack.push_async_callback(process.stop)
        await process.start()
        return process

    async def _is_registered(self, group_name: str) -> bool:
        return group_name in await services.registered_groups(self._layout)

    def _write_state(self) -> None:
        state = describe(
            self._layout,
            self._processes,
            started_at=self._started_at,
            postgres_pid=self._postgres.pid,
        )
        write_atomically(self._layout.state_path, state)

    def _on_interrupt(self) -> None:
        if self._interrupted.is_set():
            # A second Ctrl-C: the user will not wait for a clean stop.
            for process in self._processes:
                process.kill()
        self._interrupted.set()

    def _announce(self) -> None:
        layout = self._layout
        secret = preflight.ensure_bootstrap_secret(layout.bootstrap_secret_path)
        brokers = ", ".join(f"{b.group_name} at {b.address}" for b in layout.brokers)
        self._progress.facts(
            {
                "Console": layout.http_url,
                "Sign in": f"admin / {secret}",
                "Name server": layout.name_server_address,
                "Brokers": brokers or "none",
                "Java client": f'producer.setNamesrvAddr("{layout.name_server_address}");',
                "Logs": str(layout.log_dir),
                "Stop": f"Ctrl-C; the data stays in {layout.data_dir}",
            },
        )
        self._progress.note("ready")


async def _stop_together(*processes: SupervisedProcess) -> None:
    await asyncio.gather(*(process.stop() for process in processes))


def _exists(path: Path) -> Awaitable[bool]:
    return asyncio.to_thread(path.exists)
