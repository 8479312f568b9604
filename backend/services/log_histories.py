"""Ask the brokers of a group which epoch wrote which part of their logs."""

from dataclasses import dataclass

from backend.brokers.asking import Brokers
from backend.brokers.requests.replication import GetLogHistory
from backend.domain.epochs import LogHistory, find_disagreement
from backend.domain.replica_group import Replica, ReplicaGroup
from backend.domain.replica_identity import find_other
from backend.services.group_changes import Controller, GroupName
from backend.services.replica_groups import describe_group


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
    name: GroupName, controller: Controller, brokers: Brokers
) -> GroupHistories:
    """Ask all replicas of a group at once; who does not answer in time is unknown.

    Raises:
        BrokerGroupNotControlled: the group is not known.
    """
    group = (await describe_group(name, controller)).group
    replicas = [replica for _, replica in sorted(group.replicas.items())]
    answers = await brokers.ask_all(replicas, GetLogHistory())
    told = [
        _told(group, one, answers.answers[one])
        if one in answers.answers
        else ToldHistory(one.broker_id, one.address, None, str(answers.silent[one]))
        for one in replicas
    ]
    known = {one.broker_id: one.history for one in told if one.history is not None}
    return GroupHistories(tuple(told), find_disagreement(known))


def _told(group: ReplicaGroup, replica: Replica, history: LogHistory) -> ToldHistory:
    reason = find_other(history.told_by, group, replica.broker_id)
    told = history if reason is None else None
    return ToldHistory(replica.broker_id, replica.address, told, reason)
