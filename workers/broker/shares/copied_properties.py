"""Write the property string of a copy, with the properties of its message byte for byte.

Producers send properties that no dictionary can hold: a separator inside of a value, or bytes that
are not UTF-8. The store accepts them, so a copy has them too.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from regent_engine import PROPERTIES_SIZE_MAX, encode_properties

from workers.broker.commit_log.message import (
    NAME_VALUE_SEPARATOR,
    ORIGIN_MESSAGE_ID,
    PROPERTY_SEPARATOR,
    RETRY_TOPIC,
    UNIQUE_KEY,
)

ROOM_BYTES: Final = 128
"""What the store and the delivery of a waiting message add: checksum, times and rolls."""

_BLANK: Final = bytes(512)
"""The store accepts no property with so many NUL bytes in a row; a log of stock may have one."""

_FIRST: Final = frozenset({UNIQUE_KEY, RETRY_TOPIC, ORIGIN_MESSAGE_ID, "KEYS", "TAGS"})
_SEPARATOR: Final = PROPERTY_SEPARATOR.encode()


def copied_properties(
    stored: bytes, added: Mapping[str, str], left_out: AbstractSet[str]
) -> tuple[bytes, int]:
    """Return the property string of a copy, and how many properties are not in it.

    The names by which operators find a message have precedence: there may be no room for all.

    Raises:
        ValueError: an added property can't be encoded.
    """
    # A copy that began or ended with NUL would be refused: what is added comes first.
    text = bytearray(encode_properties(added))
    missing_count = 0
    for name, entry in sorted(_entries(stored), key=lambda one: one[0] not in _FIRST):
        if name in added or name in left_out:
            continue
        size = len(text) + len(entry) + len(_SEPARATOR)
        if size > PROPERTIES_SIZE_MAX - ROOM_BYTES or _BLANK in entry:
            missing_count += 1
            continue
        text += entry + _SEPARATOR
    return bytes(text), missing_count


def _entries(stored: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the entries with a name and a value; readers skip others."""
    for entry in stored.split(_SEPARATOR):
        name, _, value = entry.partition(NAME_VALUE_SEPARATOR.encode())
        if name and value:
            yield name.decode(errors="replace"), entry
