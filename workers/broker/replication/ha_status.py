"""Describe the replication of the log of this broker, for tools and the console (907)."""

from backend.remoting.bodies.controller import HaClientBody, HaStatusBody
from workers.broker.replication.ha_listener import HaListener
from workers.broker.replication.replica_role import ReplicaRole
from workers.broker.replication.term import Term


def describe_ha(
    term: Term | None, replica: ReplicaRole, listener: HaListener, *, end: int, now_ms: int
) -> HaStatusBody:
    """Describe it as master, as replica, or as neither; `end` is the end of the log in bytes."""
    if term is not None:
        members = term.current.broker_ids
        return HaStatusBody(
            is_master=True,
            max_position=end,
            in_sync_count=len(members) - 1,
            connections=listener.describe(end, members),
        )
    if replica.follower is not None:
        return HaStatusBody(is_master=False, client=replica.follower.describe(now_ms))
    if replica.obstacle:
        client = HaClientBody(max_offset=end, obstacle=replica.obstacle)
        return HaStatusBody(is_master=False, client=client)
    return HaStatusBody(is_master=False)
