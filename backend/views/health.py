"""Show the health of broker groups, and their missing brokers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.health import GroupHealth, HealthVerdict, MissingBroker, WriterFault
from backend.services.cluster.health import ObservedHealth
from backend.views.copying import Copied, copied
from backend.views.field_texts import (
    ALIVE_COUNT,
    BROKER_ADDRESS,
    BROKER_GROUP_COUNT,
    BROKER_GROUP_NAME,
    BROKER_NAME,
    BROKERS_IN_GROUP,
    CLUSTER_NAME,
    HEALTH_SENTENCE,
    HEALTH_VERDICT,
    LAST_HEARTBEAT_AT,
)
from backend.views.graph_forms import GraphOnly, Int64, RestOnly, Text


@dataclass(frozen=True, slots=True)
class MissingBrokerOut(Copied[MissingBroker]):
    """A broker without heartbeats; null is an unknown time of the last heartbeat."""

    broker_id: Annotated[
        Int64,
        Text("Id of the broker in its group. Without a controller: id that clients are routed to."),
    ]
    name: Annotated[str, BROKER_NAME]
    address: Annotated[str, BROKER_ADDRESS]
    last_heard_at: Annotated[datetime | None, LAST_HEARTBEAT_AT]


@dataclass(frozen=True, slots=True)
class GroupHealthOut:
    """Health of one broker group, and what one more failure would cost.

    `has_writer` is null if it is unknown. `writer_fault` says why the group takes no writes.
    """

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    verdict: Annotated[HealthVerdict, HEALTH_VERDICT]
    sentence: Annotated[str, HEALTH_SENTENCE]
    next_failure: Annotated[str, Text("What one more failure of a broker would cost.")]
    replica_count: Annotated[int, BROKERS_IN_GROUP]
    alive_count: Annotated[int, ALIVE_COUNT]
    has_writer: Annotated[
        bool | None, Text("Whether producers can write to the group. Null if it is unknown.")
    ]
    writer_fault: Annotated[
        WriterFault | None,
        Text("Why producers can not write to the group. Null if they can, or if it is unknown."),
    ]
    missing: Annotated[
        list[MissingBrokerOut], Text("Brokers that the control plane receives no heartbeats of.")
    ]

    @classmethod
    def of(cls, judged: GroupHealth) -> Self:
        """Show a judgement."""
        return copied(cls, judged, missing=[MissingBrokerOut.of(one) for one in judged.missing])


@dataclass(frozen=True, slots=True)
class HealthOut:
    """Health of all broker groups, the worst group first."""

    verdict: Annotated[HealthVerdict, HEALTH_VERDICT]
    sentence: Annotated[str, HEALTH_SENTENCE]
    next_failure: Annotated[
        str | None,
        Text("What one more failure of a broker would cost. Null if there is no single answer."),
    ]
    group_count: Annotated[GraphOnly[int], BROKER_GROUP_COUNT]
    replica_count: Annotated[int, Text("Number of brokers in all broker groups.")]
    alive_count: Annotated[int, ALIVE_COUNT]
    observed_at: Annotated[datetime, Text("Time of these facts.")]
    groups: Annotated[
        RestOnly[list[GroupHealthOut]], Text("Health of each broker group, the worst first.")
    ]
    troubled: Annotated[
        GraphOnly[list[GroupHealthOut]],
        Text("Health of each broker group that is not healthy, the worst first."),
    ]

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
