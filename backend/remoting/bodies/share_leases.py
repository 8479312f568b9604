"""Bodies of the lease heartbeats of share queues: ours (4102, queue-ownership.md 4.6)."""

from typing import Annotated, Final, TypeVar

import msgspec

from backend.remoting.bodies.base import Body
from backend.remoting.integers import Int64

ITEM_COUNT_MAX: Final = 4_096
"""The share queues in each list of a heartbeat."""

_Item = TypeVar("_Item")
_Bounded = Annotated[list[_Item], msgspec.Meta(max_length=ITEM_COUNT_MAX)]


class ShareQueueBody(Body, frozen=True, kw_only=True):
    """A share queue of the broker group."""

    topic: str
    queue_id: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
    consumer_group: str


class ShareLeaseBody(ShareQueueBody, frozen=True, kw_only=True):
    """A lease: granted by the arbiter, or given back by its owner."""

    epoch: Int64


class HeldShareBody(ShareLeaseBody, frozen=True, kw_only=True):
    """A lease that the member has, and whether the share queue has messages left."""

    has_messages: bool


class WantedShareBody(ShareQueueBody, frozen=True, kw_only=True):
    """A share queue that the member wants, with the last epoch that it has read in the lane."""

    known_epoch: Int64 = 0
    has_messages: bool


class LeaseHeartbeatBody(Body, frozen=True, kw_only=True):
    """What a member has, wants and gives back; a share queue that is not named is not wanted."""

    held: _Bounded[HeldShareBody] = msgspec.field(default_factory=list)
    wanted: _Bounded[WantedShareBody] = msgspec.field(default_factory=list)
    released: _Bounded[ShareLeaseBody] = msgspec.field(default_factory=list)


class LeaseDecisionsBody(Body, frozen=True, kw_only=True):
    """What the arbiter decided; all other leases of the heartbeat are renewed.

    Attributes:
        ttl_ms: The time from the send of the heartbeat in which granted and renewed leases hold.
        awaited: Those of the member's share queues that another member waits for.
    """

    ttl_ms: Int64
    granted: list[ShareLeaseBody] = msgspec.field(default_factory=list)
    revoked: list[ShareQueueBody] = msgspec.field(default_factory=list)
    awaited: list[ShareQueueBody] = msgspec.field(default_factory=list)
