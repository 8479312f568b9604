"""Show the brokers that wait for their lost group to come back (D6)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from backend.services.controller.adoptions import StoredCandidate
from backend.views.copying import copied
from backend.views.graph_forms import Int64


@dataclass(frozen=True, slots=True)
class AdoptionCandidateOut:
    """A broker that claims an id of a lost group; null means that it did not report the value.

    `master_id` is the master that the broker knows, and 0 if it knows none.
    """

    cluster_name: str
    broker_group_name: str
    broker_id: Int64
    address: str
    has_code: bool
    epoch: int | None
    max_offset: Int64 | None
    master_id: Int64 | None
    is_verified: bool | None
    first_heard_at: datetime
    heard_at: datetime

    @classmethod
    def of(cls, stored: StoredCandidate) -> Self:
        """Show a candidate."""
        return copied(
            cls,
            stored.candidate,
            cluster_name=stored.cluster_name,
            broker_group_name=stored.broker_group_name,
            has_code=stored.candidate.register_code is not None,
            first_heard_at=stored.first_heard_at,
            heard_at=stored.heard_at,
        )
