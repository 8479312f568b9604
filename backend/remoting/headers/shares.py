"""Headers of our requests about share queues (7031, 7032, 7034, 7036)."""

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32


class ShareQueuesHeader(Header, frozen=True, kw_only=True):
    """The topic and the group whose share queues are requested; without them all (7031)."""

    topic: str | None = None
    consumer_group: str | None = None


class ShareQueueHeader(Header, frozen=True, kw_only=True):
    """The share queue whose messages are requested (7032)."""

    topic: str
    queue_id: Int32
    consumer_group: str


class FinishedSharesHeader(Header, frozen=True, kw_only=True):
    """The last share queue of the page before the requested one (7034)."""

    after_topic: str = ""
    after_queue_id: Int32 = -1
    after_consumer_group: str = ""


class TakeShareQueuesHeader(Header, frozen=True, kw_only=True):
    """The logical queue whose share queues its next leader takes over (7036)."""

    topic: str
    global_id: Int32


class CompactShareQueuesHeader(Header, frozen=True, kw_only=True):
    """The version of the records in which the lane is written again (7037)."""

    version: Int32
