"""Ask the masters with a topic for the present offsets of its queues."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from backend.brokers.asking import Brokers
from backend.brokers.requests.topics import GetTopicEnds, QueueEnds
from backend.clients.clock import Clock
from backend.db import logical_queues
from backend.db.engine import Database
from backend.domain.logical_queue.lookup import ends_of, newest_segment
from backend.domain.logical_queue.mapping import Place, TopicMapping
from backend.domain.logical_queue.reading import count_unread
from backend.domain.logical_queue.segment import QueueBounds
from backend.services.cluster.broker_questions import Questions, UnknownBroker, find_masters
from backend.services.topic.topics import describe_topic, list_placements


@dataclass(frozen=True, slots=True)
class TopicOffsets:
    """Hold the offsets of the queues of a topic by broker group and queue, and missing answers.

    The queues of a static topic are logical: by the broker group that leads them. `stored_count` is
    the number of messages: offsets of logical queues can have gaps.
    """

    queues: Mapping[tuple[str, int], QueueEnds]
    stored_count: int
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime

    @property
    def message_count(self) -> int | None:
        """Count the messages of the brokers that answered; None if none did."""
        if self.unknown and not self.queues:
            return None
        return self.stored_count

    @property
    def is_complete(self) -> bool:
        """Return whether all brokers answered, so that the count includes all messages."""
        return not self.unknown


async def list_offsets(
    cluster_name: str, topic_name: str, *, database: Database, brokers: Brokers, clock: Clock
) -> TopicOffsets:
    """Ask only the masters of the broker groups with the topic.

    Raises:
        InvalidName: the name of the cluster or of the topic is invalid. ClusterNotFound: there is
        no such cluster. TopicNotFound: the cluster has no such topic.
    """
    topic = await describe_topic(cluster_name, topic_name, database=database)
    placements = (await list_placements([topic.id], database=database))[topic.id]
    holding = {one.broker_group_name for one in placements}
    questions = Questions(brokers)
    masters = await find_masters(cluster_name, questions, database=database, holding=holding)
    answers = await questions.ask_all(masters, GetTopicEnds(topic_name))
    queues = {
        (broker.broker_group_name, queue_id): one
        for broker, ends in answers.items()
        for queue_id, one in ends.items()
    }
    async with database.connect() as connection:
        static = await logical_queues.find(connection, cluster_name, topic_name)
    stored_count = sum(one.count for one in queues.values())
    if static is not None:
        queues, stored_count = logical_ends(static.mapping, queues)
    return TopicOffsets(dict(sorted(queues.items())), stored_count, questions.unknown, clock.now())


def logical_ends(
    mapping: TopicMapping, queues: Mapping[Place, QueueEnds]
) -> tuple[dict[Place, QueueEnds], int]:
    """Return the offsets of the logical queues whose ends are known, and their messages."""
    bounds = {place: QueueBounds(one.low, one.high) for place, one in queues.items()}
    found: dict[Place, QueueEnds] = {}
    stored_count = 0
    for queue in mapping.queues:
        ends, newest = ends_of(queue, bounds), newest_segment(queue)
        if newest is None or ends.max_offset is None or ends.min_offset is None:
            continue
        times = (queues[one.place].stored_at_ms for one in queue.segments if one.place in queues)
        stored_at_ms = max((at for at in times if at is not None), default=None)
        place = newest.broker_group_name, queue.global_id
        found[place] = QueueEnds(ends.min_offset, ends.max_offset, stored_at_ms)
        unread = count_unread(queue, ends.min_offset, bounds)
        stored_count += 0 if unread is None else unread.lag
    return found, stored_count
