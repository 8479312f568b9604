"""Read JSON of queue mappings with exact types, and write it as brokers and tools do.

Java tools leave the integer keys of maps unquoted. The reader accepts both forms, and the writer
quotes all keys (logical-queues.md 2.5). Numbers are integers of their width: a fraction, a text or
a boolean is refused. Unknown, missing and repeated members are refused, since a writer that keeps
or drops them would change their meaning.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar

from backend.domain.logical_queue.errors import InvalidQueueMapping
from backend.domain.logical_queue.segment import INT32_MAX, INT64_MAX

T = TypeVar("T")

DEPTH_MAX: Final = 16
"""Twice as deep as the deepest mapping file."""

# A text, or an integer between the start of an object or a comma, and a colon.
_BARE_KEY: Final = re.compile(r'"(?:[^"\\]|\\.)*"|([{,]\s*)(-?[0-9]+)(?=\s*:)', re.DOTALL)
_NUMBER_LENGTH_MAX: Final = 20


def parse(text: str) -> Any:
    """Read a document into plain values; keys are texts.

    Raises:
        InvalidQueueMapping: the document is not JSON, is too deep, or repeats a key.
    """
    try:
        value = json.loads(
            _BARE_KEY.sub(_quoted, text),
            object_pairs_hook=_distinct,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except InvalidQueueMapping:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidQueueMapping("$", f"it is not JSON: {error}") from error
    if _is_deep(value):
        raise InvalidQueueMapping("$", f"it is nested more than {DEPTH_MAX} levels deep")
    return value


def write(value: Any, *, is_pretty: bool = False) -> str:
    """Write a document: compact as on the wire, or with tabs as in files of brokers."""
    return json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        indent="\t" if is_pretty else None,
        separators=(",", ":"),
    )


@dataclass(frozen=True, slots=True)
class Fields:
    """Read the members of one object by name; `place` is the path for errors."""

    place: str
    members: Mapping[str, Any]

    @classmethod
    def of(
        cls, value: Any, place: str, names: Iterable[str], *, optional: Iterable[str] = ()
    ) -> "Fields":
        """Take an object that has exactly these members; some may be absent.

        Raises:
            InvalidQueueMapping: it is no object, or a member is unknown or missing.
        """
        if not isinstance(value, dict):
            raise InvalidQueueMapping(place, "an object is expected")
        required = set(names)
        if unknown := sorted(set(value) - required - set(optional)):
            raise InvalidQueueMapping(place, f"member {unknown[0]!r} is unknown")
        if missing := sorted(required - set(value)):
            raise InvalidQueueMapping(place, f"member {missing[0]!r} is missing")
        return cls(place, value)

    def refuse(self, name: str, reason: str) -> NoReturn:
        """Raise an error about one member.

        Raises:
            InvalidQueueMapping: always.
        """
        raise InvalidQueueMapping(f"{self.place}.{name}", reason)

    def int32(self, name: str) -> int:
        """Read an integer of 32 bits."""
        return self._number(name, INT32_MAX)

    def int64(self, name: str) -> int:
        """Read an integer of 64 bits."""
        return self._number(name, INT64_MAX)

    def text(self, name: str) -> str:
        """Read a text that UTF-8 can encode."""
        value = self.members[name]
        if not isinstance(value, str):
            self.refuse(name, "a text is expected")
        try:
            value.encode()
        except UnicodeEncodeError:
            self.refuse(name, "the text has half of a character")
        return value

    def flag(self, name: str) -> bool:
        """Read a boolean."""
        value = self.members[name]
        if not isinstance(value, bool):
            self.refuse(name, "true or false is expected")
        return value

    def by_number(self, name: str, read: Callable[[Any, str], T]) -> dict[int, T]:
        """Read an object whose keys are integers of 32 bits, in ascending order."""
        members = self._object(name)
        place = f"{self.place}.{name}"
        found = {_key(key, place): read(one, f"{place}.{key}") for key, one in members.items()}
        return dict(sorted(found.items()))

    def by_text(self, name: str, read: Callable[[Any, str], T]) -> dict[str, T]:
        """Read an object whose keys are any texts, in ascending order."""
        members = self._object(name)
        return {
            key: read(one, f"{self.place}.{name}.{key}") for key, one in sorted(members.items())
        }

    def texts(self, name: str) -> tuple[str, ...]:
        """Read a list of different texts, in ascending order."""
        value = self.members[name]
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.refuse(name, "a list of texts is expected")
        return tuple(sorted(set(value)))

    def _object(self, name: str) -> dict[str, Any]:
        value = self.members[name]
        if not isinstance(value, dict):
            self.refuse(name, "an object is expected")
        return value

    def _number(self, name: str, high: int) -> int:
        return number(self.members[name], f"{self.place}.{name}", high)


def number(value: Any, place: str, high: int) -> int:
    """Return an integer between `-high - 1` and `high`.

    Raises:
        InvalidQueueMapping: it is no such integer.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidQueueMapping(place, "an integer is expected")
    if not -high - 1 <= value <= high:
        raise InvalidQueueMapping(place, f"the integer has more than {high.bit_length() + 1} bits")
    return value


def _key(text: str, place: str) -> int:
    if len(text) > _NUMBER_LENGTH_MAX or not re.fullmatch(r"-?[0-9]+", text, re.ASCII):
        raise InvalidQueueMapping(place, f"the key {text[:40]!r} is no integer")
    value = number(int(text), place, INT32_MAX)
    if str(value) != text:
        raise InvalidQueueMapping(place, f"the key {text!r} has a second spelling")
    return value


def _quoted(found: re.Match[str]) -> str:
    opening, key = found.groups()
    return found[0] if key is None else f'{opening}"{key}"'


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidQueueMapping("$", "a key is repeated in one object")
    return members


def _integer(text: str) -> int:
    if len(text) > _NUMBER_LENGTH_MAX:
        raise InvalidQueueMapping("$", "an integer has more than 64 bits")
    return int(text)


def _no_constant(text: str) -> NoReturn:
    raise InvalidQueueMapping("$", f"{text} is no integer")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_MAX):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True
