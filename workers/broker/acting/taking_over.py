"""Take over what a replica did while it acted, before its master serves again.

A replica that does not act keeps a copy of it, since it may have to act next.

The requests are those of control-plane.md 5.7.
Versions are ordered by the number of changes of the acting broker, not by counters of commits: what
was committed while a replica acted is newer than what the master has (D14).
"""

import asyncio
import struct
from collections.abc import Callable
from typing import Final, NamedTuple

import structlog
from regent_engine import StoreError

from backend.remoting import java_json
from backend.remoting.address import split_address
from backend.remoting.bodies.locks import QueueLocksBody
from backend.remoting.bodies.shares import FinishedShareBody, FinishedSharesBody
from backend.remoting.headers import encode_header
from backend.remoting.headers.replication import EscapedHeader, HaInfoHeader, OffsetTableHeader
from backend.remoting.headers.shares import FinishedSharesHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.requester import Requester, connect
from workers.broker.broker import Broker
from workers.broker.commit_log.delay_delivery import DelayOffsetFile, decode_delay_file
from workers.broker.logical.lock_transfer import adopt
from workers.broker.replication.passing_on import MasterLink
from workers.broker.replication.stock_metadata import ask_table
from workers.broker.tables.consumer_offsets import ConsumerOffsetFile, decode_offset_file

TAKE_OVER_TIMEOUT_S: Final = 10.0
STAND_BY_TIMEOUT_S: Final = 1.0
POSITION_SIZE: Final = 8

log = structlog.get_logger()


async def announce(address: str, header: HaInfoHeader) -> None:
    """Notify a replica of the master that is about to serve: until then nothing escapes there.

    Raises:
        OSError: the connection is lost, or the replica refused.
        TimeoutError: it does not answer in time.
        RemotingError: it broke the protocol.
    """
    requester = await connect(split_address(address), peer_name="replica")
    try:
        code = RequestCode.EXCHANGE_BROKER_HA_INFO
        answer = await requester.call(code, ext=encode_header(header))
    finally:
        requester.close()
    if answer.code != ResponseCode.SUCCESS:
        raise ConnectionError(f"the replica {address} refused its master: {answer.remark}")


async def take_over(broker: Broker, address: str) -> None:
    """Take over offsets, delays, timers, locks and what was finished of share queues.

    The replica lets clients wait from now on.

    This broker serves next, so the replica must give it all commits.

    Raises:
        OSError: the connection is lost, or the replica refused.
        TimeoutError: it does not answer in time.
        RemotingError: it broke the protocol. InvalidJson: its answer can't be read.
    """
    async with asyncio.timeout(TAKE_OVER_TIMEOUT_S):
        requester = await connect(split_address(address), peer_name="replica")
        try:
            progress = await _ask_progress(requester, OffsetTableHeader(serves_next=True))
            # It finishes nothing any more.
            shares = await _ask_finished(requester)
            timers = await requester.call(RequestCode.GET_TIMER_CHECK_POINT, ext={})
            locks = await _ask_locks(requester)
        finally:
            requester.close()
    offset_count = broker.offsets.take_over(progress.offsets)
    level_count = broker.state.delays.take_over(progress.delays.offsets)
    escaped_count = broker.escaped.take_over(progress.escaped or ())
    are_timers_taken = False
    # One of ours names each message for a time that escaped: the log has no other progress.
    if progress.escaped is None and timers.code == ResponseCode.SUCCESS:
        are_timers_taken = broker.timers.take_over(timers.body)
    adopt(broker, locks.locks)
    share_count = await _finish(broker, shares)
    broker.changes.append()
    await broker.state.save_escaped()
    await broker.state.save_offsets()
    await broker.state.save_delays()
    log.info(
        "replica_state_taken_over",
        replica=address,
        offset_count=offset_count,
        delay_level_count=level_count,
        are_timers_taken=are_timers_taken,
        escaped_count=escaped_count,
        lock_count=len(locks.locks),
        share_queue_count=share_count,
        version=broker.offsets.data_version.state_version,
    )


async def _finish(broker: Broker, shares: list[FinishedShareBody]) -> int:
    """Finish messages of share queues here; return how many share queues changed.

    Raises:
        OSError: the store refused: the next round takes the rest over.
    """
    try:
        return await broker.shares.take_over(shares)
    except StoreError as error:
        raise OSError(str(error)) from error


