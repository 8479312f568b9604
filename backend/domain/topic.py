"""Describe a topic: its kind, and its queues on each broker group."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import IntFlag, StrEnum
from typing import Final

from backend.domain.errors import InvalidName, InvalidTopicSettings
from backend.domain.share_mode import ShareMode
from backend.rules.attributes import (
    MESSAGE_TYPE,
    REPLICATE,
    SHARE_MODE,
    TIME_SHARE,
    TOPIC_ATTRIBUTES,
    is_replicated,
)
from backend.rules.topic import (
    DEAD_LETTER_PREFIX,
    RETRY_PREFIX,
    topic_fault,
    topic_name_fault,
)

SYSTEM_PREFIX: Final = "rmq_sys_"
REPLY_SUFFIX: Final = "_REPLY_TOPIC"
SYSTEM_TOPIC_NAMES: Final = frozenset(
    {
        "TBW102",
        "SCHEDULE_TOPIC_XXXX",
        "BenchmarkTest",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRACE_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
        "SELF_TEST_TOPIC",
        "OFFSET_MOVED_EVENT",
        "CHECKPOINT_TOPIC",
    }
)


class TopicKind(StrEnum):
    """Name the kind of a topic: of users, or made by the cluster."""

    NORMAL = "normal"
    RETRY = "retry"
    DEAD_LETTER = "dead_letter"
    SYSTEM = "system"


class Permission(IntFlag):
    """Name the bits of a placement's permissions."""

    INHERIT = 1
    WRITE = 2
    READ = 4
    PRIORITY = 8


KEPT_ATTRIBUTES: Final = (MESSAGE_TYPE, REPLICATE, SHARE_MODE, TIME_SHARE)
"""The attributes of topics that Postgres has and doors show, in the order of their names.

Only allowed values are kept, so they are short.
"""

READ_WRITE: Final = int(Permission.READ | Permission.WRITE)


@dataclass(frozen=True, slots=True)
class Topic:
    """Name a topic of a cluster."""

    id: int
    cluster_name: str
    name: str
    kind: TopicKind


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Hold the number of queues of a topic on one broker group, and their permissions.

    The attributes are names and values in the order of the names: those of `KEPT_ATTRIBUTES`.
    """

    read_queue_count: int
    write_queue_count: int
    permissions: int
    topic_sys_flag: int = 0
    is_ordered: bool = False
    attributes: tuple[tuple[str, str], ...] = ()

    @property
    def message_type(self) -> str | None:
        """Return the type of the messages; None if the topic has none."""
        return dict(self.attributes).get(MESSAGE_TYPE)

    @property
    def share_mode(self) -> ShareMode:
        """Return who owns the share queues of the topic."""
        return ShareMode(dict(self.attributes).get(SHARE_MODE, ShareMode.PRIMARY))

    @property
    def is_time_shared(self) -> bool:
        """Return whether members with consumers own each share queue in turn, in SHARED mode."""
        return dict(self.attributes).get(TIME_SHARE, "").lower() == "true"

    @property
    def is_replicated(self) -> bool:
        """Return whether replicas copy the messages of the topic."""
        return is_replicated(dict(self.attributes))

    @property
    def is_readable(self) -> bool:
        """Return whether consumers may read the queues."""
        return bool(self.permissions & Permission.READ)

    @property
    def is_writable(self) -> bool:
        """Return whether producers may send to the queues."""
        return bool(self.permissions & Permission.WRITE)

    @property
    def is_inherited(self) -> bool:
        """Return whether topics that are created on first use inherit these settings."""
        return bool(self.permissions & Permission.INHERIT)

    def without_write(self) -> "QueueSettings":
        """Return the same settings with the write bit cleared."""
        return replace(self, permissions=self.permissions & ~int(Permission.WRITE))

    def with_permissions(self, permissions: int) -> "QueueSettings":
        """Return the same settings with other permissions."""
        return replace(self, permissions=permissions)


@dataclass(frozen=True, slots=True)
class TopicPlacement:
    """Hold the settings of a topic on one broker group."""

    topic_id: int
    broker_group_name: str
    settings: QueueSettings


def kept_attributes(attributes: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return what is kept of the attributes that a broker registers: values that are allowed."""
    if not attributes:
        # Most topics have none, and a broker may register very many.
        return ()
    return tuple(
        (name, value)
        for name in KEPT_ATTRIBUTES
        if (value := attributes.get(name)) is not None
        and TOPIC_ATTRIBUTES[name].fault(value) is None
    )


def check_topic(name: str, settings: QueueSettings) -> QueueSettings:
    """Return the settings of a topic if they are valid.

    Raises:
        InvalidName: the name of the topic is invalid. InvalidTopicSettings: its counts, permissions
        or flag are out of range.
    """
    if (reason := topic_name_fault(name)) is not None:
        raise InvalidName(kind="topic", name=name, reason=reason)
    fault = topic_fault(
        name,
        read_queue_count=settings.read_queue_count,
        write_queue_count=settings.write_queue_count,
        permissions=settings.permissions,
        topic_sys_flag=settings.topic_sys_flag,
    )
    if fault is not None:
        raise InvalidTopicSettings(name, f"is invalid: {fault}")
    return settings


def topic_kind(name: str, *, cluster_name: str, broker_group_names: Collection[str]) -> TopicKind:
    """Return the kind of a topic, from its name and the names of cluster and groups."""
    if name.startswith(RETRY_PREFIX):
        return TopicKind.RETRY
    if name.startswith(DEAD_LETTER_PREFIX):
        return TopicKind.DEAD_LETTER
    is_system = (
        name in SYSTEM_TOPIC_NAMES
        or name.startswith(SYSTEM_PREFIX)
        or name in {cluster_name, cluster_name + REPLY_SUFFIX}
        or name in broker_group_names
    )
    return TopicKind.SYSTEM if is_system else TopicKind.NORMAL
