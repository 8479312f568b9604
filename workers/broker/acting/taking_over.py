"""Take over what a replica did while it acted, before its master serves again.

A replica that does not act keeps a copy of it, since it may have to act next.

The requests are those of control-plane.md 5.7.
Versions are ordered by the number of changes of the acting broker, not by counters of commits: what
was committed while a replica acted is newer than what the master has (D14).
"""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from backend.remoting import java_json
from backend.remoting.address import split_address
from backend.remoting.bodies.locks import QueueLocksBody
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

log = structlog.get_logger()


async def take_over(broker: Broker, address: str) -> None:
    """Take over offsets, delays, timers and locks of one replica.

    Raises:
        OSError: the connection is lost, or the replica refused.
        TimeoutError: it does not answer in time.
        RemotingError: it broke the protocol. InvalidJson: its answer can't be read.
    """
    async with asyncio.timeout(TAKE_OVER_TIMEOUT_S):
        requester = await connect(split_address(address), peer_name="replica")
        try:
            offsets, delays = await _ask_progress(requester)
            timers = await requester.call(RequestCode.GET_TIMER_CHECK_POINT, ext={})
            locks = await _ask_locks(requester)
        finally:
            requester.close()
    offset_count = broker.offsets.take_over(offsets)
    level_count = broker.state.delays.take_over(delays.offsets)
    are_timers_taken = timers.code == ResponseCode.SUCCESS and broker.timers.take_over(timers.body)
    adopt(broker, locks.locks)
    broker.changes.append()
    await broker.state.save_offsets()
    await broker.state.save_delays()
    log.info(
        "replica_state_taken_over",
        replica=address,
        offset_count=offset_count,
        delay_level_count=level_count,
        are_timers_taken=are_timers_taken,
        lock_count=len(locks.locks),
        version=broker.offsets.data_version.state_version,
    )


async def stand_by(
    broker: Broker, link: MasterLink, *, acts: bool, is_wanted: Callable[[], bool]
) -> None:
    """Copy to a replica what the log does not have, from the broker that serves its group.

    These are locks (I11), and of a replica that acts also offsets and delays (I9). Nothing is
    copied if that is not wanted any more when the answers come.

    Raises:
        OSError, TimeoutError, RemotingError, InvalidJson: as `take_over`.
    """
    offsets, delays = ConsumerOffsetFile(), DelayOffsetFile()
    async with asyncio.timeout(STAND_BY_TIMEOUT_S), link.connected() as requester:
        if acts:
            offsets, delays = await _ask_progress(requester)
        locks = await _ask_locks(requester)
    if is_wanted():
        broker.offsets.take_over(offsets)
        if broker.state.delays.take_over(delays.offsets):
            broker.state.delays.is_in_log = False
        broker.locks.clear()
        adopt(broker, locks.locks)


async def _ask_progress(requester: Requester) -> tuple[ConsumerOffsetFile, DelayOffsetFile]:
    offsets, _ = await ask_table(requester, RequestCode.GET_ALL_CONSUMER_OFFSET, decode_offset_file)
    delays, _ = await ask_table(requester, RequestCode.GET_ALL_DELAY_OFFSET, decode_delay_file)
    return offsets, delays


async def _ask_locks(requester: Requester) -> QueueLocksBody:
    """Return the locks of a replica of ours; stock does not list them."""
    answer = await requester.call(RequestCode.GET_QUEUE_LOCKS, ext={})
    if answer.code != ResponseCode.SUCCESS:
        return QueueLocksBody(total_count=0)
    return java_json.decode(answer.body, QueueLocksBody)
