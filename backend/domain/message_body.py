"""Show the body of a message as text, JSON or hexadecimal, no more of it than was asked for."""

import json
import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SHOWN_BYTES_DEFAULT: Final = 16 << 10
SHOWN_BYTES_MAX: Final = 256 << 10
# What a body may inflate to before it is cut (targets: decompression bombs).
INFLATED_BYTES_MAX: Final = 8 << 20
_COMPRESSED: Final = 1
_COMPRESSIONS: Final = {0: "zlib", 1: "lz4", 2: "zstd", 3: "zlib"}
_HEX_GROUP_BYTES: Final = 2
_HEX_LINE_BYTES: Final = 16
_CONTROLS: Final = frozenset(range(32)) - {9, 10, 13}


class BodyForm(StrEnum):
    """Say how a body is shown; `AUTO` is the first of JSON, text and hex that it can be."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"
    HEX = "hex"


@dataclass(frozen=True, slots=True)
class ShownBody:
    """Hold a body as it is shown: `form` is the one that was used, never `AUTO`.

    `stored_bytes` is what lies in the log, `size_bytes` what that inflates to, `None` when it is
    compressed in a way that is not read here; then the stored bytes are shown.
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
        """Tell whether there is more than is shown."""
        return self.shown_bytes < (
            self.stored_bytes if self.size_bytes is None else self.size_bytes
        )


def show_body(
    body: bytes, sys_flag: int, *, form: BodyForm, shown_bytes_max: int = SHOWN_BYTES_DEFAULT
) -> ShownBody:
    """Show a body in the form that was asked for, or in the next that it can be shown in."""
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
    # Three bits name the kind; the first clients had only zlib and left them clear.
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
    """Read UTF-8; a part may end within a character, whose beginning is left out."""
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
