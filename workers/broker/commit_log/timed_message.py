"""Divert a message that is to be delivered at a time to the timer topic (storage-and-ha.md 6.3)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from regent_engine import encode_properties

from backend.remoting.names import TIMER_TOPIC
from backend.remoting.response_code import ResponseCode
from backend.rules.recall_handle import RecallHandle
from backend.rules.topic import RETRY_PREFIX
from workers.broker.commit_log.message import (
    CRC,
    DELAY,
    DELAY_MS,
    DELAY_S,
    DELIVER_AT_MS,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TIMER_PROPERTIES,
    UNIQUE_KEY,
    Message,
)
from workers.broker.errors import Refusal

OUT_MS: Final = "TIMER_OUT_MS"
"""The start of the slot in which a message waits."""

CANCELLED_KEY: Final = "TIMER_DEL_UNIQKEY"
"""Topic and unique key, joined by `+`, of the message that this one cancels."""

NO_LIMIT: Final = 2**31 - 1
"""The default of the limit of a slot, which no slot can reach."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}")
_SHOWN_LENGTH: Final = 40
_ADDED: Final = dict.fromkeys(("TIMER_ENQUEUE_MS", "TIMER_DEQUEUE_MS"), "9" * 19)
"""What the delivered copy has besides: the diverted message must fit with it."""

WAIT_PROPERTIES: Final = frozenset(
    {
        *TIMER_PROPERTIES,
        *_ADDED,
        CANCELLED_KEY,
        DELAY,
        OUT_MS,
        REAL_QUEUE_ID,
        REAL_TOPIC,
        "TIMER_ROLL_TIMES",
    }
)
"""The properties that decide about a wait, or remain of one: a copy that waits has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerRules:
    """The settings of a broker that concern messages for a time."""

    is_enabled: bool
    precision_ms: int
    delay_ms_max: int
    slot_count_max: int


def find_slot(
    properties: Mapping[str, str],
    rules: TimerRules,
    *,
    now_ms: int,
    count_at: Callable[[int], int],
    chance: Callable[[], float],
) -> int | None:
    """Return the start of the slot in which a message waits; None for one that does not wait.

    A slot takes all messages up to its limit, and none beyond twice as many; between, chance
    decides.

    Raises:
        Refusal: timers are switched off, the time is too far away or no number, or the slot is
            full.
    """
    if OUT_MS in properties or not any(name in properties for name in TIMER_PROPERTIES):
        return None
    if not rules.is_enabled:
        raise Refusal(
            ResponseCode.SYSTEM_ERROR,
            "accurate timer message is not enabled, timerWheelEnable is false",
        )
    due_ms = _due_ms(properties, now_ms)
    if due_ms <= now_ms:
        if CANCELLED_KEY in properties:
            raise Refusal(
                ResponseCode.MESSAGE_ILLEGAL, "the message that is to be cancelled is due already"
            )
        return None
    if due_ms - now_ms > rules.delay_ms_max:
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"timer message illegal: it is due in {due_ms - now_ms} ms, and the broker accepts"
            f" {rules.delay_ms_max} ms (timerMaxDelaySec)",
        )
    # Slots are delivered when they are over, so a time on a boundary belongs to the one before.
    slot_ms = (due_ms - 1) // rules.precision_ms * rules.precision_ms
    if rules.slot_count_max < NO_LIMIT:
        _check_room(rules.slot_count_max, count_at(slot_ms), chance)
    return slot_ms


def turn_to_wheel(message: Message, slot_ms: int) -> Message:
    """Move a message to the timer topic, where it waits in a slot.

    Raises:
        Refusal: its properties are too long.
    """
    aside = {
        OUT_MS: str(slot_ms),
        REAL_TOPIC: message.topic,
        REAL_QUEUE_ID: str(message.queue_id),
    }
    kept = {name: value for name, value in message.properties.items() if name != CRC} | aside
    try:
        encode_properties({**kept, **_ADDED})
    except ValueError as error:
        raise Refusal(ResponseCode.MESSAGE_ILLEGAL, str(error)) from error
    return replace(message, topic=TIMER_TOPIC, queue_id=0, properties=kept)


def recall_handle(message: Message, broker_name: str) -> str | None:
    """Return the text by which a producer can recall a stored message.

    None for a message that does not wait, or is a retry.
    """
    slot, topic = message.properties.get(OUT_MS), message.properties.get(REAL_TOPIC)
    if message.topic != TIMER_TOPIC or slot is None or topic is None:
        return None
    if topic.startswith(RETRY_PREFIX):
        return None
    key = message.properties[UNIQUE_KEY]
    return RecallHandle(topic, broker_name, int(slot) + 1, key).encode()


def _due_ms(properties: Mapping[str, str], now_ms: int) -> int:
    name = next(name for name in (DELAY_S, DELAY_MS, DELIVER_AT_MS) if name in properties)
    text = properties[name]
    if not _NUMBER.fullmatch(text):
        raise Refusal(
            ResponseCode.MESSAGE_ILLEGAL,
            f"the property {name} is {text[:_SHOWN_LENGTH]!r}: a whole number is expected",
        )
    match name:
        case "TIMER_DELAY_SEC":
            return now_ms + int(text) * 1000
        case "TIMER_DELAY_MS":
            return now_ms + int(text)
        case _:
            return int(text)


def _check_room(limit: int, count: int, chance: Callable[[], float]) -> None:
    if count > limit and (count >= 2 * limit or chance() < (count - limit) / limit):
        raise Refusal(
            ResponseCode.SYSTEM_ERROR,
            f"timer message is under flow control: {count} messages are due at this time, and the"
            f" limit is {limit} (timerCongestNumEachSlot)",
        )
