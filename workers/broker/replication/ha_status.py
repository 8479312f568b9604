"""Say how this broker's log is replicated, for tools and the console (907)."""

from backend.remoting.bodies.controller import HaStatusBody
from workers.broker.replication.follower import Follower
from workers.broker.replication.ha_listener import HaListener
from workers.broker.replication.term import Term


def describe_ha(
    term: Term | None, follower: Follower | None, listener: HaListener, *, end: int, now_ms: int
) -> HaStatusBody:
    """Describe it as master, as replica, or as neither; `end` is where the log ends, in bytes."""
    if term is not None:
        members = term.current.broker_ids
        return HaStatusBody(
            is_master=True,
            max_position=end,
            in_sync_count=len(members) - 1,
            connections=listener.describe(end, members),
        )
    if follower is None:
        return HaStatusBody(is_master=False)
    return HaStatusBody(is_master=False, client=follower.describe(now_ms))
