"""Bodies of the lease heartbeats of share queues: ours (4102, queue-ownership.md 4.6)."""

from typing import Annotated, Final, TypeVar

import msgspec

from backend.remoting.bodies.base import Body
from backend.remoting.integers import Int32, Int64

ITEM_COUNT_MAX: Final = 4_096
"""The share queues in each list of a heartbeat."""

INCIDENT_COUNT_MAX: Final = 256
REASON_LENGTH_MAX: Final = 500
"""The characters of the reason of an incident."""

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


class ShareIncidentBody(Body, frozen=True, kw_only=True):
    """An incident of a member: of a record by its log position, of a lease, or of a whole topic.

    The epoch is that of the master, or of the lease. An incident of a lease names its share queue.
    One of a topic names only the topic: its queue id is -1 or absent, its consumer group empty or
    absent.
    """

    kind: str
    epoch: Int64
    lane: Int32 = 0
    position: Int64 | None = None
    topic: str | None = None
    queue_id: Int32 | None = None
    consumer_group: str | None = None
    reason: Annotated[str, msgspec.Meta(max_length=REASON_LENGTH_MAX)] | None = None


class LeaseHeartbeatBody(Body, frozen=True, kw_only=True):
    """What a member has, wants and gives back; a share queue that is not named is not wanted.

    Attributes:
        incidents: All incidents of the member now. Without the field they are as before. An arbiter
            of a former release ignores it.
    """

    held: _Bounded[HeldShareBody] = msgspec.field(default_factory=list)
    wanted: _Bounded[WantedShareBody] = msgspec.field(default_factory=list)
    released: _Bounded[ShareLeaseBody] = msgspec.field(default_factory=list)
    incidents: (
        Annotated[list[ShareIncidentBody], msgspec.Meta(max_length=INCIDENT_COUNT_MAX)]
        | msgspec.UnsetType
    ) = msgspec.UNSET


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
