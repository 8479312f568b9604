"""Headers of our requests about locks and readers (7003, 7005)."""

from backend.remoting.headers.base import Header


class QueueLocksHeader(Header, frozen=True, kw_only=True):
    """The group whose locks are requested; without a group all (7003)."""

    consumer_group: str | None = None


class MembershipsHeader(Header, frozen=True, kw_only=True):
    """The group whose members are requested; without a group all (7007)."""

    consumer_group: str | None = None


class QueueReadersHeader(Header, frozen=True, kw_only=True):
    """The group and the topic whose readers are requested (7005)."""

    consumer_group: str
    topic: str
