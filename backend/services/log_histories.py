"""Ask the brokers of a group which epoch wrote which part of their logs."""

import asyncio
from dataclasses import dataclass
from typing import Protocol

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.domain.epochs import LogHistory, find_disagreement
from backend.domain.replica_group import Replica, ReplicaGroup
from backend.domain.replica_identity import find_other
from backend.services.group_changes import Controller, GroupName
from backend.services.replica_groups import describe_group


class HistorySource(Protocol):
    """Speaks to brokers."""

    async def history(self, address: str) -> LogHistory:
        """Ask a broker for its epochs; as `Brokers.history`."""
        ...


@dataclass(frozen=True, slots=True)
class ToldHistory:
    """Hold what a replica answered, or why it is not known."""

    broker_id: int
    address: str
    history: LogHistory | None
    error: str | None


@dataclass(frozen=True, slots=True)
class GroupHistories:
    """Hold the answers, and the first epoch in which two of them differ."""

    replicas: tuple[ToldHistory, ...]
    differing_epoch: int | None


async def compare_histories(
    name: GroupName, controller: Controller, brokers: HistorySource
) -> GroupHistories:
    """Ask all replicas of a group at once; who does not answer in time is unknown.

    Raises:
        BrokerGroupNotControlled: the group is not known.
    """
    group = (await describe_group(name, controller)).group
    told = await asyncio.gather(
        *(_ask(group, replica, brokers) for _, replica in sorted(group.replicas.items()))
    )
    known = {one.broker_id: one.history for one in told if one.history is not None}
    return GroupHistories(tuple(told), find_disagreement(known))


async def _ask(group: ReplicaGroup, replica: Replica, brokers: HistorySource) -> ToldHistory:
    history, reason = None, None
    try:
        history = await brokers.history(replica.address)
    except (BrokerUnreachable, BrokerRefused) as error:
        reason = str(error)
    else:
        reason = find_other(history.told_by, group, replica.broker_id)
        history = history if reason is None else None
    return ToldHistory(replica.broker_id, replica.address, history, reason)
