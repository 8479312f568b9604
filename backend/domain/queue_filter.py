"""Choose what belongs to one queue and one consumer group: locks, share queues, incidents."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from backend.domain.cluster_scope import EVERYWHERE, ClusterScope

if TYPE_CHECKING:
    from backend.domain.queue_lock import BrokerKey


class OfQueue(Protocol):
    """What a broker reports of one queue and one consumer group."""

    @property
    def consumer_group_name(self) -> str:
        """Return the consumer group."""

    @property
    def topic(self) -> str:
        """Return the topic."""

    @property
    def queue_id(self) -> int:
        """Return the number of the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFilter:
    """Hold the conditions that each list by queue has. Each condition that is given is required."""

    cluster_name: str | None = None
    consumer_group_name: str | None = None
    topic: str | None = None
    broker_group_name: str | None = None
    queue_id: int | None = None
    within: ClusterScope = EVERYWHERE

    def takes_queue(self, broker: "BrokerKey", held: OfQueue) -> bool:
        """Return whether what a broker reports of a queue fulfils the conditions."""
        found = (
            (self.cluster_name, broker.cluster_name),
            (self.consumer_group_name, held.consumer_group_name),
            (self.topic, held.topic),
            (self.broker_group_name, broker.broker_group_name),
            (self.queue_id, held.queue_id),
        )
        return all(wanted is None or wanted == value for wanted, value in found)
