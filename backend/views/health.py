"""Show how well broker groups can do their work, and what is missing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.domain.health import GroupHealth, HealthVerdict, MissingBroker, WriterFault
from backend.views.copying import copied
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class MissingBrokerOut:
    """A broker that is not there; null is a heartbeat that is not known."""

    broker_id: Int64
    name: str
    address: str
    last_heard_at: datetime | None

    @classmethod
    def of(cls, missing: MissingBroker) -> Self:
        """Show a broker that is missing."""
        return copied(cls, missing)


@dataclass(frozen=True, slots=True)
class GroupHealthOut:
    """How well one broker group can do its work, and what one more failure would cost.

    `has_writer` is null where it can't be known. `writer_fault` says why there is none.
    """

    cluster_name: str
    group_name: str
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
