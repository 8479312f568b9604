"""Show the brokers that wait for the adoption of their lost group (D6)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.services.controller.adoptions import StoredCandidate
from backend.views.copying import copied
from backend.views.field_texts import BROKER_ADDRESS, BROKER_GROUP_NAME, CLUSTER_NAME
from backend.views.graph_forms import Int64, Text


@dataclass(frozen=True, slots=True)
class AdoptionCandidateOut:
    """A broker that claims an id of a lost group; null is a value that the broker did not report.

    `master_id` is the id of the master that the broker knows, or 0.
    """

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    broker_id: Annotated[Int64, Text("Id that the broker claims in its group.")]
    address: Annotated[str, BROKER_ADDRESS]
    has_code: Annotated[bool, Text("Whether the broker sent a register check code.")]
    epoch: Annotated[
        int | None,
        Text("Newest epoch in the log of the broker. Null if the broker did not report it."),
    ]
    max_offset: Annotated[
        Int64 | None, Text("End of the log in bytes. Null if the broker did not report it.")
    ]
    master_id: Annotated[
        Int64 | None,
        Text("Id of the master that the broker knows, or 0. Null if the broker did not report it."),
    ]
    is_verified: Annotated[
        bool | None,
        Text("False from an unclean stop until the broker has checked its log. Null if unknown."),
    ]
    first_heard_at: Annotated[datetime, Text("Time of the first heartbeat with this claim.")]
    heard_at: Annotated[datetime, Text("Time of the last heartbeat with this claim.")]

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
