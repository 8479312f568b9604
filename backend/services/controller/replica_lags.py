"""Ask the brokers of a group now for their lag behind the master."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.brokers.asking import Brokers
from backend.brokers.requests.replication import GetLogPosition
from backend.domain.replica_group import Replica, ReplicaGroup
from backend.domain.replica_identity import find_other
from backend.domain.replica_lag import UNKNOWN_LAG, LogPosition, ReplicaLag, measure_lags
from backend.services.controller.group_changes import BrokerGroupName, Controller
from backend.services.controller.replica_groups import describe_group


@dataclass(frozen=True, slots=True)
class ReportedReplicaLag:
    """Hold the answer of a broker with its lag, or why there is no answer."""

    broker_id: int
    address: str
    is_master: bool
    is_in_sync: bool
    position: LogPosition | None
    lag: ReplicaLag
    error: str | None


@dataclass(frozen=True, slots=True)
class GroupLags:
    """Hold the master, the end of its log, and the lag of each broker."""

    master_id: int | None
    master_end: int | None
    replicas: tuple[ReportedReplicaLag, ...]


async def measure_group(
    name: BrokerGroupName, controller: Controller, brokers: Brokers
) -> GroupLags:
    """Ask all brokers of a group. The master is asked last, so that no lag is too low.

    Raises:
        BrokerGroupNotControlled: the group is unknown.
    """
    group = (await describe_group(name, controller)).group
    replicas = [r for _, r in sorted(group.replicas.items()) if r.broker_id != group.master_id]
    masters = [] if group.master is None else [group.master]
    positions = {
        **await _ask_all(group, replicas, brokers),
        **await _ask_all(group, masters, brokers),
    }
    known = {i: one for i, one in positions.items() if isinstance(one, LogPosition)}
    master = None if group.master_id is None else known.get(group.master_id)
    master_end = None if master is None else master.max_offset
    lags = measure_lags(known, master_end=master_end)
    return GroupLags(
        group.master_id,
        master_end,
        tuple(_report(group, i, positions[i], lags.get(i)) for i in sorted(positions)),
    )


async def _ask_all(
    group: ReplicaGroup, replicas: Iterable[Replica], brokers: Brokers
) -> dict[int, LogPosition | str]:
    answers = await brokers.ask_all(replicas, GetLogPosition())
    known = {
        one.broker_id: find_other(position.reported_by, group, one.broker_id) or position
        for one, position in answers.answers.items()
    }
    return known | {one.broker_id: str(error) for one, error in answers.silent.items()}


def _report(
    group: ReplicaGroup, broker_id: int, answer: LogPosition | str, lag: ReplicaLag | None
) -> ReportedReplicaLag:
    is_known = isinstance(answer, LogPosition)
    return ReportedReplicaLag(
        broker_id=broker_id,
        address=group.replicas[broker_id].address,
        is_master=broker_id == group.master_id,
        is_in_sync=broker_id in group.sync_state_set.members,
        position=answer if isinstance(answer, LogPosition) else None,
        lag=lag or UNKNOWN_LAG,
        error=None if is_known else str(answer),
    )
