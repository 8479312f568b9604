"""Tell whether the broker that answers at a replica's address is that replica.

An address outlives the broker that had it: another replica, of this or another group, may serve
there by now. What it tells is of its own log, and never of the replica that was asked for (D21).
"""

from dataclasses import dataclass
from typing import Final

from backend.domain.replica_group import ReplicaGroup

MASTER_ROLE_ID: Final = 0
"""A master answers with the id of its role."""


@dataclass(frozen=True, slots=True)
class Teller:
    """Hold who a broker says it is."""

    cluster_name: str
    broker_group_name: str
    broker_id: int


def find_other(teller: Teller | None, group: ReplicaGroup, broker_id: int) -> str | None:
    """Say who answers in place of a replica; None is the replica itself, or one that says nothing.

    A replica that was master and does not know its successor yet answers as master too: until it
    follows, nobody can tell it from another broker at its address.
    """
    if teller is None:
        return None
    if (teller.cluster_name, teller.broker_group_name) != (group.cluster_name, group.name):
        where = f"{teller.broker_group_name} in cluster {teller.cluster_name}"
        return f"a broker of {where} has its address"
    if teller.broker_id == broker_id:
        return None
    if teller.broker_id != MASTER_ROLE_ID:
        return f"broker {teller.broker_id} of the group has its address now"
    if broker_id == group.master_id:
        return None
    return "a broker that acts as master has its address now"
