"""Read and store what this broker group keeps of a static topic: its mapping and its layout."""

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.mapping import QueueCounts
from backend.remoting.bodies import TopicConfig

if TYPE_CHECKING:
    from workers.broker.broker import Broker


def find_copy(broker: "Broker", name: str) -> BrokerTopic | None:
    """Return a static topic with the number of queues that its layout has now."""
    static, topic = broker.static_topics.find(name), broker.topics.find(name)
    if static is None or topic is None:
        return static
    counts = QueueCounts(topic.read_queue_count, topic.write_queue_count)
    return replace(static, counts=counts)


def put_copy(broker: "Broker", topic: TopicConfig, static: BrokerTopic) -> None:
    """Store a static topic; its layout has the queues that the change added."""
    counts = static.counts
    layout = msgspec.structs.replace(
        topic, read_queue_count=counts.read_count, write_queue_count=counts.write_count
    )
    broker.put_static_topic(layout, static)
