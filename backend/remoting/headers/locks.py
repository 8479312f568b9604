"""Headers of what the control plane asks of locks and readers; ours (7003, 7005)."""

from backend.remoting.headers.base import Header


class QueueLocksHeader(Header, frozen=True, kw_only=True):
    """Whose locks are asked for; without a group all (7003)."""

    consumer_group: str | None = None


class MembershipsHeader(Header, frozen=True, kw_only=True):
    """Whose members are asked for; without a group all (7007)."""

    consumer_group: str | None = None


class QueueReadersHeader(Header, frozen=True, kw_only=True):
    """The group and the topic whose readers are asked for (7005)."""

    consumer_group: str
    topic: str
