"""Define the errors of changes to logical queues."""

from datetime import timedelta
from typing import Any

from backend.domain.errors import DomainError, ErrorKind


class InvalidQueueMapping(DomainError, kind=ErrorKind.INVALID):
    """A document is no queue mapping."""

    code = "invalid_queue_mapping"

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"the queue mapping is invalid at {place[:300]}: {reason[:300]}")
        self.place, self.reason = place, reason


class StaticTopicNotFound(DomainError, kind=ErrorKind.NOT_FOUND):
    """The cluster has no static topic of the name."""

    code = "static_topic_not_found"

    def __init__(self, cluster_name: str, topic_name: str) -> None:
        super().__init__(f"no static topic {topic_name!r} in cluster {cluster_name!r}")
        self.cluster_name, self.topic_name = cluster_name, topic_name


class StaticTopicExists(DomainError, kind=ErrorKind.CONFLICT):
    """There is a static topic of the name already, in this cluster or in another one."""

    code = "static_topic_exists"

    def __init__(self, topic_name: str) -> None:
        super().__init__(f"there is a static topic {topic_name!r} already")
        self.topic_name = topic_name


class QueueMappingMoved(DomainError, kind=ErrorKind.OUTDATED):
    """The mapping of a topic is not the one any more that a change was decided from."""

    code = "queue_mapping_moved"

    def __init__(self, topic_name: str, epoch: int) -> None:
        super().__init__(
            f"the queue mapping of topic {topic_name!r} was changed after epoch {epoch} was read"
        )
        self.topic_name, self.epoch = topic_name, epoch


class QueueChangeRefused(DomainError, kind=ErrorKind.CONFLICT):
    """The present state of a topic does not allow the change of its logical queues."""

    code = "queue_change_refused"

    def __init__(self, topic_name: str, reason: str) -> None:
        super().__init__(f"the logical queues of topic {topic_name!r} do not change: {reason}")
        self.topic_name, self.reason = topic_name, reason


class QueueMappingBroken(DomainError, kind=ErrorKind.CONFLICT):
    """The mapping of a topic breaks invariants, so that no change can be planned on it."""

    code = "queue_mapping_broken"

    def __init__(self, topic_name: str, findings: tuple[str, ...]) -> None:
        super().__init__(
            f"the queue mapping of topic {topic_name!r} is broken; repair it first:"
            f" {'; '.join(findings[:5])}"
        )
        self.topic_name, self.findings = topic_name, findings

    @property
    def facts(self) -> dict[str, Any]:
        """Return all findings."""
        return {"findings": list(self.findings)}


class QueueEpochFenced(DomainError, kind=ErrorKind.CONFLICT):
    """A request of an older change reached a broker that knows a newer one."""

    code = "queue_epoch_fenced"

    def __init__(self, topic_name: str, epoch: int, *, held: int) -> None:
        super().__init__(
            f"epoch {epoch} of topic {topic_name!r} is older than epoch {held} of the broker"
        )
        self.topic_name, self.epoch, self.held = topic_name, epoch, held


class LeaderLeaseLive(DomainError, kind=ErrorKind.CONFLICT):
    """The leader of a queue can't be asked, and may take messages until its lease ends (L47)."""

    code = "leader_lease_live"

    def __init__(self, topic_name: str, broker_group_name: str, left: timedelta) -> None:
        super().__init__(
            f"broker group {broker_group_name!r} may take messages of topic {topic_name!r} for"
            f" {left.total_seconds():.1f} s: a master of it has a lease"
        )
        self.topic_name, self.broker_group_name, self.left = topic_name, broker_group_name, left


class SealedOffsetLost(DomainError, kind=ErrorKind.CONFLICT):
    """A new master of a source sealed a queue below its confirmed end (logical-queues.md 10.2)."""

    code = "sealed_offset_lost"

    def __init__(self, topic_name: str, global_id: int, *, sealed: int, found: int) -> None:
        super().__init__(
            f"logical queue {global_id} of topic {topic_name!r} was sealed at offset {sealed},"
            f" and its broker now answers {found}: confirmed messages are missing"
        )
        self.topic_name, self.global_id = topic_name, global_id
        self.sealed, self.found = sealed, found
