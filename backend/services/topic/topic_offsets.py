"""Ask the masters with a topic for the present offsets of its queues."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from backend.brokers.asking import Brokers
from backend.brokers.requests.topics import GetTopicEnds, QueueEnds
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.services.cluster.broker_questions import Questions, UnknownBroker, find_masters
from backend.services.topic.topics import describe_topic, list_placements


@dataclass(frozen=True, slots=True)
class TopicOffsets:
    """Hold the offsets of the queues of a topic by broker group and queue, and missing answers."""

    queues: Mapping[tuple[str, int], QueueEnds]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime

    @property
    def message_count(self) -> int | None:
        """Count the messages of the brokers that answered; None if none did."""
        if self.unknown and not self.queues:
            return None
        return sum(one.count for one in self.queues.values())

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
    return TopicOffsets(dict(sorted(queues.items())), questions.unknown, clock.now())
