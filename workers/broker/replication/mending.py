"""Repair a damaged log from the group's master, before this broker takes part.

A damaged log is never read as one that ends at the damage (D13). So its broker stays out of its
group: it is never elected, and no set contains it. If another broker leads and has the data that
would be truncated, nothing is lost by following it, as any returning replica does (ADR 17).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from regent_engine import ProtocolError, StoreError

from backend.remoting.errors import RemotingError
from workers.broker.replication.controller_client import ControllerRefused, ReplicaGroupState
from workers.broker.replication.follower import Obstacle

RETRY_S: Final = 1.0

_FAILURES: Final = (
    Obstacle,
    ControllerRefused,
    ProtocolError,
    StoreError,
    RemotingError,
    OSError,
)

log = structlog.get_logger()


async def mend(
    own_id: int,
    *,
    ask_group: Callable[[], Awaitable[ReplicaGroupState]],
    mend_from: Callable[[ReplicaGroupState], Awaitable[None]],
    report: Callable[[str], None],
) -> None:
    """Try until the log is repaired, and report why it is not yet, each reason once.

    `ask_group` returns the leader of the group; `mend_from` repairs the log from its master, or
    raises.
    """
    reported = ""
    while True:
        try:
            group = await ask_group()
            if group.master_address is None or group.master_id in {None, own_id}:
                raise Obstacle(
                    "no other broker leads the group: have one elected, put the damaged file"
                    " back, or consent to lose what is behind the damage (cutDamageAt)"
                )
            await mend_from(group)
        except _FAILURES as error:
            reason = str(error) or type(error).__name__
            if reason != reported:
                log.warning("log_not_mended", reason=reason)
                report(reason)
            reported = reason
        else:
            log.warning("log_mended", master=group.master_address)
            return
        await asyncio.sleep(RETRY_S)
