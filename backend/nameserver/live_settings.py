"""Hold the settings of a name server that can change while it runs (remoting.md 2.7: 318, 319).

The settings belong to one process and last until it ends. RocketMQ defines the names and units. No
request changes a setting that names a path, a command or a class (D26).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """Hold the interval of the scan for silent brokers, and the content of answers to clients."""

    silence_scan_interval_s: float = 1.0
    idle_timeout_s: float = 120.0
    returns_order_topics: bool = True
    lists_all_topics: bool = True
    lists_topics: bool = True


class SettingsRefused(ValueError):
    """A change names settings that can't be changed, or values that are not allowed."""

    def __init__(self, reasons: list[str], *, is_closed: bool) -> None:
        super().__init__(f"nothing is changed: {'; '.join(reasons)}")
        self.is_closed = is_closed


@dataclass(frozen=True, slots=True)
class _Property:
    field: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


def _duration(low: int, high: int, *, unit: int) -> tuple[Callable[[str], Any], Callable[..., str]]:
    def read(text: str) -> float:
        if not (text.isascii() and text.isdigit()) or not low <= int(text) <= high:
            raise ValueError(f"{low} to {high} is allowed")
        return int(text) / unit

    return read, lambda value: str(round(value * unit))


def _read_flag(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError("true or false is allowed")
    return text.lower() == "true"


def _write_flag(value: object) -> str:
    return str(value).lower()


CHANGEABLE: Final[Mapping[str, _Property]] = {
    "scanNotActiveBrokerInterval": _Property(
        "silence_scan_interval_s", *_duration(100, 60_000, unit=1000)
    ),
    "serverChannelMaxIdleTimeSeconds": _Property("idle_timeout_s", *_duration(10, 86_400, unit=1)),
    "returnOrderTopicConfigToBroker": _Property("returns_order_topics", _read_flag, _write_flag),
    "enableAllTopicList": _Property("lists_all_topics", _read_flag, _write_flag),
    "enableTopicList": _Property("lists_topics", _read_flag, _write_flag),
}

FIXED: Final = {
    "orderMessageEnable": "false",
    "supportActingMaster": "true",
    "notifyMinBrokerIdChanged": "true",
    "deleteTopicWithBrokerRegistration": "false",
}
"""Settings with a fixed value. The name server reports them, and refuses other values."""

_INSTEAD: Final[Mapping[str, str]] = {
    "listenPort": "set REGENT_REMOTING_PORT and start the control plane again",
    "bindAddress": "set REGENT_REMOTING_HOST and start the control plane again",
    "orderMessageEnable": "each topic has its own order: regent topic set NAME --ordered",
    "supportActingMaster": "each broker reports it when it registers",
    "deleteTopicWithBrokerRegistration": "missing topics stay: regent topic delete NAME",
}


def describe(settings: LiveSettings) -> dict[str, str]:
    """Return all settings that tools can read, by their names in RocketMQ."""
    live = {name: one.write(getattr(settings, one.field)) for name, one in CHANGEABLE.items()}
    return FIXED | live


def changed(settings: LiveSettings, wished: Mapping[str, str]) -> LiveSettings:
    """Return the settings with all wished values.

    Raises:
        SettingsRefused: a setting can't be changed, or not to this value.
    """
    values: dict[str, Any] = {}
    reasons: list[str] = []
    is_closed = False
    for name, text in wished.items():
        known = CHANGEABLE.get(name)
        if known is None:
            is_closed = True
            reasons.append(_closed(name))
            continue
        try:
            values[known.field] = known.read(text.strip())
        except ValueError as error:
            reasons.append(f"{name} can't be {text.strip()[:40]!r}: {error}")
    if reasons:
        raise SettingsRefused(reasons, is_closed=is_closed)
    return replace(settings, **values)


def _closed(name: str) -> str:
    instead = _INSTEAD.get(name)
    if instead is None and name in FIXED:
        instead = "this name server always does this"
    if instead is None:
        instead = f"the settings that can be changed are {', '.join(CHANGEABLE)}"
    return f"{name[:100]!r} can't be changed here: {instead}"
