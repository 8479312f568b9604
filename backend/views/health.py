"""Show how well broker groups can do their work, and what is missing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.domain.health import GroupHealth, HealthVerdict, MissingBroker, WriterFault
from backend.services.cluster.health import ObservedHealth
from backend.views.copying import Copied, copied
from backend.views.graph_forms import GraphOnly, Int64, RestOnly


@dataclass(frozen=True, slots=True)
class MissingBrokerOut(Copied[MissingBroker]):
    """A broker that is not there; null is a heartbeat that is not known."""

    broker_id: Int64
    name: str
    address: str
    last_heard_at: datetime | None


@dataclass(frozen=True, slots=True)
class GroupHealthOut:
    """How well one broker group can do its work, and what one more failure would cost.

    `has_writer` is null where it can't be known. `writer_fault` says why there is none.
    """

    cluster_name: str
    broker_group_name: str
    verdict: HealthVerdict
    sentence: str
    next_failure: str
    replica_count: int
    alive_count: int
    has_writer: bool | None
    writer_fault: WriterFault | None
    missing: list[MissingBrokerOut]

    @classmethod
    def of(cls, judged: GroupHealth) -> Self:
        """Show a judgement."""
        return copied(cls, judged, missing=[MissingBrokerOut.of(one) for one in judged.missing])


@dataclass(frozen=True, slots=True)
class HealthOut:
    """How well all broker groups can do their work, the worst group first."""

    verdict: HealthVerdict
    sentence: str
    next_failure: str | None
    group_count: GraphOnly[int]
    replica_count: int
    alive_count: int
    observed_at: datetime
    groups: RestOnly[list[GroupHealthOut]]
    troubled: GraphOnly[list[GroupHealthOut]]

    @classmethod
    def of(cls, observed: ObservedHealth) -> Self:
        """Show a judgement; `troubled` are the groups that are not healthy."""
        groups = [GroupHealthOut.of(group) for group in observed.health.groups]
        return copied(
            cls,
            observed.health,
            group_count=len(groups),
            observed_at=observed.observed_at,
            groups=groups,
            troubled=[one for one in groups if one.verdict is not HealthVerdict.HEALTHY],
        )
