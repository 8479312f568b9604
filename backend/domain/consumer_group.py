"""Define how one broker serves a consumer group, and how an operator may change that."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Hold how one broker serves a consumer group.

    `others` are settings that only the broker understands. They are passed on unchanged.
    """

    consume_enabled: bool = True
    broadcast_allowed: bool = True
    consume_from_min_enabled: bool = True
    is_ordered: bool = False
    retry_count_max: int = 16
    retry_queue_count: int = 1
    consume_timeout_minutes: int = 15
    notifies_members: bool = True
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Write the settings in one line, the same for the same settings."""
        return ", ".join(f"{name} {value}" for name, value in describe(self).items())


@dataclass(frozen=True, slots=True)
class GroupWish:
    """Hold the wished settings of a consumer group; None leaves a setting unchanged."""

    consume_enabled: bool | None = None
    broadcast_allowed: bool | None = None
    consume_from_min_enabled: bool | None = None
    is_ordered: bool | None = None
    retry_count_max: int | None = None
    retry_queue_count: int | None = None
    consume_timeout_minutes: int | None = None
    notifies_members: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether the wish contains no value."""
        return self == GroupWish()

    def of(self, settings: GroupSettings) -> GroupSettings:
        """Return the settings with the wish applied."""
        wished = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(settings, **{k: v for k, v in wished.items() if v is not None})


def describe(settings: GroupSettings) -> dict[str, str]:
    """Name each setting with its value, as text."""
    named = {
        one.name.replace("_", " "): _text(getattr(settings, one.name))
        for one in fields(settings)
        if one.name != "others"
    }
    return named | {name: _text(settings.others[name]) for name in sorted(settings.others)}


def _text(value: object) -> str:
    """Write a value for people, also a value that only RocketMQ knows."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        parts = [f"{name} {_text(one)}" for name, one in sorted(value.items())]
    elif isinstance(value, list | tuple):
        parts = [_text(one) for one in value]
    else:
        return str(value)
    # A semicolon, since commas separate the settings.
    return "; ".join(parts) or "none"
