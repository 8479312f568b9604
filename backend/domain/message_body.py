"""Show the body of a message as text, JSON or hexadecimal, up to the requested size."""

import json
import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SHOWN_BYTES_DEFAULT: Final = 16 << 10
SHOWN_BYTES_MAX: Final = 256 << 10
# The maximum decompressed size of a body (targets: decompression bombs).
INFLATED_BYTES_MAX: Final = 8 << 20
_COMPRESSED: Final = 1
_COMPRESSIONS: Final = {0: "zlib", 1: "lz4", 2: "zstd", 3: "zlib"}
_HEX_GROUP_BYTES: Final = 2
_HEX_LINE_BYTES: Final = 16
_CONTROLS: Final = frozenset(range(32)) - {9, 10, 13}


class BodyForm(StrEnum):
    """Name the form of a shown body; `AUTO` is the first of JSON, text and hex that fits."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"
    HEX = "hex"


@dataclass(frozen=True, slots=True)
class ShownBody:
    """Hold a shown body: `form` is the used form, never `AUTO`.

    `stored_bytes` is the size in the log. `size_bytes` is the decompressed size. It is `None` if
    the compression can't be read here; then the stored bytes are shown.
    """

    form: BodyForm
    content: str
    stored_bytes: int
    size_bytes: int | None
    shown_bytes: int
    compression: str | None
    note: str | None

    @property
    def is_cut(self) -> bool:
        """Return whether the body is longer than the shown part."""
        return self.shown_bytes < (
            self.stored_bytes if self.size_bytes is None else self.size_bytes
        )


def show_body(
    body: bytes, sys_flag: int, *, form: BodyForm, shown_bytes_max: int = SHOWN_BYTES_DEFAULT
) -> ShownBody:
    """Show a body in the requested form, or in the next possible form."""
    content, size, compression, note = _inflated(body, sys_flag)
    part = content[:shown_bytes_max]
    is_whole = len(part) == size
    for wanted in _forms(form):
        text = _written(part, wanted, is_whole=is_whole)
        if text is not None:
            break
    used, shown = wanted, text or ""
    if form not in {BodyForm.AUTO, used}:
        note = note or f"it can't be displayed as {form}"
    return ShownBody(used, shown, len(body), size, len(part), compression, note)


def _forms(form: BodyForm) -> tuple[BodyForm, ...]:
    return {
        BodyForm.AUTO: (BodyForm.JSON, BodyForm.TEXT, BodyForm.HEX),
        BodyForm.JSON: (BodyForm.JSON, BodyForm.TEXT, BodyForm.HEX),
        BodyForm.TEXT: (BodyForm.TEXT, BodyForm.HEX),
        BodyForm.HEX: (BodyForm.HEX,),
    }[form]


def _inflated(body: bytes, sys_flag: int) -> tuple[bytes, int | None, str | None, str | None]:
    if not sys_flag & _COMPRESSED:
        return body, len(body), None, None
    # Three bits name the compression. The first clients had only zlib, and set no bits.
    compression = _COMPRESSIONS.get(sys_flag >> 8 & 7, "an unknown compression")
    if compression != "zlib":
        return body, None, compression, f"compressed with {compression}, shown as it is stored"
    inflater = zlib.decompressobj()
    try:
        content = inflater.decompress(body, INFLATED_BYTES_MAX)
    except zlib.error as error:
        return body, None, compression, f"it can't be decompressed ({error}), shown as it is stored"
    if inflater.unconsumed_tail:
        note = f"its decompressed size is more than {INFLATED_BYTES_MAX} bytes"
        return content, None, compression, note
    return content, len(content), compression, None


def _written(part: bytes, form: BodyForm, *, is_whole: bool) -> str | None:
    if form is BodyForm.HEX:
        return "\n".join(
            part[at : at + _HEX_LINE_BYTES].hex(" ", _HEX_GROUP_BYTES)
            for at in range(0, len(part), _HEX_LINE_BYTES)
        )
    text = _text(part, is_whole=is_whole)
    if text is None or form is BodyForm.TEXT:
        return text
    return _json(text) if is_whole else None


def _text(part: bytes, *, is_whole: bool) -> str | None:
    """Read UTF-8. If the part ends within a character, this character is left out."""
    try:
        text = part.decode()
    except UnicodeDecodeError as error:
        if is_whole or error.reason != "unexpected end of data":
            return None
        text = part[: error.start].decode()
    return None if any(ord(one) in _CONTROLS for one in text) else text


def _json(text: str) -> str | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, (dict, list)):
        return None
    return json.dumps(value, indent=2, ensure_ascii=False)
