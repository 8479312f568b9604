"""Check what every plan of a change of logical queues needs before and after it is made."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from backend.domain.logical_queue.change import next_epoch
from backend.domain.logical_queue.errors import QueueChangeRefused, QueueMappingBroken
from backend.domain.logical_queue.invariant import MappingFinding
from backend.domain.logical_queue.mapping import QUEUE_COUNT_MAX, QueueCounts, TopicMapping
from backend.domain.logical_queue.topic_checks import check_plan


@dataclass(frozen=True, slots=True)
class ClusterGroups:
    """Hold the broker groups of a cluster, and those among them whose master answers.

    `cordoned` are those whose master has no right to write: they take a logical queue only where an
    operator names them.
    """

    names: frozenset[str]
    answering: frozenset[str]
    cordoned: frozenset[str] = frozenset()

    @property
    def open_names(self) -> frozenset[str]:
        """Return the broker groups that take logical queues without being named."""
        return self.names - self.cordoned


def begin(topic: TopicMapping, now_ms: int, *, names: Collection[str] = ()) -> TopicMapping:
    """Return the topic in a new epoch, known to all broker groups of the cluster."""
    epoch = next_epoch(topic, now_ms=now_ms, topic_name=topic.topic_name)
    counts = {name: QueueCounts() for name in sorted(names)} | dict(topic.counts)
    return replace(topic, epoch=epoch, counts=counts)


def check_sound(topic: TopicMapping) -> None:
    """Refuse a mapping that breaks an invariant.

    Raises:
        QueueMappingBroken: it does.
    """
    findings = check_plan(topic)
    if findings:
        raise QueueMappingBroken(topic.topic_name, tuple(map(str, findings)))


def refuse(topic: TopicMapping, findings: Iterable[MappingFinding]) -> None:
    """Refuse a change with findings.

    Raises:
        QueueChangeRefused: there are findings.
    """
    if reasons := [str(one) for one in findings]:
        raise QueueChangeRefused(topic.topic_name, "; ".join(reasons[:5]))


def check_count(topic_name: str, queue_count: int) -> None:
    """Refuse a queue count out of range.

    Raises:
        QueueChangeRefused: the count is not 1 to `QUEUE_COUNT_MAX`.
    """
    if not 0 < queue_count <= QUEUE_COUNT_MAX:
        reason = f"the queue count is 1 to {QUEUE_COUNT_MAX}, not {queue_count}"
        raise QueueChangeRefused(topic_name, reason)


def check_targets_answer(topic_name: str, targets: Collection[str], groups: ClusterGroups) -> None:
    """Refuse targets outside of the cluster, and a cluster in which a master does not answer.

    Raises:
        QueueChangeRefused: there is no target, or one of these faults.
    """
    if not targets:
        raise QueueChangeRefused(topic_name, "no broker group is a target")
    if unknown := sorted(set(targets) - groups.names):
        raise QueueChangeRefused(topic_name, f"{unknown[0]} is not in the cluster")
    if silent := sorted(groups.names - groups.answering):
        raise QueueChangeRefused(topic_name, f"the master of {silent[0]} does not answer")
