"""Headers of our requests about share queues (7031, 7032, 7034, 7036, 4101)."""

from backend.remoting.headers.base import Header
from backend.remoting.integers import Int32, Int64


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


class ShareStateAppendHeader(Header, frozen=True, kw_only=True):
    """The member whose records of share queues are in the body (4101, queue-ownership.md 4.3).

    `life` is a number that each start of its process changes.
    """

    broker_name: str
    broker_id: Int64
    life: Int64


class SharesAppendedHeader(Header, frozen=True, kw_only=True):
    """What came of records of share queues: all of them are in the state log, or none is (4101).

    The verdict is DONE, FENCED where another member has a later lease epoch, or REFUSED. The
    position is that behind the records in the log.
    """

    verdict: str
    position: Int64


class CompactShareQueuesHeader(Header, frozen=True, kw_only=True):
    """The version of the records in which the lane is written again (7037)."""

    version: Int32
