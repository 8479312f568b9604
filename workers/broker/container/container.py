"""Run the brokers of a container, add and remove them, and keep their list in a file."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import structlog

from backend.remoting.bodies.containers import BrokerFileBody, InnerBrokerBody
from backend.remoting.response_code import ResponseCode
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.container.broker_files import (
    check_path,
    check_store,
    find_obstacles,
    read_broker_file,
)
from workers.broker.container.inner_broker import BrokerKey, InnerBroker, address_of, key_of
from workers.broker.container.own_container import LiveMaster
from workers.broker.container.settings import (
    CONFIG_PATHS,
    PATH_SEPARATOR,
    LoadedContainer,
    split_paths,
)
from workers.broker.errors import Refusal
from workers.broker.process import reason_of

log = structlog.get_logger()


class Container:
    """The brokers of one process; belongs to the loop's thread."""

    def __init__(self, loaded: LoadedContainer, file: ConfigFile, *, address: str) -> None:
        """Take the container's file, which gets the list of its brokers, and its address."""
        self.settings, self.given, self.address = loaded.settings, loaded.given, address
        self._file = file
        self._brokers: dict[BrokerKey, InnerBroker] = {}
        # Files of the list that name no broker, by path: why.
        self._unusable: dict[Path, str] = {}
        # One broker is added or removed at a time.
        self._changing = asyncio.Lock()
        self._is_closing = False

    async def start(self) -> None:
        """Start the brokers of the list; an error of one of them does not stop the other ones."""
        async with self._changing:
            await asyncio.to_thread(self._read_list)
            await asyncio.gather(*(one.try_open() for one in self._brokers.values()))
            for one in self._brokers.values():
                one.keep()

    async def close(self) -> bool:
        """Stop all brokers, replicas first; return whether all stores are closed cleanly."""
        self._is_closing = True
        async with self._changing:
            masters = [one for one in self._brokers.values() if one.is_master]
            others = [one for one in self._brokers.values() if one not in masters]
            are_clean = await _stop(others) + await _stop(masters)
            self._brokers.clear()
        return all(are_clean)

    async def add(self, path_text: str) -> None:
        """Run one more broker, now and after each start of the container.

        Raises:
            Refusal: the container can't run it; nothing has changed.
        """
        path = check_path(path_text)
        async with self._changing:
            self._check_open()
            loaded = await asyncio.to_thread(read_broker_file, path, self.settings)
            key = key_of(loaded.settings)
            if (reason := self._presence_of(key, path)) is not None:
                raise _refusal(reason)
            await asyncio.to_thread(check_store, loaded.settings)
            inner = self._inner(path, loaded.settings)
            await inner.try_open()
            if inner.failure:
                raise _refusal(f"Failed to initialize broker {key}: {inner.failure}")
            try:
                await asyncio.to_thread(self._relist, path, is_listed=True)
            except OSError as error:
                await inner.stop()
                raise _refusal(f"the list of brokers is not written: {reason_of(error)}") from error
            self._unusable.pop(path, None)
            self._brokers[key] = inner
            inner.keep()
            log.info("broker_added", broker=str(key), path=str(path))

    async def examine(self, path_text: str) -> BrokerFileBody:
        """Say which broker a file names, and why it could not be added now; change nothing.

        Raises:
            Refusal: the file can't be read, or a container can't run a broker with its settings.
        """
        path = check_path(path_text)
        loaded = await asyncio.to_thread(read_broker_file, path, self.settings)
        settings, key = loaded.settings, key_of(loaded.settings)
        presence = self._presence_of(key, path)
        # The ports and the store of a broker that is there are in use by itself.
        obstacles = [presence] if presence else await asyncio.to_thread(find_obstacles, settings)
        return BrokerFileBody(
            path=str(path),
            cluster_name=key.cluster_name,
            broker_name=key.broker_name,
            broker_id=key.broker_id,
            address=address_of(settings),
            is_controlled=settings.controller_mode,
            problems=obstacles,
        )

    async def remove(self, key: BrokerKey) -> None:
        """Stop a broker and take it off the list; its store and its file stay.

        Raises:
            Refusal: there is no such broker, or the list can't be written; nothing has changed.
        """
        async with self._changing:
            self._check_open()
            inner = self._find(key)
            if inner is None:
                reason = f"Broker not exist: {self.address} has no broker {key}"
                raise Refusal(ResponseCode.BROKER_NOT_EXIST, reason)
            try:
                await asyncio.to_thread(self._relist, inner.path, is_listed=False)
            except OSError as error:
                raise _refusal(f"the list of brokers is not written: {reason_of(error)}") from error
            del self._brokers[inner.key]
            is_clean = await inner.stop()
            log.info("broker_removed", broker=str(inner.key), is_clean=is_clean)

    def describe(self) -> list[InnerBrokerBody]:
        """Describe the brokers of the list, also those that do not run."""
        described = [
            InnerBrokerBody(
                cluster_name=key.cluster_name,
                broker_name=key.broker_name,
                broker_id=key.broker_id if inner.own_id is None else inner.own_id,
                is_id_known=inner.own_id is not None,
                id_in_file=key.broker_id,
                address=inner.address,
                is_master=inner.is_master,
                path=str(inner.path),
                failure=inner.failure,
            )
            for key, inner in self._brokers.items()
        ]
        unusable = [
            InnerBrokerBody(path=str(path), failure=reason)
            for path, reason in self._unusable.items()
        ]
        return described + unusable

    def list_masters(self) -> list[LiveMaster]:
        """List the brokers that lead their groups and take messages now."""
        return [
            LiveMaster(one.server.broker, one.server.dispatcher.dispatch)
            for one in self._brokers.values()
            if one.is_master and one.server is not None and one.server.broker.is_writable
        ]

    def _read_list(self) -> None:
        for text in self.settings.config_paths:
            self._list(Path(text).absolute())

    def _list(self, path: Path) -> None:
        """Take a broker of the list, unless its file does not say which one it is."""
        try:
            settings = read_broker_file(path, self.settings).settings
        except Refusal as error:
            self._note_unusable(path, str(error))
            return
        key = key_of(settings)
        if key in self._brokers:
            self._note_unusable(path, f"{self._brokers[key].path} names the same broker {key}")
            return
        self._brokers[key] = self._inner(path, settings)

    def _note_unusable(self, path: Path, reason: str) -> None:
        self._unusable[path] = reason
        log.error("broker_not_started", path=str(path), reason=reason)

    def _inner(self, path: Path, settings: BrokerSettings) -> InnerBroker:
        return InnerBroker(path, settings, partial(read_broker_file, path, self.settings), self)

    def _find(self, key: BrokerKey) -> InnerBroker | None:
        """Return a broker by the id of its file, or by the one that its controller gave it."""
        own_keys = (
            inner
            for inner in self._brokers.values()
            if inner.own_id is not None
            and key == BrokerKey(inner.key.cluster_name, inner.key.broker_name, inner.own_id)
        )
        return self._brokers.get(key) or next(own_keys, None)

    def _presence_of(self, key: BrokerKey, path: Path) -> str | None:
        """Return that a broker is there already; None if it is not."""
        if key in self._brokers or path in {one.path for one in self._brokers.values()}:
            return f"{key} has already been added to current broker container"
        return None

    def _check_open(self) -> None:
        if self._is_closing:
            raise _refusal("the container is stopping")

    def _relist(self, path: Path, *, is_listed: bool) -> None:
        """Write the list of brokers with or without a file; an operator may have changed it."""
        present = split_paths(self._file.read().get(CONFIG_PATHS, ""))
        kept = [one for one in present if Path(one).absolute() != path]
        listed = [*kept, str(path)] if is_listed else kept
        self._file.change({CONFIG_PATHS: PATH_SEPARATOR.join(listed) or None})


async def _stop(brokers: Sequence[InnerBroker]) -> list[bool]:
    return await asyncio.gather(*(one.stop() for one in brokers))


def _refusal(reason: str) -> Refusal:
    return Refusal(ResponseCode.SYSTEM_ERROR, reason)
