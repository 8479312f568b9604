"""Read the JSON that Java tools write, and write JSON that every client reads.

Stock RocketMQ leaves integer map keys unquoted, and uses whole objects as map keys (remoting.md
3.1). The reader accepts both; an object as a key becomes its compact text with sorted members. The
writer quotes all keys, except that maps of message queues keep the object form, which every Java
tool reads.
"""

import json
import re
from collections.abc import Iterable
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

DEPTH_MAX: Final = 64
DOCUMENT_SIZE_MAX: Final = 64 << 20
NUMBER_LENGTH_MAX: Final = 40

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_BLANKS: Final = frozenset(" \t\r\n")
_FLAT_OBJECT: Final = re.compile(r"\{[^{}\[\]]*\}")
_BARE: Final = re.compile(r"[A-Za-z0-9_$.+-]+")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")
_STRINGS: Final = json.JSONDecoder(strict=False)
_WORDS: Final = {"true": True, "false": False, "null": None, "NaN": None}


class InvalidJson(ValueError):
    """A document is neither JSON nor accepted by Java as JSON."""


def decode(data: bytes, kind: type[T]) -> T:
    """Decode a body into a typed value; use the lenient reader if the strict one refuses.

    Raises:
        InvalidJson: the document cannot be read, or does not match the type.
    """
    try:
        return msgspec.json.decode(data, type=kind, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidJson(str(error)) from error
    except RecursionError as error:
        raise InvalidJson("nesting too deep") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        return msgspec.convert(loads(data), kind, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidJson(str(error)) from error


def loads(data: bytes, *, allows_halves: bool = False) -> Any:
    """Decode one document into plain values; lone surrogates in texts are optional.

    Raises:
        InvalidJson: the document is malformed, too deep or too large.
    """
    if len(data) > DOCUMENT_SIZE_MAX:
        raise InvalidJson(f"the document is larger than {DOCUMENT_SIZE_MAX} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidJson("the document is not UTF-8") from error
    reader = _Reader(text, allows_halves=allows_halves)
    value = reader.value(0)
    if reader.peek():
        raise reader.fault("text after the end of the document")
    return value


def encode(value: Any) -> bytes:
    """Encode compact JSON with quoted keys."""
    return msgspec.json.encode(value)


def encode_object_map(entries: Iterable[tuple[Any, Any]]) -> bytes:
    """Encode a map whose keys are objects, in Java's form."""
    parts = (msgspec.json.encode(key) + b":" + msgspec.json.encode(value) for key, value in entries)
    return b"{" + b",".join(parts) + b"}"


class _Reader:
    """A recursive-descent parser for one document, with a depth limit."""

    def __init__(self, text: str, *, allows_halves: bool) -> None:
        self._text, self._at = text, 0
        self._allows_halves = allows_halves

    def fault(self, what: str) -> InvalidJson:
        return InvalidJson(f"{what} at character {self._at}")

    def peek(self) -> str:
        mark = self._text[self._at : self._at + 1]
        if mark not in _BLANKS:
            return mark
        blank = _BLANK.match(self._text, self._at)
        assert blank is not None
        self._at = blank.end()
        return self._text[self._at : self._at + 1]

    def value(self, depth: int) -> Any:
        if depth > DEPTH_MAX:
            raise self.fault("nesting too deep")
        match self.peek():
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"':
                return self._string()
            case _:
                return self._scalar()

    def _object(self, depth: int) -> dict[str, Any]:
        flat = self._flat_object()
        if flat is not None:
            return flat
        self._at += 1
        members: dict[str, Any] = {}
        while self.peek() != "}":
            key = self._key(depth)
            self._expect(":")
            members[key] = self.value(depth + 1)
            if self.peek() == ",":
                self._at += 1
            elif self.peek() != "}":
                raise self.fault("a comma or a closing brace is missing")
        self._at += 1
        return members

    def _flat_object(self) -> dict[str, Any] | None:
        """Let the strict reader read an object without nested objects, as Java's keys and entries.

        A brace within a text cuts the object short in the middle of that text, and the strict
        reader refuses it.
        """
        found = _FLAT_OBJECT.match(self._text, self._at)
        if found is None:
            return None
        try:
            members: dict[str, Any] = msgspec.json.decode(found.group(), type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeError):
            return None
        self._at = found.end()
        return members

    def _array(self, depth: int) -> list[Any]:
        self._at += 1
        items: list[Any] = []
        while self.peek() != "]":
            items.append(self.value(depth + 1))
            if self.peek() == ",":
                self._at += 1
            elif self.peek() != "]":
                raise self.fault("a comma or a closing bracket is missing")
        self._at += 1
        return items

    def _key(self, depth: int) -> str:
        match self.peek():
            case '"':
                return self._string()
            case "{":
                return self._object_key(depth)
            case _:
                return self._bare()

    def _object_key(self, depth: int) -> str:
        return msgspec.json.encode(self.value(depth + 1), order="sorted").decode()

    def _string(self) -> str:
        try:
            text, self._at = _STRINGS.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            raise self.fault("a string does not end") from error
        if not self._allows_halves and _HALF_CHARACTER.search(text):
            # A lone surrogate can't be encoded as UTF-8.
            raise self.fault("a string with half a character ends")
        return str(text)

    def _bare(self) -> str:
        found = _BARE.match(self._text, self._at)
        if found is None:
            raise self.fault("a key or value is missing")
        self._at = found.end()
        return found.group()

    def _scalar(self) -> Any:
        word = self._bare()
        if word in _WORDS:
            return _WORDS[word]
        number = _NUMBER.fullmatch(word)
        if number is None or len(word) > NUMBER_LENGTH_MAX:
            raise self.fault(f"{word[:20]!r} is not a value")
        return float(word) if number.group(1) or number.group(2) else int(word)

    def _expect(self, mark: str) -> None:
        if self.peek() != mark:
            raise self.fault(f"{mark!r} is missing")
        self._at += 1