async def stand_by(
    broker: Broker,
    link: MasterLink,
    *,
    acts: bool,
    is_wanted: Callable[[], bool],
    serves_next: bool = False,
) -> None:
    """Copy to a replica what the log does not have, from the broker that serves its group.

    These are locks (I11), and of a replica that acts also offsets and delays (I9), and what was
    finished of share queues. Nothing is copied if that is not wanted any more when the answers
    come. A replica that serves next says so, and clients of the one that acts wait for it. If a
    majority gives the locks, a lock here may be a vote for another broker, so it stays; unlocks of
    such a lock come here too.

    Raises:
        OSError, TimeoutError, RemotingError, InvalidJson: as `take_over`.
    """
    progress = _Progress(ConsumerOffsetFile(), None, DelayOffsetFile())
    unlock_count = broker.locks.unlock_count
    async with asyncio.timeout(STAND_BY_TIMEOUT_S), link.connected() as requester:
        if acts:
            copied = OffsetTableHeader(
                replica_id=broker.settings.broker_id, serves_next=serves_next
            )
            progress = await _ask_progress(requester, copied)
        locks = await _ask_locks(requester)
    if is_wanted():
        broker.offsets.take_over(progress.offsets)
        if broker.state.delays.take_over(progress.delays.offsets):
            broker.state.delays.is_in_log = False
        if progress.escaped is not None and broker.escaped.take_over(progress.escaped):
            broker.escaped.is_in_log = False
        if not broker.settings.locks_by_quorum:
            broker.locks.clear()
        if not broker.settings.locks_by_quorum or broker.locks.unlock_count == unlock_count:
            adopt(broker, locks.locks)
    if acts:
        # With its own time limit: there may be many share queues.
        async with asyncio.timeout(STAND_BY_TIMEOUT_S), link.connected() as requester:
            shares = await _ask_finished(requester)
        if shares and is_wanted():
            await broker.shares.take_over(shares)


class _Progress(NamedTuple):
    """What a broker has that no log has; of what escaped None from stock."""

    offsets: ConsumerOffsetFile
    escaped: list[int] | None
    delays: DelayOffsetFile


async def _ask_progress(requester: Requester, header: OffsetTableHeader) -> _Progress:
    """Ask for the offsets first: from then on a replica takes no recall if this broker serves next.

    The delay levels come last. A message leaves the table of what escaped once they are beyond it.
    """
    offsets, _ = await ask_table(
        requester,
        RequestCode.GET_ALL_CONSUMER_OFFSET,
        decode_offset_file,
        ext=encode_header(header),
    )
    escaped = await _ask_escaped(requester)
    delays, _ = await ask_table(requester, RequestCode.GET_ALL_DELAY_OFFSET, decode_delay_file)
    return _Progress(offsets, escaped, delays)


async def _ask_escaped(requester: Requester) -> list[int] | None:
    """Return the log positions of messages that must not be delivered; None from stock."""
    found: list[int] = []
    while True:
        header = EscapedHeader(after=found[-1] if found else -1)
        answer = await requester.call(RequestCode.GET_ESCAPED, ext=encode_header(header))
        if answer.code != ResponseCode.SUCCESS:
            return None
        page = struct.unpack(f">{len(answer.body) // POSITION_SIZE}q", answer.body)
        found.extend(page)
        if not page:
            return found


async def _ask_finished(requester: Requester) -> list[FinishedShareBody]:
    """Return what consumers finished of share queues; none from stock."""
    found: list[FinishedShareBody] = []
    after = FinishedSharesHeader()
    while True:
        answer = await requester.call(RequestCode.GET_FINISHED_SHARES, ext=encode_header(after))
        if answer.code != ResponseCode.SUCCESS:
            return found
        page = java_json.decode(answer.body, FinishedSharesBody).shares
        found.extend(page)
        if not page:
            return found
        after = FinishedSharesHeader(
            after_topic=page[-1].topic,
            after_queue_id=page[-1].queue_id,
            after_consumer_group=page[-1].consumer_group,
        )


async def _ask_locks(requester: Requester) -> QueueLocksBody:
    """Return the locks of a replica of ours; stock does not list them."""
    answer = await requester.call(RequestCode.GET_QUEUE_LOCKS, ext={})
    if answer.code != ResponseCode.SUCCESS:
        return QueueLocksBody(total_count=0)
    return java_json.decode(answer.body, QueueLocksBody)
