"""Describe messages that an acting master sends to other broker groups, as it counts them."""

from dataclasses import dataclass

from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.queue_lock import BrokerKey


@dataclass(frozen=True, slots=True)
class OutboxTopic:
    """Hold the messages of a topic that wait for a master of another broker group.

    `kind` says what they waited for before. Durations are by the clock of the broker.
    """

    kind: str
    topic: str
    entry_count: int
    oldest_age_ms: int
    failure_count: int
    last_failure: str | None
    next_attempt_in_ms: int | None


@dataclass(frozen=True, slots=True)
class BrokerOutboxTopic:
    """Hold such messages of one acting master."""

    broker: BrokerKey
    waiting: OutboxTopic

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """Return a key that orders the entries of a list, and identifies each."""
        broker, waiting = self.broker, self.waiting
        group = (broker.cluster_name, broker.broker_group_name, broker.address)
        return (*group, waiting.topic, waiting.kind)


@dataclass(frozen=True, slots=True)
class OutboxFilter:
    """Choose messages of acting masters."""

    cluster_name: str | None = None
    broker_group_name: str | None = None
    topic: str | None = None
    within: ClusterScope = EVERYWHERE
