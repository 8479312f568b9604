"""Show how messages for a time stand on brokers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.timer import BrokerTimers, TimerSpan, TopicTimers
from backend.views.copying import Copied, copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    CLUSTER_NAME,
    TOPIC_NAME,
)
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.instants import reported_instant
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class TimerSpanOut:
    """A minute or an hour, and the messages that are due in it."""

    starts_at: Annotated[datetime, Text("Start of the minute or hour.")]
    waiting_count: Annotated[Int64, Text("Number of messages that are due in it.")]


@dataclass(frozen=True, slots=True)
class TopicTimersOut(Copied[TopicTimers]):
    """A topic, and its messages that wait for a time."""

    topic: Annotated[str, TOPIC_NAME]
    waiting_count: Annotated[Int64, Text("Number of its messages that wait.")]


@dataclass(frozen=True, slots=True)
class BrokerTimersOut:
    """A master, and its messages that wait for a time. RocketMQ brokers do not report due times."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    broker_address: Annotated[str, BROKER_ADDRESS]
    waiting_count: Annotated[Int64, Text("Number of messages that wait.")]
    overdue_count: Annotated[
        Int64 | None, Text("Number of waiting messages whose time has come. Null if unknown.")
    ]
    held_count: Annotated[
        Int64 | None,
        Text("Number of overdue messages whose queue takes none now. Null if unknown."),
    ]
    rolled_count: Annotated[
        Int64 | None,
        Text(
            "Number of messages that are due later than the wheel reaches. The broker stores them"
            " again before, and lists them there. Null if unknown."
        ),
    ]
    untaken_count: Annotated[
        Int64,
        Text("Number of messages that the wheel has not taken yet. No other number has them."),
    ]
    behind_ms: Annotated[
        Int64, Text("Milliseconds that the next slot of the wheel is late. 0 if it is in time.")
    ]
    hindrance: Annotated[
        str | None, Text("Why due messages are not delivered. Null if nothing is in the way.")
    ]
    first_due_at: Annotated[
        datetime | None,
        Text("Time when the first message is due. Null if unknown, or if none."),
    ]
    last_due_at: Annotated[
        datetime | None, Text("Time when the last message is due. Null if unknown, or if none.")
    ]
    minutes: Annotated[
        list[TimerSpanOut] | None, Text("Minutes of the next hour with messages. Null if unknown.")
    ]
    hours: Annotated[
        list[TimerSpanOut] | None, Text("Hours in which messages are due. Null if unknown.")
    ]
    topics: Annotated[
        list[TopicTimersOut], Text("Topics with waiting messages, the largest numbers first.")
    ]
    topic_count: Annotated[int, Text("Number of topics with waiting messages.")]

    @classmethod
    def of(cls, timers: BrokerTimers) -> Self:
        """Show a master."""
        held = timers.held
        return copied(
            cls,
            held,
            cluster_name=timers.broker.cluster_name,
            broker_group_name=timers.broker.broker_group_name,
            broker_address=timers.broker.address,
            first_due_at=reported_instant(held.first_due_ms),
            last_due_at=reported_instant(held.last_due_ms),
            minutes=_spans(held.minutes),
            hours=_spans(held.hours),
            topics=[TopicTimersOut.of(one) for one in held.topics],
        )


@in_graph("Timers")
@dataclass(frozen=True, slots=True)
class TimersOut(ObservedPage[BrokerTimersOut, UnknownBrokerOut]):
    """One page of masters with their messages for a time, and those that did not report all."""


def _spans(spans: tuple[TimerSpan, ...] | None) -> list[TimerSpanOut] | None:
    """Show minutes or hours, except those that are outside all calendars."""
    if spans is None:
        return None
    times = [(reported_instant(one.starts_ms), one.waiting_count) for one in spans]
    return [TimerSpanOut(at, count) for at, count in times if at is not None]
