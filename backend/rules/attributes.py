"""Judge attributes of topics and consumer groups, and apply changes of them, as stock does.

The tables are those of stock 5.5.0 (its TopicAttributes and SubscriptionGroupAttributes), without
batch queues, which agents do not have. Static topics have attributes of ours. A change is written
`+name=value` or `-name`. What is already stored is not judged here: a newer broker may know
attributes that this version does not.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_LONG_MAX: Final = (1 << 63) - 1
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")
_MINUTES_OF_30_DAYS: Final = 30 * 24 * 60
_BOOLEANS: Final = ("true", "false")


class InvalidAttributes(ValueError):
    """A change of attributes is not allowed."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """Say which values an attribute may have: some of a set, a range of numbers, or any text.

    Attributes:
        unserved: Further values of stock, for what only RocketMQ brokers serve.
    """

    is_changeable: bool = True
    allowed: tuple[str, ...] = ()
    unserved: tuple[str, ...] = ()
    low: int | None = None
    high: int = _LONG_MAX

    def fault(self, value: str) -> str | None:
        """Say why a value is not allowed."""
        if value in self.unserved:
            return f"only RocketMQ brokers serve it; {' or '.join(self.allowed)} is allowed"
        if self.low is not None:
            is_number = _NUMBER.fullmatch(value) is not None
            if not is_number or not self.low <= int(value) <= self.high:
                return f"{self.low} to {self.high} is allowed"
        elif self.allowed == _BOOLEANS:
            # Stock compares these two without case.
            if value.lower() not in _BOOLEANS:
                return f"one of {', '.join(self.allowed)} is allowed"
        elif self.allowed and value not in self.allowed:
            return f"one of {', '.join(self.allowed)} is allowed"
        return None


MESSAGE_TYPE: Final = "message.type"
PRIORITY_TYPE: Final = "PRIORITY"
MESSAGE_TYPES: Final = (
    "UNSPECIFIED",
    "NORMAL",
    "FIFO",
    "DELAY",
    "TRANSACTION",
    PRIORITY_TYPE,
    "LITE",
    "MIXED",
)

LEGACY_CLIENTS: Final = "lq.legacy"
"""Ours: what clients that do not know static topics get of one (logical-queues.md 18.3)."""

OFFSET_MODE: Final = "lq.offsetMode"
BLOCK_SIZE: Final = "lq.blockSize"
"""Ours: how the offsets of a static topic continue after a move (logical-queues.md 4.2)."""

ENDED_QUEUES: Final = "lq.endedQueues"
"""Ours: where removed queues of a static topic continue, as `id:generation:end;…`."""

SHARE_MODE: Final = "share.mode"
TIME_SHARE: Final = "share.timeShare"
"""Ours: which member owns the share queues of a topic, and whether members take turns
(queue-ownership.md 4.2)."""

PRIMARY_MODE: Final = "PRIMARY"
SHARED_MODE: Final = "SHARED"

REPLICATE: Final = "replicate"
"""Ours: whether replicas copy the messages of a topic; without it they do (queue-ownership.md 4.8).

