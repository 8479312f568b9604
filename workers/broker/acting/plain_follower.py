"""Copy the log of a master with a fixed role (storage-and-ha.md 9.2).

The protocol has no epochs, so neither end can prove that one log continues the other. What a master
of ours says of its log is compared with this one, and the last record with the master's. A log that
does not fit is left as it is.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
import structlog
from regent_engine import ProtocolError, ReplicaLink, Store, StoreError

from backend.remoting.address import Address
from backend.remoting.bodies.controller import HaClientBody
from backend.remoting.errors import RemotingError
from backend.remoting.headers.replication import HaInfoAnswer
from workers.broker.acting.last_record import LogEnd, crc_of_record, find_log_end
from workers.broker.commit_log.flusher import Flusher
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.replication.follower import (
    NEWS_REST_S,
    RETRY_FIRST_S,
    RETRY_MAX_S,
    open_socket,
    report_durable,
)
from workers.broker.replication.log_copying import Copying
from workers.broker.replication.master_inquiry import ask_master
from workers.broker.requests.finishing import finish

HEARTBEAT_COUNT_MISSED: Final = 2

NEXT_STEP: Final = (
    "Stop both brokers. To keep the messages of the replica, put a copy of its store in place of"
    " the master's. To give them up, keep a copy of its store, and give the replica an empty one"
    " (docs/maintenance.md, Groups without a controller)"
)
"""What an operator decides if two logs differ: no broker removes acknowledged messages itself."""

log = structlog.get_logger()


class PlainFollower:
    """This broker as a replica of one master."""

    def __init__(
        self,
        store: Store,
        settings: BrokerSettings,
        *,
        master_address: str,
        flusher: Flusher,
        on_held: Callable[[int], None],
        on_master: Callable[[HaInfoAnswer], None],
    ) -> None:
        """Take the functions for the end of the copied log, and for what the master says of it."""
        self._store, self._settings, self.master_address = store, settings, master_address
        self._flusher, self._on_held, self._on_master = flusher, on_held, on_master
        self._copying: Copying | None = None
        self._obstacle = ""
        self.is_controlled = False
        """Whether the master is in controller mode: its log comes once it is in this mode."""

    @property
    def is_copying(self) -> bool:
        """Return whether the log is being copied."""
        return self._copying is not None

    @property
    def hears_master(self) -> bool:
        """Return whether the master has sent something lately: it writes or beats in a period."""
        limit_s = HEARTBEAT_COUNT_MISSED * self._settings.ha_heartbeat_interval_ms / 1000
        return self._copying is not None and self._copying.silent_s < limit_s

    @property
    def obstacle(self) -> str:
        """Return why the log is not being copied; empty while it is."""
        return "" if self._copying is not None else self._obstacle

    def describe(self, now_ms: int) -> HaClientBody:
        """Describe how this broker follows its master, at a time of the wall clock (907)."""
        copying = self._copying
        if copying is None:
            return HaClientBody(
                master_address=self.master_address,
                max_offset=self._store.max_position,
                obstacle=self._obstacle or msgspec.UNSET,
            )
        return copying.describe(self.master_address, self._store.max_position, now_ms)

    async def run(self) -> None:
        """Stay connected until cancelled."""
        retry_s, reported = RETRY_FIRST_S, ""
        while True:
            try:
                await self._follow()
            except (OSError, TimeoutError, ProtocolError, StoreError, RemotingError) as error:
                self._obstacle = str(error) or type(error).__name__
            if self._obstacle != reported:
                log.warning("master_lost", master=self.master_address, reason=self._obstacle)
            reported = self._obstacle
            await asyncio.sleep(retry_s)
            retry_s = min(retry_s * 2, RETRY_MAX_S)

    async def _follow(self) -> None:
        own = await asyncio.to_thread(find_log_end, self._store)
        master = await ask_master(self.master_address, record_position=own.last_record)
        await asyncio.to_thread(check_is_continued, self._store, master, own)
        self.is_controlled = master.master_epoch is not None
        if self.is_controlled:
            raise ConnectionError(
                f"the master {self.master_address} is in controller mode: this replica waits until"
                " it is in the mode of this one"
            )
        configured = self._settings.master_ha_address
        ha_address = master.master_ha_address or ""
        if configured is not None:
            ha_address = _spelled(configured)
        if self._settings.flush_mode == "sync":
            # The first report covers the whole log.
            await asyncio.to_thread(self._store.flush)
        with await open_socket(ha_address) as master_socket:
            is_synced = self._settings.flush_mode == "sync"
            copying = Copying(
                ReplicaLink.plain(self._store),
                master_socket,
                # Data is reported only once it is on the disk.
                reports_appended=not is_synced,
                rest_s=0 if is_synced else NEWS_REST_S,
                on_progress=self._on_progress,
            )
            log.info("following_master", master=self.master_address, ha_address=ha_address)
            self._on_master(master)
            try:
                self._copying, self._obstacle = copying, ""
                while True:
                    await copying.tick(self._settings)
            finally:
                self._copying = None
                await finish(copying.end())
                # The news of the last part may not have been looked at.
                self._on_held(self._store.max_position)

    def _on_progress(self, copying: Copying, _confirmed: int) -> None:
        """Report the data, on the disk if flushes are required, and show it to readers."""
        end = self._store.max_position
        if self._settings.flush_mode == "sync":
            self._flusher.when_durable(end, partial(report_durable, copying, end))
        self._on_held(end)


def check_is_continued(store: Store, master: HaInfoAnswer, own: LogEnd) -> None:
    """Check that the log of a master of ours continues this one, as both were before.

    Raises:
        ConnectionError: it does not.
    """
    end, last = own.position, own.last_record
    if end == 0:
        return
    if master.master_max_offset is not None and end > master.master_max_offset:
        raise ConnectionError(
            f"this log ends at {end}, and the master's at {master.master_max_offset}: the"
            f" master lost messages that this replica has. {NEXT_STEP}"
        )
    if master.master_min_offset is not None and end < master.master_min_offset:
        raise ConnectionError(
            f"this log ends at {end}, and the master's begins at {master.master_min_offset}:"
            " give this replica an empty store"
        )
    if last is None or master.record_crc is None or last < (master.master_min_offset or 0):
        # RocketMQ sends no checksum, and a record that expired has none.
        return
    if master.record_crc != crc_of_record(store, last):
        raise ConnectionError(
            f"the master has another record at log position {last}: it lost messages that this"
            f" replica has, or their stores are of two groups. {NEXT_STEP}"
        )


def _spelled(address: Address) -> str:
    host, port = address
    return f"{host}:{port}"
