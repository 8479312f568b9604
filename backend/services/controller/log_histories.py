"""Ask the brokers of a group for the epochs of their logs."""

from dataclasses import dataclass

from backend.brokers.asking import Brokers
from backend.brokers.requests.replication import GetLogHistory
from backend.domain.epochs import LogHistory, find_disagreement
from backend.domain.replica_group import Replica, ReplicaGroup
from backend.domain.replica_identity import find_other
from backend.services.controller.group_changes import BrokerGroupName, Controller
from backend.services.controller.replica_groups import describe_group


@dataclass(frozen=True, slots=True)
class ReportedHistory:
    """Hold the answer of a replica, or why there is none."""

    broker_id: int
    address: str
    history: LogHistory | None
    error: str | None


@dataclass(frozen=True, slots=True)
class GroupHistories:
    """Hold the answers, and the first epoch in which two of them differ."""

    replicas: tuple[ReportedHistory, ...]
    differing_epoch: int | None


async def compare_histories(
    name: BrokerGroupName, controller: Controller, brokers: Brokers
) -> GroupHistories:
    """Ask all replicas of a group at once; without an answer in time a replica is unknown.

    Raises:
        BrokerGroupNotControlled: the group is unknown.
    """
    group = (await describe_group(name, controller)).group
    replicas = [replica for _, replica in sorted(group.replicas.items())]
    answers = await brokers.ask_all(replicas, GetLogHistory())
    histories = [
        _report(group, one, answers.answers[one])
        if one in answers.answers
        else ReportedHistory(one.broker_id, one.address, None, str(answers.silent[one]))
        for one in replicas
    ]
    known = {one.broker_id: one.history for one in histories if one.history is not None}
    return GroupHistories(tuple(histories), find_disagreement(known))


def _report(group: ReplicaGroup, replica: Replica, history: LogHistory) -> ReportedHistory:
    reason = find_other(history.reported_by, group, replica.broker_id)
    known = history if reason is None else None
    return ReportedHistory(replica.broker_id, replica.address, known, reason)
