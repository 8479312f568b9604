"""Ask the brokers of a group how far they are behind their master, now."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.domain.replica_group import Replica, ReplicaGroup
from backend.domain.replica_identity import find_other
from backend.domain.replica_lag import UNKNOWN_LAG, LogPosition, ReplicaLag, measure_lags
from backend.services.group_changes import Controller, GroupName
from backend.services.replica_groups import describe_group


class PositionSource(Protocol):
    """Speaks to brokers."""

    async def log_position(self, address: str) -> LogPosition:
        """Ask a broker where its log ends; as `Brokers.log_position`."""
        ...


@dataclass(frozen=True, slots=True)
class ToldLag:
    """Hold what a broker answered and what follows from it, or why it is not known."""

    broker_id: int
    address: str
    is_master: bool
    is_in_sync: bool
    position: LogPosition | None
    lag: ReplicaLag
    error: str | None


@dataclass(frozen=True, slots=True)
class GroupLags:
    """Hold who is master, where its log ended, and how far each broker was."""

    master_id: int | None
    master_end: int | None
    replicas: tuple[ToldLag, ...]


async def measure_group(
    name: GroupName, controller: Controller, brokers: PositionSource
) -> GroupLags:
    """Ask all brokers of a group; the master is asked last, so that no lag is understated.

    Raises:
        BrokerGroupNotControlled: the group is not known.
    """
    group = (await describe_group(name, controller)).group
    replicas = [r for _, r in sorted(group.replicas.items()) if r.broker_id != group.master_id]
    masters = [] if group.master is None else [group.master]
    told = {
        **await _ask_all(group, replicas, brokers),
        **await _ask_all(group, masters, brokers),
    }
    known = {i: one for i, one in told.items() if isinstance(one, LogPosition)}
    master = None if group.master_id is None else known.get(group.master_id)
    master_end = None if master is None else master.max_offset
    lags = measure_lags(known, master_end=master_end)
    return GroupLags(
        group.master_id,
        master_end,
        tuple(_told(group, i, told[i], lags.get(i)) for i in sorted(told)),
    )


async def _ask_all(
    group: ReplicaGroup, replicas: Iterable[Replica], brokers: PositionSource
) -> dict[int, LogPosition | str]:
    asked = list(replicas)
    answers = await asyncio.gather(*(_ask(group, replica, brokers) for replica in asked))
    return {replica.broker_id: one for replica, one in zip(asked, answers, strict=True)}


async def _ask(group: ReplicaGroup, replica: Replica, brokers: PositionSource) -> LogPosition | str:
    try:
        told = await brokers.log_position(replica.address)
    except (BrokerUnreachable, BrokerRefused) as error:
        return str(error)
    return find_other(told.told_by, group, replica.broker_id) or told


def _told(
    group: ReplicaGroup, broker_id: int, answer: LogPosition | str, lag: ReplicaLag | None
) -> ToldLag:
    is_known = isinstance(answer, LogPosition)
    return ToldLag(
        broker_id=broker_id,
        address=group.replicas[broker_id].address,
        is_master=broker_id == group.master_id,
        is_in_sync=broker_id in group.sync_state_set.members,
        position=answer if isinstance(answer, LogPosition) else None,
        lag=lag or UNKNOWN_LAG,
        error=None if is_known else str(answer),
    )
