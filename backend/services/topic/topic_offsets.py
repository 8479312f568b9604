"""Ask the masters that hold a topic where its queues begin and end now."""

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
    """Hold the ends of a topic's queues by broker group and queue, and who did not tell them."""

    queues: Mapping[tuple[str, int], QueueEnds]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime

    @property
    def message_count(self) -> int | None:
        """Count the messages of the brokers that told; None is that none did."""
        if self.unknown and not self.queues:
            return None
        return sum(one.count for one in self.queues.values())

    @property
    def is_complete(self) -> bool:
        """Tell whether all brokers told, so that the count is of all messages."""
        return not self.unknown


async def list_offsets(
    cluster_name: str, topic_name: str, *, database: Database, brokers: Brokers, clock: Clock
) -> TopicOffsets:
    """Ask the masters of the broker groups that hold the topic, and nobody else.

    Raises:
        InvalidName: no cluster or no topic may be called so.
        ClusterNotFound: no cluster is.
        TopicNotFound: no topic of the cluster is.
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
