"""Describe messages that wait for a time, as brokers count them."""

from dataclasses import dataclass

from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.message import StoredMessage
from backend.domain.queue_lock import BrokerKey


@dataclass(frozen=True, slots=True)
class TimerSpan:
    """Hold a minute or an hour, by its start in ms since 1970, and the messages due in it."""

    starts_ms: int
    waiting_count: int


@dataclass(frozen=True, slots=True)
class TopicTimers:
    """Hold a topic and the number of its messages that wait for a time."""

    topic: str
    waiting_count: int


@dataclass(frozen=True, slots=True)
class HeldTimers:
    """Hold how the messages for a time of a broker stand, as the broker reports it.

    Times are ms since 1970 by the clock of the broker. None means that a stock broker does not
    report the value. `hindrance` is None if nothing is in the way of deliveries. `minutes` are
    those of the next hour. `rolled_count` messages are due later than the wheel reaches; they are
    in the spans in which the broker stores them again.
    """

    waiting_count: int
    untaken_count: int
    behind_ms: int
    hindrance: str | None
    overdue_count: int | None
    held_count: int | None
    rolled_count: int | None
    first_due_ms: int | None
    last_due_ms: int | None
    minutes: tuple[TimerSpan, ...] | None
    hours: tuple[TimerSpan, ...] | None
    topics: tuple[TopicTimers, ...]
    topic_count: int


@dataclass(frozen=True, slots=True)
class BrokerTimers:
    """Hold how the messages for a time of a master stand."""

    broker: BrokerKey
    held: HeldTimers

    @property
    def key(self) -> tuple[str, str, str]:
        """Return a key that orders masters in lists, and identifies each."""
        broker = self.broker
        return (broker.cluster_name, broker.broker_group_name, broker.address)


@dataclass(frozen=True, slots=True)
class TimerFilter:
    """Choose masters; those with a waiting message of the topic, if one is given."""

    cluster_name: str | None = None
    broker_group_name: str | None = None
    topic: str | None = None
    within: ClusterScope = EVERYWHERE

    def takes(self, one: BrokerTimers) -> bool:
        """Return whether a master fulfils the conditions."""
        return self.topic is None or any(found.topic == self.topic for found in one.held.topics)


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """Hold the message that a handle names, if it is there, and whether it is recalled."""

    message: StoredMessage | None
    is_recalled: bool
