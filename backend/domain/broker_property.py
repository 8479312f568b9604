"""Check values of broker properties, and find the property that a misspelt name meant."""

import difflib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_SIZE: Final = re.compile(r"([0-9]{1,15}) ?(B|KiB|MiB|GiB|TiB)?")
_UNITS: Final = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
NEAR_COUNT_MAX: Final = 3
NEAR_LEAST: Final = 0.6
VALUE_LENGTH_MAX: Final = 1_000


class PropertyType(StrEnum):
    """Name the type of the values of a property."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    BYTES = "bytes"
    CHOICE = "choice"
    TEXT = "text"


class PropertyEffect(StrEnum):
    """When a new value of a property takes effect."""

    LIVE = "live"
    RESTART = "restart"
    FIXED = "fixed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BrokerProperty:
    """Hold a property of a broker: its type and bounds, and its values in force and in its file.

    `stored` is None if the file has no value, or if the broker does not report the file.
    """

    name: str
    type: PropertyType
    effect: PropertyEffect
    value: str
    stored: str | None = None
    default: str | None = None
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()

    @property
    def configured(self) -> str:
        """Return the value that the next start would use."""
        return self.value if self.stored is None else self.stored

    @property
    def range_text(self) -> str:
        """Write the allowed values."""
        match self.type:
            case PropertyType.BOOLEAN:
                return "true or false"
            case PropertyType.CHOICE:
                return " or ".join(self.choices)
            case PropertyType.INTEGER | PropertyType.BYTES if self.low is not None:
                unit = "bytes" if self.type is PropertyType.BYTES else "a whole number"
                return f"{unit} from {self.low} to {self.high}"
            case PropertyType.TEXT:
                return "text"
            case _:
                return f"{self.type}"


class PropertyRefused(ValueError):
    """A property is absent, can't be changed, or can't have the value."""


def find_property(properties: Iterable[BrokerProperty], name: str) -> BrokerProperty:
    """Find a property by its name.

    Raises:
        PropertyRefused: the broker has no such property; the message names similar ones.
    """
    known = {one.name: one for one in properties}
    if name in known:
        return known[name]
    near = find_near(name, known)
    hint = f": did you mean {' or '.join(near)}?" if near else ""
    raise PropertyRefused(f"there is no property {name[:100]!r}{hint}")


def find_near(name: str, known: Collection[str]) -> list[str]:
    """Find the names that a misspelt name may have meant, the most similar first."""
    by_folded = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), by_folded, NEAR_COUNT_MAX, NEAR_LEAST)
    return [by_folded[one] for one in near]


def check_value(target: BrokerProperty, text: str) -> str:
    """Return a value as the broker writes it. Sizes may have a unit; an empty value is the default.

    Raises:
        PropertyRefused: the property can't be changed, or can't have the value.
    """
    value = text.strip()
    if target.effect is PropertyEffect.FIXED:
        raise PropertyRefused(
            f"{target.name} is read-only: only the broker's file, edited before a start, changes it"
        )
    if not value and target.default is not None:
        return ""
    if len(value) > VALUE_LENGTH_MAX or not value.isprintable():
        raise PropertyRefused(f"{target.name} must be one line of {VALUE_LENGTH_MAX} characters")
    value = _spelled(target.type, value)
    if not _is_right(target, value):
        raise PropertyRefused(f"{target.name} must be {target.range_text}, not {text.strip()!r}")
    return value


def guess_type(value: str) -> PropertyType:
    """Guess the type of a property that a broker does not describe, from its value."""
    if value in {"true", "false"}:
        return PropertyType.BOOLEAN
    if re.fullmatch(r"-?[0-9]{1,18}", value):
        return PropertyType.INTEGER
    return PropertyType.TEXT


def _spelled(kind: PropertyType, value: str) -> str:
    if kind is PropertyType.BOOLEAN:
        return value.lower()
    size = _SIZE.fullmatch(value) if kind is PropertyType.BYTES else None
    return value if size is None else str(int(size[1]) * _UNITS[size[2] or "B"])


def _is_right(target: BrokerProperty, value: str) -> bool:
    match target.type:
        case PropertyType.BOOLEAN:
            return value in {"true", "false"}
        case PropertyType.CHOICE:
            return value in target.choices
        case PropertyType.INTEGER | PropertyType.BYTES:
            is_number = re.fullmatch(r"-?[0-9]{1,18}", value) is not None
            return is_number and _is_between(int(value), target)
        case PropertyType.TEXT:
            return bool(value)


def _is_between(number: int, target: BrokerProperty) -> bool:
    low, high = target.low, target.high
    return (low is None or low <= number) and (high is None or number <= high)