The messages of a topic that is not replicated are lost with their master.
"""

TOPIC_ATTRIBUTES: Final[Mapping[str, Attribute]] = {
    "queue.type": Attribute(is_changeable=False, allowed=("SimpleCQ",), unserved=("BatchCQ",)),
    "cleanup.policy": Attribute(is_changeable=False, allowed=("DELETE", "COMPACTION")),
    MESSAGE_TYPE: Attribute(allowed=MESSAGE_TYPES),
    "reserve.time": Attribute(low=-1),
    "lite.topic.expiration": Attribute(low=-1, high=_MINUTES_OF_30_DAYS),
    LEGACY_CLIENTS: Attribute(allowed=("hide", "proxy")),
    OFFSET_MODE: Attribute(allowed=("contiguous", "block")),
    BLOCK_SIZE: Attribute(low=1, high=(1 << 31) - 1),
    ENDED_QUEUES: Attribute(),
    SHARE_MODE: Attribute(allowed=(PRIMARY_MODE, SHARED_MODE)),
    TIME_SHARE: Attribute(allowed=_BOOLEANS),
    REPLICATE: Attribute(is_changeable=False, allowed=_BOOLEANS),
}

PRIORITY_FACTOR: Final = "priority.factor"
"""How many of a hundred POPs of a PRIORITY topic look at the last queue first."""

GROUP_ATTRIBUTES: Final[Mapping[str, Attribute]] = {
    PRIORITY_FACTOR: Attribute(low=0, high=100),
    "lite.bind.topic": Attribute(),
    "lite.sub.model": Attribute(allowed=("Shared", "Exclusive")),
    "lite.sub.reset.offset.exclusive": Attribute(allowed=_BOOLEANS),
    "lite.sub.reset.offset.unsubscribe": Attribute(allowed=_BOOLEANS),
    "lite.sub.client.quota": Attribute(low=-1),
    "lite.sub.client.max.event.cnt": Attribute(low=10),
    "lite.sub.wildcard": Attribute(),
    # Ours: what becomes of messages that a group can't process or whose consumer is gone, by POP.
    "rejectPolicy": Attribute(allowed=("DLQ", "DISCARD")),
    "releaseOnDisconnect": Attribute(allowed=_BOOLEANS),
}


def is_replicated(attributes: Mapping[str, str]) -> bool:
    """Return whether replicas copy the messages of a topic, by the attributes of the topic."""
    return attributes.get(REPLICATE, "true").lower() == "true"


def parse_changes(text: str) -> list[tuple[str, str]]:
    """Split `+name=value,-name` into signed names and values; a removal has an empty value.

    Raises:
        InvalidAttributes: a part is neither.
    """
    changes = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, mark, value = (piece.strip() for piece in part.partition("="))
        if not name.startswith("+" if mark else "-"):
            raise InvalidAttributes(
                f"the attribute change {part!r} is malformed; write +name=value or -name"
            )
        changes.append((name, value))
    return changes


def changed_attributes(
    known: Mapping[str, Attribute],
    former: Mapping[str, str] | None,
    changes: Iterable[tuple[str, str]],
) -> dict[str, str]:
    """Apply changes to the attributes of something, or of something new where it has no former.

    An entry without a sign is taken where it says what is so already: who reads an object and
    writes it back changes nothing.

    Raises:
        InvalidAttributes: a change is malformed, repeated or not allowed.
    """
    held = former or {}
    attributes = dict(held)
    seen: set[str] = set()
    for signed, value in changes:
        if held.get(signed) == value:
            continue
        sign, name = signed[:1], signed[1:]
        if sign not in {"+", "-"} or not name or "+" in name or "-" in name:
            raise InvalidAttributes(
                f"the attribute change {signed!r} is malformed; write +name=value or -name"
            )
        if name in seen:
            raise InvalidAttributes(f"the attribute {name} is changed twice")
        seen.add(name)
        _check_change(known, former, sign=sign, name=name, value=value)
        if sign == "+":
            attributes[name] = value
        else:
            del attributes[name]
    return attributes


def _check_change(
    known: Mapping[str, Attribute],
    former: Mapping[str, str] | None,
    *,
    sign: str,
    name: str,
    value: str,
) -> None:
    if sign == "-" and former is None:
        raise InvalidAttributes(f"the attribute {name} can't be removed from something new")
    if sign == "-" and name not in (former or {}):
        raise InvalidAttributes(f"the attribute {name} can't be removed: it is not set")
    attribute = known.get(name)
    if attribute is None:
        # An unknown one that was stored by an older version may always be removed.
        if sign == "-":
            return
        raise InvalidAttributes(
            f"the attribute {name} is unknown; there are {', '.join(sorted(known))}"
        )
    if former is not None and not attribute.is_changeable:
        raise InvalidAttributes(f"the attribute {name} can only be set at creation")
    fault = attribute.fault(value) if sign == "+" else None
    if fault is not None:
        raise InvalidAttributes(f"the attribute {name} can't be {value!r}: {fault}")
