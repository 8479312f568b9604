"""Keep one broker of a container: start it, start it again after an error, and stop it.

A supervisor starts the process of a single broker again. Here the container does that, so that the
other brokers go on.
"""

import asyncio
import contextlib
import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog

from backend.rules.broker import MASTER_ID
from workers.broker.commit_log.elapsed import elapsed_s
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.declaration import InvalidSetting
from workers.broker.configuration.settings import BrokerSettings, LoadedSettings
from workers.broker.container.own_container import OwnContainer
from workers.broker.errors import Refusal
from workers.broker.process import UNUSABLE, reason_of
from workers.broker.server import BrokerServer

PAUSE_FIRST_S: Final = 1.0
PAUSE_MAX_S: Final = 30.0

T = TypeVar("T")

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class BrokerKey:
    """The name of a broker within its container, as its file says it."""

    cluster_name: str
    broker_name: str
    broker_id: int

    def __str__(self) -> str:
        """Write the name as stock does."""
        return f"{self.cluster_name}_{self.broker_name}_{self.broker_id}"


def key_of(settings: BrokerSettings) -> BrokerKey:
    """Return the name of a broker by its settings."""
    return BrokerKey(settings.cluster_name, settings.broker_name, settings.broker_id)


def address_of(settings: BrokerSettings) -> str:
    """Return the address that a broker registers."""
    return f"{settings.advertised_ip}:{settings.listen_port}"


class InnerBroker:
    """One broker of a container; belongs to the loop's thread."""

    def __init__(
        self,
        path: Path,
        settings: BrokerSettings,
        read: Callable[[], LoadedSettings],
        own: OwnContainer,
    ) -> None:
        self.path, self.key = path, key_of(settings)
        self._settings = settings
        self.server: BrokerServer | None = None
        self.failure = ""
        self._read, self._own = read, own
        self._keeping: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()
        # Every line of the log names the broker, also that of a thread or of a connection.
        self._context = contextvars.copy_context()
        self._context.run(
            structlog.contextvars.bind_contextvars,
            broker_name=self.key.broker_name,
            broker_id=self.key.broker_id,
        )

    @property
    def address(self) -> str:
        """Return where the broker listens, or is to listen."""
        return address_of(self._settings if self.server is None else self.server.settings)

    @property
    def is_master(self) -> bool:
        """Return whether this broker leads its group now."""
        if self.server is None:
            return False
        membership = self.server.broker.membership
        if self.server.settings.controller_mode:
            # Before it has joined its group, it has no id, and so that of a master.
            return membership.epoch is not None
        return membership.role_id == MASTER_ID

    @property
    def own_id(self) -> int | None:
        """Return the id in its group; None until its controller has said it."""
        settings = self._settings if self.server is None else self.server.settings
        if not settings.controller_mode:
            return self.key.broker_id
        return None if self.server is None else self.server.broker.membership.own_id or None

    async def open(self) -> None:
        """Start the broker; its store is opened on a thread.

        Raises:
            UNUSABLE: it can't start; nothing of it is left.
            Refusal: its file can't be used any more.
        """
        await self._run(self._open())

    def keep(self) -> None:
        """Start it again after each error from now on, until it is stopped."""
        self._keeping = asyncio.create_task(self._keep(), context=self._context)

    async def stop(self) -> bool:
        """Stop it cleanly for good; return whether its store is closed cleanly."""
        # A start is not cancelled: a thread would leave an open store behind.
        self._stopped.set()
        if self._keeping is not None:
            await self._keeping
        return await self._run(self._close())

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.create_task(work, context=self._context)

    async def _open(self) -> None:
        # A recovery takes seconds, in which the other brokers must go on.
        server = await asyncio.to_thread(self._build)
        try:
            await server.start()
        except BaseException:
            await server.close()
            raise
        self.server, self.failure = server, ""

    def _build(self) -> BrokerServer:
        loaded = self._read()
        if (found := key_of(loaded.settings)) != self.key:
            raise InvalidSetting("configuration file", str(self.path), f"names {found} now")
        if loaded.unused:
            log.info("properties_without_effect", names=list(loaded.unused))
        return BrokerServer(
            loaded.settings,
            given=loaded.given,
            config_file=ConfigFile(self.path),
            container=self._own,
        )

    async def _close(self) -> bool:
        server, self.server = self.server, None
        if server is None:
            return True
        (error,) = await asyncio.gather(server.close(), return_exceptions=True)
        if isinstance(error, Exception):
            log.error("broker_not_closed", exc_info=error)
        return error is None and not server.failed.is_set()

    async def _keep(self) -> None:
        pause_s = PAUSE_FIRST_S
        while not self._stopped.is_set():
            if self.server is None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):
                        await self._stopped.wait()
                    return
                pause_s = min(2 * pause_s, PAUSE_MAX_S)
                await self.try_open()
                continue
            begun_s = elapsed_s()
            await self._await_end(self.server)
            if self.server.failed.is_set() and not self._stopped.is_set():
                self.failure = "it ended by an error, which its log names"
                log.error("broker_failed", reason=self.failure)
                await self._close()
                if elapsed_s() - begun_s > PAUSE_MAX_S:
                    pause_s = PAUSE_FIRST_S

    async def _await_end(self, server: BrokerServer) -> None:
        endings = [asyncio.ensure_future(one.wait()) for one in (server.failed, self._stopped)]
        try:
            await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for ending in endings:
                ending.cancel()

    async def try_open(self) -> None:
        """Start the broker; after any error it is kept without one, and the other ones go on."""
        (error,) = await asyncio.gather(self.open(), return_exceptions=True)
        if isinstance(error, Exception):
            self.failure = reason_of(error)
            is_known = isinstance(error, (*UNUSABLE, Refusal))
            cause = {} if is_known else {"exc_info": error}
            self._context.run(log.error, "broker_not_started", reason=self.failure, **cause)
