"""Recorded connections taken apart into frames, without the codec under test.

Only the length prefix and, to name a frame, its code, opaque and flag are read here (remoting.md
1.1 to 1.3).
"""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

JSON, BINARY = 0, 1
IS_RESPONSE = 1


@dataclass(frozen=True, slots=True)
class Frame:
    """One whole frame, its length prefix included."""

    content: bytes
    code: int
    opaque: int
    flag: int

    @property
    def is_response(self) -> bool:
        return bool(self.flag & IS_RESPONSE)


@dataclass(frozen=True, slots=True)
class NamedFrame:
    """A frame, the code of the request it is or answers, and who sent it."""

    request_code: int
    sender: str
    frame: Frame


def split(data: bytes) -> Iterator[Frame]:
    """Cut a stream into its frames; what a closed connection left unfinished is left out."""
    at = 0
    while at + 4 <= len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            return
        yield _parse(data[at:end])
        at = end


def connections(directory: Path) -> Iterator[tuple[Path, Path]]:
    """List the recorded connections of a directory: what the client sent and what it received."""
    for requests in sorted(directory.glob("*.requests")):
        yield requests, requests.with_suffix(".answers")


def named(requests: Path, answers: Path) -> Iterator[NamedFrame]:
    """Name the frames of one connection; an answer is named after the request it answers."""
    from_client = list(split(requests.read_bytes()))
    from_server = list(split(answers.read_bytes()))
    codes_by_sender = {
        sender: {frame.opaque: frame.code for frame in frames if not frame.is_response}
        for sender, frames in (("client", from_client), ("server", from_server))
    }
    for sender, asker, frames in (
        ("client", "server", from_client),
        ("server", "client", from_server),
    ):
        for frame in frames:
            code = codes_by_sender[asker].get(frame.opaque) if frame.is_response else frame.code
            if code is not None:
                yield NamedFrame(code, sender, frame)


def _parse(content: bytes) -> Frame:
    mark = int.from_bytes(content[4:8], "big")
    header = content[8 : 8 + (mark & 0xFFFFFF)]
    if mark >> 24 == JSON:
        fields = json.loads(header)
        code, opaque = fields.get("code", 0), fields.get("opaque", 0)
        return Frame(content, code, opaque, fields.get("flag", 0))
    code, _, _, opaque, flag = struct.unpack_from(">hBhii", header)
    return Frame(content, code, opaque, flag)
