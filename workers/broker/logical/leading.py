"""Compute what the engine has to know of a static topic: which queues it serves and which it seals.

Every other queue of the topic takes no message, by any path (logical-queues.md 9.5).
"""

from collections.abc import Mapping

import structlog
from regent_engine import LeadingQueues, Store, StoreError

from backend.domain.logical_queue.broker_copy import BrokerTopic

Segment = tuple[int, int, int, bool]
"""Queue id, physical start, logical start; whether the segment takes messages."""

Place = tuple[int, int, int, int]
"""Global id, queue id, physical start, logical start."""

log = structlog.get_logger()


def leading_segments(topic: BrokerTopic, *, is_confirmed: bool = True) -> Mapping[int, Segment]:
    """Return the last segments of the led queues, by global id, as `LeadingQueues` takes them.

    Without confirmation none takes messages.
    """
    found = {}
    for global_id, segments in topic.mapping.hosted.items():
        if topic.mapping.leads(global_id) and segments[-1].is_decided:
            last = segments[-1]
            found[global_id] = (
                last.queue_id,
                last.physical_start,
                last.logical_start,
                is_confirmed and topic.admits_sends(global_id),
            )
    return found


def leading_places(topic: BrokerTopic) -> frozenset[Place]:
    """Return where the led queues have their last segments."""
    return frozenset(
        (global_id, queue_id, physical_start, logical_start)
        for global_id, (queue_id, physical_start, logical_start, _) in leading_segments(
            topic
        ).items()
    )


def closed_queues(topic: BrokerTopic, *, is_confirmed: bool = True) -> frozenset[int]:
    """Return the physical queues that once took messages of the topic, and take none now."""
    segments = leading_segments(topic, is_confirmed=is_confirmed).values()
    open_ids = {queue_id for queue_id, _, _, takes_sends in segments if takes_sends}
    name = topic.info.broker_group_name
    used = {
        one.queue_id
        for segments in topic.mapping.hosted.values()
        for one in segments
        if one.broker_group_name == name
    }
    return frozenset((used | topic.retired.keys()) - open_ids)


class LeadingTable:
    """What the engine knows of static topics: the queues that it serves, and those that it seals.

    Seals of the engine are in memory only. No queue takes messages before the control plane has
    confirmed the mappings of this broker group (INV-34).
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._is_confirmed = False
        self.outdated: frozenset[str] = frozenset()
        self._queues: dict[str, LeadingQueues] = {}
        self._places: dict[str, frozenset[Place]] = {}
        self._sealed: dict[str, frozenset[int]] = {}

    def find(self, topic_name: str) -> LeadingQueues | None:
        """Return the queues of a static topic that are led here; None for other topics."""
        return self._queues.get(topic_name)

    def confirm(self, outdated: frozenset[str]) -> None:
        """Note that mappings are those of the control plane, except outdated ones; update all."""
        self._is_confirmed, self.outdated = True, outdated

    def withdraw(self) -> None:
        """Note that mappings may be outdated; update all topics then."""
        self._is_confirmed = False

    def replaced(self, topic_name: str) -> None:
        """Note that the control plane has sent the present mapping of a topic."""
        self.outdated -= {topic_name}

    def is_confirmed(self, topic_name: str) -> bool:
        """Return whether the mapping of a topic is that of the control plane."""
        return self._is_confirmed and topic_name not in self.outdated

    def stored_at(self, topic_name: str, queue_id: int) -> int:
        """Return the physical queue of a queue that is led here; of other topics it is the same."""
        places = self._places.get(topic_name, frozenset())
        return next((place[1] for place in places if place[0] == queue_id), queue_id)

    def admits_sends(self, topic: BrokerTopic, global_id: int) -> bool:
        """Return whether a logical queue takes messages here."""
        return self.is_confirmed(topic.info.topic_name) and topic.admits_sends(global_id)

    def delivery_queue(self, topic: BrokerTopic, queue_id: int) -> int | None:
        """Return the physical queue that takes a delayed message of another one; None if none does.

        The message is from before the topic became static: such topics take no delayed messages.
        """
        if not self.is_confirmed(topic.info.topic_name):
            return None
        open_ids = sorted(one[0] for one in leading_segments(topic).values() if one[3])
        if queue_id in open_ids or not open_ids:
            return queue_id if open_ids else None
        return open_ids[queue_id % len(open_ids)]

    def update(self, topic_name: str, topic: BrokerTopic | None) -> bool:
        """Take over a topic, None if it is not static any more; return whether a queue has left."""
        former = self._places.pop(topic_name, frozenset())
        self._queues.pop(topic_name, None)
        closed: frozenset[int] = frozenset()
        if topic is not None:
            is_confirmed = self.is_confirmed(topic_name)
            segments = leading_segments(topic, is_confirmed=is_confirmed)
            self._queues[topic_name] = LeadingQueues(segments)
            self._places[topic_name] = leading_places(topic)
            closed = closed_queues(topic, is_confirmed=is_confirmed)
        self._seal(topic_name, closed)
        return bool(former - self._places.get(topic_name, frozenset()))

    def _seal(self, topic_name: str, closed: frozenset[int]) -> None:
        former = self._sealed.pop(topic_name, frozenset())
        if closed:
            self._sealed[topic_name] = closed
        try:
            for queue_id in sorted(closed - former):
                self._store.seal_queue(topic_name, queue_id)
            for queue_id in sorted(former - closed):
                self._store.unseal_queue(topic_name, queue_id)
        except StoreError as error:
            # A store that takes no message needs no seal: it is opened again before it does.
            log.warning("queue_not_sealed", topic_name=topic_name, reason=str(error))
