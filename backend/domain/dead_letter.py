"""Decide how a dead letter is sent again, and recognise its copy.

A copy keeps the body, keys, tag, properties and unique id of the dead letter. Two further
properties name the dead letter and the operation. They distinguish the copy from the message
itself, from its retries, and from the copies of other operations.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from backend.domain.message import ORIGIN_ID, UNIQUE_KEY, StoredMessage
from backend.domain.orders.dead_letter import Destination
from backend.domain.outgoing_message import OutgoingMessage
from backend.rules.topic import RETRY_PREFIX

Place = tuple[str, int]
"""A broker group, and the number of a queue of the dead-letter topic there."""
Offsets = Mapping[Place, Sequence[int]]

LETTER_MARK: Final = "REGENT_DEAD_LETTER"
OPERATION_MARK: Final = "REGENT_OPERATION"
BATCH_SIZE_MAX: Final = 100
BATCH_S_MAX: Final = 10
"""The maximum duration of a step. Between two steps the operation can be paused and cancelled."""
_ORIGIN_TOPIC: Final = "RETRY_TOPIC"
# The compression of the body and the flag of several tags are kept (remoting.md 4.2).
_KEPT_FLAGS: Final = 0x1 | 0x2 | 0x700
# Properties of the failed delivery or of a committed transaction. A copy has neither.
_DROPPED: Final = frozenset(
    {
        *("DELAY", "REAL_TOPIC", "REAL_QID", "TRAN_MSG", "PGROUP", "POP_CK", "1ST_POP_TIME"),
        *("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS", "TIMER_OUT_MS"),
        *("RECONSUME_TIME", "MAX_RECONSUME_TIMES", "CONSUME_START_TIME"),
        *("MIN_OFFSET", "MAX_OFFSET", "INNER_NUM", "INNER_BASE"),
    }
)


def origin_topic(letter: StoredMessage) -> str | None:
    """Return the topic that the message was in before it failed, if that is known."""
    return letter.properties.get(_ORIGIN_TOPIC) or None


def destination_topic(
    letter: StoredMessage, destination: Destination, consumer_group_name: str
) -> str | None:
    """Return the topic that a copy is sent to; None where the original topic is not known."""
    if destination is Destination.RETRY:
        return RETRY_PREFIX + consumer_group_name
    return origin_topic(letter)


def copy_of(letter: StoredMessage, topic: str, operation_id: str) -> OutgoingMessage:
    """Return the copy of a dead letter; the group can retry it as often as a new message."""
    dropped = _DROPPED
    if not topic.startswith(RETRY_PREFIX):
        dropped = dropped | {_ORIGIN_TOPIC, ORIGIN_ID}
    kept = {name: value for name, value in letter.properties.items() if name not in dropped}
    marks = {LETTER_MARK: letter.message_id, OPERATION_MARK: operation_id}
    return OutgoingMessage(
        topic,
        -1,
        {UNIQUE_KEY: letter.message_id, **kept, **marks},
        letter.born_at_ms,
        letter.flag,
        letter.sys_flag & _KEPT_FLAGS,
        body=letter.body,
    )


def is_copy(found: StoredMessage, letter: StoredMessage, operation_id: str) -> bool:
    """Return whether a message is the copy of an operation, and not a retry of that copy."""
    marks = (found.properties.get(LETTER_MARK), found.properties.get(OPERATION_MARK))
    return marks == (letter.message_id, operation_id) and found.reconsume_times == 0


def choose_letters(
    offsets: Offsets, resent: Mapping[Place, Collection[int]], *, count_max: int
) -> tuple[Offsets, int]:
    """Return the first dead letters that were not resent, and the number of all of them.

    A queue may have millions of messages. Only the returned and the resent offsets are visited.
    """
    chosen: dict[Place, Sequence[int]] = {}
    left_count, room = 0, count_max
    for place in sorted(offsets):
        meant, former = offsets[place], resent.get(place, ())
        left_count += len(meant) - sum(one in meant for one in former)
        first = list(islice((one for one in meant if one not in former), room))
        if first:
            chosen[place] = first
        room -= len(first)
    return chosen, left_count


def cut_batches(
    offsets: Offsets, *, messages_per_second: int
) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Divide the chosen dead letters, by broker group and queue, into the batches of steps."""
    size = min(BATCH_SIZE_MAX, BATCH_S_MAX * messages_per_second)
    for (broker_group_name, queue_id), chosen in sorted(offsets.items()):
        for begin in range(0, len(chosen), size):
            yield broker_group_name, queue_id, tuple(chosen[begin : begin + size])
