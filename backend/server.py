"""Run the control plane: the HTTP door and the name server in one process, on one event loop.

An error that a person can fix gives one clear line and an exit code other than zero. Examples are a
setting, a port in use, or a store that does not answer. SIGTERM and Ctrl-C stop the process within
seconds.
"""

import gc

# Imports make objects that stay. Collections over them took a sixth of the start's CPU time.
gc.disable()

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final

import structlog
import uvicorn
import uvloop
from fastapi import FastAPI
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError

from backend.api.app import create_app
from backend.api.attempts import AttemptLimiter
from backend.api.context import ApiContext, NameServerView
from backend.api.feeds import Feed
from backend.bootstrap import Resources, add_bootstrap_user, open_resources
from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.logging import configure_logging
from backend.nameserver.server import NameServer
from backend.open_files import allow_open_files
from backend.services.access.passwords import PasswordVerifier
from backend.services.cluster import topology
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from backend.services.samples import observe
from backend.services.upkeep.event_feed import EventFeed
from backend.settings import ServerSettings, faults_of

EXIT_FAILED: Final = 1
EXIT_MISUSED: Final = 2
REQUESTS_AT_ONCE_MAX: Final = 2_000
KEEP_ALIVE_S: Final = 75
"""Longer than clients and proxies keep an idle connection. The client must close it first, or a
request that is just being sent is lost."""
HTTP_BACKLOG: Final = 1024
COLLECTION_THRESHOLDS: Final = (10_000, 20, 20)
"""Objects made before the youngest are looked through, and how often before the next older."""

log = structlog.get_logger(__name__)


class CannotStart(Exception):
    """The process can't start for a reason that a person can put right."""

    def __init__(self, reason: str, *, exit_code: int) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


def main() -> int:
    """Run until a signal stops the process; return the exit code."""
    try:
        settings = _read_settings()
        configure_logging(settings.log_format)
        allow_open_files()
        uvloop.run(run(settings))
    except CannotStart as error:
        print(f"regent server: {error}", file=sys.stderr)  # noqa: T201 - the one clear line
        return error.exit_code
    return 0


async def run(settings: ServerSettings) -> None:
    """Serve until a signal comes.

    Raises:
        CannotStart: a port is in use, or a store does not answer.
    """
    async with open_resources(settings) as resources:
        await _prepare(settings, resources)
        with _listen(settings.http_host, settings.http_port) as http_socket:
            # The port is tried first, so that what follows can't fail for it halfway.
            _listen(settings.remoting_host, settings.remoting_port).close()
            name_server = NameServer(
                database=resources.database,
                redis=resources.redis,
                clock=resources.clock,
                lease_policy=settings.lease_policy,
                unclean_election_allowed=settings.unclean_election_allowed,
            )
            async with _open_context(settings, resources, name_server) as context:
                # The event loop stands still for seconds here, so no broker may wait yet.
                app = create_app(context)
                # What was imported lasts as long as the process: no collection need look at it.
                gc.freeze()
                async with name_server.listening(settings.remoting_host, settings.remoting_port):
                    await _serve_http(app, context, http_socket)
    log.info("server_stopped")


def _spare_the_collector() -> None:
    """Take what was imported and set up out of every later collection, and make whole ones rarer.

    A whole one went through the schemas and models each time, 150 to 200 ms in which nothing was
    answered, every few seconds under load.
    """
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    gc.enable()


async def _prepare(settings: ServerSettings, resources: Resources) -> None:
    try:
        await add_bootstrap_user(settings.bootstrap_secret_file, resources)
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", error)).strip().splitlines()[0]
        message = f"the database is not ready ({reason}); has `python -m migrations` run?"
        raise CannotStart(message, exit_code=EXIT_FAILED) from error
    except OSError as error:
        message = f"cannot read the bootstrap secret: {error}"
        raise CannotStart(message, exit_code=EXIT_MISUSED) from error
    except UnicodeDecodeError:
        # The error itself would reveal a byte of it.
        file = settings.bootstrap_secret_file
        message = f"cannot read the bootstrap secret: {file} is no UTF-8 text"
        raise CannotStart(message, exit_code=EXIT_MISUSED) from None


@contextlib.asynccontextmanager
async def _open_context(
    settings: ServerSettings, resources: Resources, name_server: NameServerView
) -> AsyncIterator[ApiContext]:
    client = RemotingClient()
    brokers = Brokers(client)
    client_snapshots = ClientSnapshots(resources.database, brokers, resources.clock)
    try:
        yield ApiContext(
            settings=settings,
            database=resources.database,
            redis=resources.redis,
            clock=resources.clock,
            task_queue=resources.task_queue,
            name_server=name_server,
            brokers=brokers,
            client_snapshots=client_snapshots,
            verifier=PasswordVerifier(),
            attempts=AttemptLimiter(asyncio.get_running_loop().time),
            samples=Feed("samples", lambda: observe(resources.redis)),
            topology=Feed("topology", lambda: topology.watch(resources.redis)),
            events=EventFeed(resources.database),
        )
    finally:
        await client_snapshots.aclose()
        await client.aclose()


async def _serve_http(app: FastAPI, context: ApiContext, http_socket: socket.socket) -> None:
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=REQUESTS_AT_ONCE_MAX,
        backlog=HTTP_BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=max(1, context.settings.shutdown_deadline_ms // 1000),
    )
    server = _Server(config, on_stop=context.events.end)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.stop)
    host, port = http_socket.getsockname()[:2]
    _spare_the_collector()
    remoting = context.name_server.describe().address
    log.info("server_started", http=f"{host}:{port}", remoting=remoting)
    try:
        await server.serve(sockets=[http_socket])
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


class _Server(uvicorn.Server):
    """Leave signals to us: uvicorn would raise them again before the name server has closed."""

    def __init__(self, config: uvicorn.Config, *, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    def stop(self) -> None:
        """Ask to stop; asked twice, do not wait for requests."""
        # Streams have no end that could be awaited.
        self._on_stop()
        self.force_exit = self.should_exit
        self.should_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _read_settings() -> ServerSettings:
    try:
        return ServerSettings()
    except ValidationError as error:
        raise CannotStart(faults_of(error), exit_code=EXIT_MISUSED) from error


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Only listening finds out that another process listens already.
        listener.listen(HTTP_BACKLOG)
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        message = f"cannot listen on {host}:{port}: {reason.lower()}"
        raise CannotStart(message, exit_code=EXIT_MISUSED) from error
    listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return listener


if __name__ == "__main__":
    sys.exit(main())
