"""Say what can be ordered of the locks of ordered queues."""

from dataclasses import dataclass
from typing import Annotated

from backend.domain.orders.parameter import INT_MAX, ClusterName, Parameter
from backend.domain.queue_lock import LockFilter


def _name(text: str, option: str) -> Parameter:
    return Parameter(text, option=option, length_min=1, length_max=300)


@dataclass(frozen=True, slots=True)
class ReleaseLocks:
    """Release what a client holds: all of it, or only what the other facts name."""

    cluster_name: ClusterName
    client_id: Annotated[str, _name("Id of the client that holds the locks.", "holder")]
    consumer_group_name: Annotated[
        str | None, _name("Only locks of this consumer group.", "group")
    ] = None
    topic: Annotated[str | None, _name("Only locks of queues of this topic.", "topic")] = None
    queue_id: Annotated[
        int | None,
        Parameter("Only locks of the queue with this number.", option="queue", low=0, high=INT_MAX),
    ] = None
    broker_group_name: Annotated[
        str | None, _name("Only locks on this broker group.", "broker_group")
    ] = None

    @property
    def target(self) -> str:
        """Name the queue where one is meant, else the client."""
        if self.topic is None or self.queue_id is None:
            return self.client_id
        return f"{self.topic}/{self.queue_id}"

    @property
    def chosen(self) -> LockFilter:
        """Say which locks are meant."""
        return LockFilter(
            cluster_name=self.cluster_name,
            consumer_group_name=self.consumer_group_name,
            topic=self.topic,
            broker_group_name=self.broker_group_name,
            queue_id=self.queue_id,
            client_id=self.client_id,
        )
