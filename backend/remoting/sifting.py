"""Decode tables item by item: an invalid item does not affect the others (D32)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar, get_args, get_origin

import msgspec

from backend.remoting import java_json
from backend.remoting.java_json import InvalidJson

T = TypeVar("T")

REASON_LENGTH_MAX: Final = 300
LEFT_OUT_COUNT_MAX: Final = 10_000
"""A document with more invalid items is malformed: naming each would delay all other work."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Name an item that was left out: its path, and why it is invalid.

    The path consists of the names of tables and the keys in them. The content is the item itself as
    JSON, for a caller that keeps it.
    """

    path: tuple[str, ...]
    reason: str
    content: bytes = b"null"

    @property
    def name(self) -> str:
        """Return the item's own key."""
        return self.path[-1]


def decode_items(data: bytes, kind: type[T], *tables: str) -> tuple[T, list[LeftOut]]:
    """Decode a body; invalid items of the named tables are left out and named.

    A table is a field of the body, or of a struct in it, that holds a map or a list.

    Raises:
        InvalidJson: the document is malformed, or something outside of these tables is invalid.
    """
    try:
        return java_json.decode(data, kind), []
    except InvalidJson:
        content = java_json.loads(data, allows_halves=True)
    left_out: list[LeftOut] = []
    sifted = _Sieve(frozenset(tables), left_out).struct(content, kind, ())
    try:
        return msgspec.convert(sifted, kind, strict=False), left_out
    except (msgspec.ValidationError, UnicodeError) as error:
        raise InvalidJson(str(error)) from error


def put_back(document: dict[str, Any], left_out: Iterable[LeftOut]) -> dict[str, Any]:
    """Return a document with the items that were left out of it.

    An item of the document is newer and stays.
    """
    whole = dict(document)
    for one in left_out:
        place: dict[str, Any] = whole
        for step in one.path[:-1]:
            inner = place.get(step)
            # The document shares its maps with others: only copies are changed.
            place[step] = {str(key): value for key, value in inner.items()} if inner else {}
            place = place[step]
        place.setdefault(one.name, msgspec.Raw(one.content))
    return whole


def left_out_of(path: tuple[str, ...], reason: str, item: object) -> LeftOut:
    """Name an item that was decoded but refused."""
    content = msgspec.json.encode(item) if isinstance(item, msgspec.Struct) else _dumps(item)
    return LeftOut(tuple(map(_writable, path)), reason[:REASON_LENGTH_MAX], content)


def leave_out(left_out: list[LeftOut], item: LeftOut) -> None:
    """Add an item to those that were left out.

    Raises:
        InvalidJson: there are too many.
    """
    if len(left_out) >= LEFT_OUT_COUNT_MAX:
        raise InvalidJson(f"more than {LEFT_OUT_COUNT_MAX} items can't be read")
    left_out.append(item)


_MAP: Final[Any] = dict
_LIST: Final[Any] = list


class _Sieve:
    """Checks plain values against the types that they should have."""

    def __init__(self, tables: frozenset[str], left_out: list[LeftOut]) -> None:
        self._tables, self._left_out = tables, left_out

    def struct(self, value: Any, kind: Any, path: tuple[str, ...]) -> Any:
        if not isinstance(value, dict) or not _is_struct(kind):
            return value
        found = dict(value)
        for field in msgspec.structs.fields(kind):
            name = field.encode_name
            if name in self._tables:
                found[name] = self._table(found.get(name, {}), field.type, (*path, name))
                if name not in value:
                    del found[name]
            elif name in found:
                found[name] = self.struct(found[name], field.type, (*path, name))
        return found

    def _table(self, value: Any, kind: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, dict) and get_origin(kind) is dict:
            key_kind, item_kind = get_args(kind)
            kept = {}
            for key, item in value.items():
                inner = self._item(item, item_kind, (*path, str(key)))
                if self._fits({key: inner}, _MAP[key_kind, item_kind], (*path, str(key)), item):
                    kept[key] = inner
            return kept
        if isinstance(value, list) and get_origin(kind) is list:
            item_kind = get_args(kind)[0]
            chosen = []
            for index, item in enumerate(value):
                place = (*path, str(index))
                inner = self._item(item, item_kind, place)
                if self._fits([inner], _LIST[item_kind], place, item):
                    chosen.append(inner)
            return chosen
        return value

    def _item(self, item: Any, kind: Any, path: tuple[str, ...]) -> Any:
        return self._table(item, kind, path) if get_origin(kind) else self.struct(item, kind, path)

    def _fits(self, value: Any, kind: Any, path: tuple[str, ...], item: Any) -> bool:
        try:
            msgspec.convert(value, kind, strict=False)
            # A lone surrogate is accepted here, but can't be encoded again.
            msgspec.json.encode(value)
        except msgspec.ValidationError as error:
            reason = str(error)
        except UnicodeError:
            reason = "holds half a character"
        else:
            return True
        leave_out(self._left_out, left_out_of(path, reason, item))
        return False


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _dumps(item: object) -> bytes:
    # In ASCII, so that a lone surrogate can be written.
    plain = dict(item) if isinstance(item, Mapping) else item
    return json.dumps(plain, allow_nan=False, default=str).encode()


def _writable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()
