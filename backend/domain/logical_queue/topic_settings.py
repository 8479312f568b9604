"""Keep with a topic on its brokers what its mapping does not say: attributes of the topic.

Mapping files of RocketMQ have no place for them. With the attributes a mapping can be rebuilt from
brokers and from a file (logical-queues.md 4.2, 7, 24).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from backend.domain.logical_queue.errors import InvalidQueueMapping
from backend.domain.logical_queue.mapping import EndedQueue, TopicMapping
from backend.domain.logical_queue.segment import BLOCK_SIZE, OffsetMode
from backend.rules.attributes import BLOCK_SIZE as BLOCK_SIZE_NAME
from backend.rules.attributes import ENDED_QUEUES, OFFSET_MODE

_ENDED: Final = re.compile(r"[0-9]{1,10}:[0-9]{1,10}:[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Hold how offsets continue after a move, and where removed queues ended."""

    offset_mode: OffsetMode = OffsetMode.CONTIGUOUS
    block_size: int = BLOCK_SIZE
    ended: tuple[EndedQueue, ...] = ()

    @property
    def attributes(self) -> dict[str, str]:
        """Return the attributes; default values have none."""
        values = {}
        if self.offset_mode is not OffsetMode.CONTIGUOUS:
            values[OFFSET_MODE] = self.offset_mode.value
        if self.block_size != BLOCK_SIZE:
            values[BLOCK_SIZE_NAME] = str(self.block_size)
        if self.ended:
            parts = [f"{one.global_id}:{one.generation}:{one.logical_end}" for one in self.ended]
            values[ENDED_QUEUES] = ";".join(parts)
        return values


def settings_of(topic: TopicMapping) -> TopicSettings:
    """Return the settings of a topic."""
    return TopicSettings(topic.offset_mode, topic.block_size, topic.ended)


def with_settings(attributes: Mapping[str, str], topic: TopicMapping) -> dict[str, str]:
    """Return the attributes of a topic with those of its logical queues replaced."""
    own = {OFFSET_MODE, BLOCK_SIZE_NAME, ENDED_QUEUES}
    kept = {name: value for name, value in attributes.items() if name not in own}
    return kept | settings_of(topic).attributes


def read_settings(attributes: Mapping[str, str]) -> TopicSettings:
    """Read the settings from the attributes of a topic.

    Raises:
        InvalidQueueMapping: a value is malformed.
    """
    mode = attributes.get(OFFSET_MODE, OffsetMode.CONTIGUOUS)
    size = attributes.get(BLOCK_SIZE_NAME, str(BLOCK_SIZE))
    ended = [one for one in attributes.get(ENDED_QUEUES, "").split(";") if one]
    if mode not in set(OffsetMode) or not size.isdecimal() or int(size) < 1:
        raise InvalidQueueMapping(f"attribute {OFFSET_MODE}", f"{mode} with blocks of {size}")
    for one in ended:
        if not _ENDED.fullmatch(one):
            raise InvalidQueueMapping(f"attribute {ENDED_QUEUES}", f"{one!r} is no end of a queue")
    queues = tuple(EndedQueue(*map(int, one.split(":"))) for one in ended)
    return TopicSettings(OffsetMode(mode), int(size), queues)
