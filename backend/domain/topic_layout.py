"""Define the layout of a topic on one broker, and how an operator may change it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from backend.domain.share_mode import ShareMode
from backend.domain.topic import READ_WRITE, Permission
from backend.rules.attributes import MESSAGE_TYPE, SHARE_MODE, TIME_SHARE, is_replicated


class MessageType(StrEnum):
    """Name the type of the messages of a topic; brokers that check it refuse other messages."""

    UNSPECIFIED = "UNSPECIFIED"
    NORMAL = "NORMAL"
    FIFO = "FIFO"
    DELAY = "DELAY"
    TRANSACTION = "TRANSACTION"
    PRIORITY = "PRIORITY"
    MIXED = "MIXED"


@dataclass(frozen=True, slots=True)
class TopicLayout:
    """Hold the layout of a topic on one broker; the filter type and the flag are passed on."""

    read_queue_count: int = 8
    write_queue_count: int = 8
    permissions: int = READ_WRITE
    is_ordered: bool = False
    topic_sys_flag: int = 0
    filter_type: str = "SINGLE_TAG"
    attributes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_shared(self) -> bool:
        """Return whether members own the share queues of the topic by lease."""
        return self.attributes.get(SHARE_MODE) == ShareMode.SHARED

    @property
    def is_time_shared(self) -> bool:
        """Return whether members with consumers own each share queue in turn, in SHARED mode."""
        return self.attributes.get(TIME_SHARE, "").lower() == "true"

    @property
    def is_replicated(self) -> bool:
        """Return whether replicas copy the messages of the topic."""
        return is_replicated(self.attributes)

    @property
    def text(self) -> str:
        """Write the layout in one line, the same for the same layout."""
        bits = {"read": Permission.READ, "write": Permission.WRITE}
        rights = [name for name, bit in bits.items() if self.permissions & bit]
        parts = [
            f"{self.read_queue_count} read and {self.write_queue_count} write queues",
            " and ".join(rights) or "neither read nor write",
            *(["ordered"] if self.is_ordered else []),
            *(["inherited"] if self.permissions & Permission.INHERIT else []),
            *(["priority"] if self.permissions & Permission.PRIORITY else []),
            *([f"flag {self.topic_sys_flag}"] if self.topic_sys_flag else []),
            *([self.filter_type] if self.filter_type != "SINGLE_TAG" else []),
            *(f"{key}={self.attributes[key]}" for key in sorted(self.attributes)),
        ]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class TopicWish:
    """Hold the wished layout of a topic; None leaves a value unchanged."""

    read_queue_count: int | None = None
    write_queue_count: int | None = None
    is_readable: bool | None = None
    is_writable: bool | None = None
    is_ordered: bool | None = None
    message_type: MessageType | None = None
    share_mode: ShareMode | None = None
    is_time_shared: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether the wish contains no value."""
        return self == TopicWish()

    def of(self, layout: TopicLayout) -> TopicLayout:
        """Return the layout with the wish applied."""
        permissions = _with_bit(layout.permissions, Permission.READ, self.is_readable)
        permissions = _with_bit(permissions, Permission.WRITE, self.is_writable)
        attributes = dict(layout.attributes)
        if self.message_type is not None:
            attributes[MESSAGE_TYPE] = self.message_type.value
        if self.share_mode is not None:
            attributes[SHARE_MODE] = self.share_mode.value
        if self.is_time_shared is not None:
            attributes[TIME_SHARE] = str(self.is_time_shared).lower()
        return replace(
            layout,
            read_queue_count=_or(self.read_queue_count, layout.read_queue_count),
            write_queue_count=_or(self.write_queue_count, layout.write_queue_count),
            permissions=permissions,
            is_ordered=layout.is_ordered if self.is_ordered is None else self.is_ordered,
            attributes=attributes,
        )


def _or(wished: int | None, present: int) -> int:
    return present if wished is None else wished


def _with_bit(permissions: int, bit: Permission, is_set: bool | None) -> int:  # noqa: FBT001
    if is_set is None:
        return permissions
    return permissions | int(bit) if is_set else permissions & ~int(bit)
