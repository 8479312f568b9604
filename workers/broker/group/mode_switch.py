"""Take another mode of the broker group with the next start (D16).

The order is written to the disk before the settings, and is carried out at the start, before the
store is opened. A broker that founds takes its whole log as epoch 0. So logs that are beginnings of
one log stay comparable, and what a former controller knew of them is dropped. Each part can be done
twice: after a crash the next start repeats it.
"""

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final

import structlog

from backend.durable_files import replace_file
from backend.remoting.errors import RemotingError
from backend.remoting.headers.replication import HaInfoHeader
from backend.remoting.java_json import InvalidJson
from backend.rules.group_mode import GroupMode
from backend.rules.mode_switch import ORDER_NAME, SwitchOrder
from workers.broker.acting.taking_over import announce, take_over
from workers.broker.broker import Broker
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.replication.confirmed_mark import FILE_NAME as CONFIRMED_NAME
from workers.broker.replication.identity import FILE_NAME as IDENTITY_NAME
from workers.broker.replication.identity import PENDING_SUFFIX, STOCK_FILE_NAME

EPOCH_FILE_NAME: Final = "epochFileCheckpoint"
ATTEMPT_COUNT: Final = 3
ATTEMPT_PAUSE_S: Final = 0.5

_OF_FORMER_CONTROLLER: Final = (
    CONFIRMED_NAME,
    IDENTITY_NAME,
    IDENTITY_NAME + PENDING_SUFFIX,
    STOCK_FILE_NAME,
    EPOCH_FILE_NAME + ".bak",
)

log = structlog.get_logger()


def mode_of(settings: BrokerSettings) -> GroupMode:
    """Return the mode of the group that settings are of."""
    if settings.controller_mode:
        return GroupMode.CONTROLLER
    return GroupMode.ACTING_MASTER if settings.acts_as_master else GroupMode.STATIC


def write_order(root: Path, order: SwitchOrder) -> None:
    """Write an order; it is on the disk when this returns.

    Raises:
        OSError: the disk refused.
    """
    replace_file(root / ORDER_NAME, order.encode())


def begin_switch(settings: BrokerSettings) -> SwitchOrder | None:
    """Carry out the part of an order that comes before the store is opened; None without one.

    Only a start under a controller has such a part. The order of another start is dropped.

    Raises:
        OSError: the disk refused.
    """
    root = settings.root_dir
    order = _read(root)
    if order is None or not settings.controller_mode:
        _drop(root)
        return None
    if order.founds and not order.is_founded:
        _found(root, settings.log_dir)
        order = order.founded()
        write_order(root, order)
        log.info("log_is_epoch_0", store=str(root))
    return order


async def conclude_switch(broker: Broker, order: SwitchOrder, own: HaInfoHeader) -> None:
    """Take over what the other members did while this master was absent, and drop the order.

    The other members hear first that this master, of these addresses, is about to serve. So what
    they let escape until then is known here. A member that can't be reached gives the master what
    it has when it comes back.

    Raises:
        OSError: the disk refused.
    """
    if not order.others:
        _drop(broker.settings.root_dir)
        return
    for address in order.others:
        await _repeat(partial(announce, address, own), address, "master_not_announced")
    for address in order.others:
        await _repeat(partial(take_over, broker, address), address, "replica_state_not_taken_over")
    # The files have it until the log does; this broker is about to be the master.
    broker.offsets.forget_acted()
    broker.state.delays.is_in_log = False
    await broker.state.save_offsets()
    await broker.state.save_delays()
    _drop(broker.settings.root_dir)


async def _repeat(ask: Callable[[], Awaitable[None]], address: str, failed_event: str) -> None:
    """Ask a member; after some failed attempts go on without it."""
    for attempt in range(ATTEMPT_COUNT):
        try:
            return await ask()
        except (OSError, TimeoutError, RemotingError, InvalidJson) as error:
            reason = str(error) or "there is no answer in time"
            log.warning(failed_event, replica=address, reason=reason)
        if attempt < ATTEMPT_COUNT - 1:
            await asyncio.sleep(ATTEMPT_PAUSE_S)
    return None


def _found(root: Path, log_dir: Path) -> None:
    """Make the whole log epoch 0 (FORMAT.md section 8)."""
    for name in _OF_FORMER_CONTROLLER:
        (root / name).unlink(missing_ok=True)
    if not any(log_dir.glob("[0-9]*")):
        (root / EPOCH_FILE_NAME).unlink(missing_ok=True)
        return
    # From log position 0 at every member, also where the oldest segments have expired.
    lines = "0-0\n"
    checksum = zlib.crc32(lines.encode()) & 0x7FFFFFFF
    replace_file(root / EPOCH_FILE_NAME, f"1\n{checksum}\n{lines}".encode())


def _drop(root: Path) -> None:
    (root / ORDER_NAME).unlink(missing_ok=True)


def _read(root: Path) -> SwitchOrder | None:
    try:
        return SwitchOrder.decode((root / ORDER_NAME).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        log.warning("mode_switch_unreadable", reason=str(error))
        return None
