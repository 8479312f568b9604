"""Check whether the broker that answers at the address of a replica is this replica.

Another broker may use the address now: another replica of this group, or of another group. Its
answer is about its own log, and never about the replica that was asked for (D21).
"""

from dataclasses import dataclass
from typing import Final

from backend.domain.replica_group import ReplicaGroup

MASTER_ROLE_ID: Final = 0
"""A master answers with the id of its role."""


@dataclass(frozen=True, slots=True)
class Reporter:
    """Hold the identity that a broker reports."""

    cluster_name: str
    broker_group_name: str
    broker_id: int


def find_other(reporter: Reporter | None, group: ReplicaGroup, broker_id: int) -> str | None:
    """Return which broker answers in place of a replica; None if it is the replica, or unknown.

    A former master that does not know the new master yet also answers as master. Until it follows,
    it can't be distinguished from another broker at its address.
    """
    if reporter is None:
        return None
    if (reporter.cluster_name, reporter.broker_group_name) != (group.cluster_name, group.name):
        where = f"{reporter.broker_group_name} in cluster {reporter.cluster_name}"
        return f"a broker of {where} has its address"
    if reporter.broker_id == broker_id:
        return None
    if reporter.broker_id != MASTER_ROLE_ID:
        return f"broker {reporter.broker_id} of the group has its address now"
    if broker_id == group.master_id:
        return None
    return "a broker that acts as master has its address now"
