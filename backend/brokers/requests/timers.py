"""Ask brokers how messages for a time stand, and have one recalled."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Brokers, Inquiry, Request
from backend.brokers.change import Change
from backend.brokers.errors import UnexpectedAnswer
from backend.brokers.requests.figures import GetRuntimeInfo
from backend.domain.timer import HeldTimers, TimerSpan, TopicTimers
from backend.remoting import java_json
from backend.remoting.bodies.timers import TimerMetricsBody, TimersBody
from backend.remoting.command import Command
from backend.remoting.headers import RecallHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

_NUMBER: Final = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class _GetAgentTimers(Request[HeldTimers | None]):
    code = RequestCode.GET_TIMERS
    absence = ResponseCode.REQUEST_CODE_NOT_SUPPORTED

    def read(self, response: Command) -> HeldTimers:
        body = java_json.decode(response.body, TimersBody)
        return HeldTimers(
            waiting_count=body.waiting_count,
            untaken_count=body.untaken_count,
            behind_ms=body.behind_ms,
            hindrance=body.hindrance,
            overdue_count=body.overdue_count,
            held_count=body.held_count,
            rolled_count=body.rolled_count,
            first_due_ms=body.first_due_ms,
            last_due_ms=body.last_due_ms,
            minutes=tuple(TimerSpan(*one) for one in body.minutes),
            hours=tuple(TimerSpan(*one) for one in body.hours),
            topics=tuple(TopicTimers(*one) for one in body.topics),
            topic_count=body.topic_count,
        )


@dataclass(frozen=True, slots=True)
class _GetStockTopics(Request[tuple[TopicTimers, ...]]):
    """Ask a stock broker for its counts; without a timer wheel it has none."""

    code = RequestCode.GET_TIMER_METRICS
    absence = ResponseCode.SYSTEM_ERROR
    nothing = ()

    def read(self, response: Command) -> tuple[TopicTimers, ...]:
        counts = java_json.decode(response.body, TimerMetricsBody).timing_count
        found = [TopicTimers(name, one.count) for name, one in counts.items() if one.count > 0]
        return tuple(sorted(found, key=lambda one: (-one.waiting_count, one.topic)))


@dataclass(frozen=True, slots=True)
class GetTimers(Inquiry[HeldTimers]):
    """Ask a broker how its messages for a time stand; a stock broker reports no due times."""

    async def put(self, brokers: Brokers, address: str) -> HeldTimers:
        answer = await brokers.ask(address, _GetAgentTimers())
        if answer is not None:
            return answer
        topics = await brokers.ask(address, _GetStockTopics())
        figures = await brokers.ask(address, GetRuntimeInfo())
        return HeldTimers(
            waiting_count=_figure(figures, "timerCongestNum"),
            untaken_count=_figure(figures, "timerOffsetBehind"),
            behind_ms=_figure(figures, "timerReadBehind") * 1000,
            hindrance=None,
            overdue_count=None,
            held_count=None,
            rolled_count=None,
            first_due_ms=None,
            last_due_ms=None,
            minutes=None,
            hours=None,
            topics=topics,
            topic_count=len(topics),
        )


def _figure(figures: Mapping[str, str], name: str) -> int:
    text = figures.get(name, "0")
    if text.startswith("-"):
        # Stock counts the slot ahead of the clock as -1.
        return 0
    if not _NUMBER.fullmatch(text):
        raise UnexpectedAnswer(f"its figure {name} is {text[:40]!r}, no number")
    return int(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMessage(Change):
    """Have a master cancel a message that waits for a time; a second recall changes nothing."""

    code = RequestCode.RECALL_MESSAGE
    header_type = RecallHeader

    topic: str
    recall_handle: str
