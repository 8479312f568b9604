"""Find the logical queue that a request of a client names (logical-queues.md 13.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.lookup import Located, locate, newest_segment
from backend.domain.logical_queue.mapping import LogicalQueue
from backend.domain.logical_queue.segment import QueueSegment
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import NotLeading, Refusal

if TYPE_CHECKING:
    from workers.broker.broker import Broker

LOGICAL_FIELD: Final = "lo"
HINT_FIELD: Final = "lqHint"
"""Ours: the broker group that leads the queue, and the epoch by which it is known."""


@dataclass(frozen=True, slots=True)
class LedQueue:
    """A logical queue that this broker group leads; its last segment is decided."""

    topic_name: str
    queue: LogicalQueue
    leader: QueueSegment

    def locate(self, logical_offset: int) -> Located:
        """Return the segment and the physical offset of a logical one."""
        located = locate(self.queue, logical_offset)
        return located or Located(self.leader, self.leader.to_physical(logical_offset))


def is_logical(ext: Mapping[str, str]) -> bool:
    """Return whether the ids and offsets of a request are logical ones, if its topic is static."""
    return ext.get(LOGICAL_FIELD, "").lower() != "false"


def find_led(
    broker: "Broker", ext: Mapping[str, str], topic_name: str, global_id: int
) -> LedQueue | None:
    """Return the logical queue of a request; None for a physical one.

    Raises:
        Refusal: another broker group leads the queue, or its mapping is undecided.
    """
    topic = broker.static_topics.find(topic_name)
    if topic is None or not is_logical(ext):
        return None
    queue = topic.mapping.queue(global_id)
    if queue is None or not topic.mapping.leads(global_id):
        raise not_leading(topic, global_id)
    return LedQueue(topic_name, queue, _decided_leader(topic, queue))


def _decided_leader(topic: BrokerTopic, queue: LogicalQueue) -> QueueSegment:
    leader = newest_segment(queue)
    if leader is None or leader != queue.leader:
        place = f"logical queue {queue.global_id} of topic[{topic.info.topic_name}]"
        raise Refusal(ResponseCode.SYSTEM_BUSY, f"the mapping of {place} is undecided")
    return leader


def not_leading(topic: BrokerTopic, global_id: int) -> NotLeading:
    """Return the refusal of a request for a queue that is led elsewhere, with a hint where."""
    info, queue = topic.info, topic.mapping.queue(global_id)
    leader_name = None if queue is None else queue.leader_name
    is_known = leader_name is not None and leader_name != info.broker_group_name
    return NotLeading(
        info.topic_name,
        global_id,
        f"broker group {info.broker_group_name} does not take requests for logical queue"
        f" {global_id} of topic[{info.topic_name}]: ask for the route again",
        {HINT_FIELD: f"{leader_name}@{info.epoch}"} if is_known else None,
    )


def check_send(broker: "Broker", topic: BrokerTopic, global_id: int) -> None:
    """Check that a queue takes messages; a negative id means any queue.

    Raises:
        Refusal: another broker group leads the queue, the queue is sealed, or its mapping is
            undecided.
    """
    queue = topic.mapping.queue(global_id)
    if queue is not None and topic.mapping.leads(global_id):
        _decided_leader(topic, queue)
    if not takes_sends(broker, topic, global_id):
        raise not_leading(topic, global_id)


def takes_sends(broker: "Broker", topic: BrokerTopic, global_id: int) -> bool:
    """Return whether a queue takes messages here; a negative id means any queue."""
    if global_id < 0:
        return bool(taking_queues(broker, topic))
    return broker.leading.admits_sends(topic, global_id)


def taking_queues(broker: "Broker", topic: BrokerTopic) -> list[int]:
    """Return the logical queues that take messages here."""
    return [one for one in sorted(topic.mapping.hosted) if takes_sends(broker, topic, one)]


def check_dynamic(broker: "Broker", topic_name: str) -> None:
    """Check that a topic is not static.

    Raises:
        Refusal: the request is only for other topics.
    """
    if broker.static_topics.find(topic_name) is not None:
        reason = f"the topic[{topic_name}] is static: the request is only for other topics"
        raise Refusal(ResponseCode.ILLEGAL_OPERATION, reason)
