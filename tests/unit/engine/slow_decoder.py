"""Decode remoting frames slowly and plainly, from the reference alone (remoting.md 1).

Shares nothing with the engine: where both agree, both are probably right. JSON is read by the
standard library and turned into fields here; the ROCKETMQ header is read field by field.
"""

import json
import struct
from dataclasses import dataclass, field

FRAME_SIZE_MAX = 16 * 1024 * 1024
LANGUAGES = (
    "JAVA CPP DOTNET PYTHON DELPHI ERLANG RUBY OTHER HTTP GO PHP OMS RUST NODE_JS".split()  # noqa: SIM905
)


class BrokenStreamError(Exception):
    """The bytes are no frames."""


@dataclass(frozen=True, slots=True)
class SlowCommand:
    code: int
    language: str
    version: int
    opaque: int
    flag: int
    remark: str | None
    ext: dict[str, str]
    body: bytes
    encoding: str


@dataclass
class SlowDecoder:
    pending: bytearray = field(default_factory=bytearray)

    def receive(self, data: bytes) -> list[SlowCommand]:
        self.pending += data
        commands = []
        while len(self.pending) >= 4:
            (length,) = struct.unpack_from(">i", self.pending)
            if length < 4 or length + 4 > FRAME_SIZE_MAX:
                raise BrokenStreamError(length)
            if len(self.pending) < 4 + length:
                break
            frame = bytes(self.pending[4 : 4 + length])
            del self.pending[: 4 + length]
            commands.append(decode_frame(frame))
        return commands


def decode_frame(frame: bytes) -> SlowCommand:
    kind, header_size = frame[0], int.from_bytes(frame[1:4])
    if header_size > len(frame) - 4:
        raise BrokenStreamError(header_size)
    header, body = frame[4 : 4 + header_size], frame[4 + header_size :]
    if kind == 0:
        return decode_json(header, body)
    if kind == 1:
        return decode_binary(header, body)
    raise BrokenStreamError(kind)


class WrittenNumber(str):
    """A number as it is written."""

    __slots__ = ()


def no_constant(name: str) -> None:
    raise BrokenStreamError(name)


def decode_json(header: bytes, body: bytes) -> SlowCommand:
    try:
        tree = (
            json.loads(
                header.decode("utf-8"),
                parse_int=WrittenNumber,
                parse_float=WrittenNumber,
                parse_constant=no_constant,
                strict=False,
            )
            if header
            else None
        )
    except ValueError as error:
        raise BrokenStreamError(header) from error
    if not isinstance(tree, dict):
        raise BrokenStreamError(header)
    language = tree.get("language")
    remark = tree.get("remark")
    return SlowCommand(
        code=whole(tree.get("code")),
        language="JAVA" if language is None else known(text(language)),
        version=whole(tree.get("version")),
        opaque=whole(tree.get("opaque")),
        flag=whole(tree.get("flag")),
        remark=None if remark is None else text(remark),
        ext=ext_fields(tree.get("extFields")),
        body=body,
        encoding="json",
    )


def known(language: str) -> str:
    return language if language in LANGUAGES else "OTHER"


def whole(value: object) -> int:
    if value is None:
        return 0
    if not isinstance(value, WrittenNumber):
        raise BrokenStreamError(value)
    try:
        number = int(value)
    except ValueError as error:
        raise BrokenStreamError(value) from error
    if not -(2**31) <= number < 2**31:
        raise BrokenStreamError(value)
    return number


def text(value: object) -> str:
    """Take a string; a surrogate without its other half is `?`, as in Java."""
    if not isinstance(value, str) or isinstance(value, WrittenNumber):
        raise BrokenStreamError(value)
    return value.encode("utf-8", "replace").decode("utf-8")


def ext_fields(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BrokenStreamError(value)
    fields = {}
    for key, entry in value.items():
        if isinstance(entry, bool):
            fields[text(key)] = "true" if entry else "false"
        elif isinstance(entry, WrittenNumber):
            fields[text(key)] = str(entry)
        elif entry is not None:
            fields[text(key)] = text(entry)
    return fields


@dataclass
class BinaryReader:
    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise BrokenStreamError(size)
        taken = self.data[self.at : self.at + size]
        self.at += size
        return taken

    def number(self, size: int, *, signed: bool = True) -> int:
        return int.from_bytes(self.take(size), signed=signed)

    def text(self, size: int) -> str | None:
        try:
            return self.take(size).decode("utf-8") or None
        except ValueError as error:
            raise BrokenStreamError(size) from error


def decode_binary(header: bytes, body: bytes) -> SlowCommand:
    reader = BinaryReader(header)
    code = reader.number(2)
    language = reader.number(1, signed=False)
    version = reader.number(2)
    opaque = reader.number(4)
    flag = reader.number(4)
    remark = reader.text(reader.number(4))
    ext_size = reader.number(4)
    if ext_size != len(header) - reader.at:
        raise BrokenStreamError(ext_size)
    fields: dict[str, str] = {}
    while reader.at < len(header):
        key = reader.text(reader.number(2))
        value = reader.text(reader.number(4))
        if key is not None and value is not None:
            fields[key] = value
        elif key is not None:
            fields.pop(key, None)
    return SlowCommand(
        code=code,
        language=LANGUAGES[language] if language < len(LANGUAGES) else "OTHER",
        version=version,
        opaque=opaque,
        flag=flag,
        remark=remark,
        ext=fields,
        body=body,
        encoding="rocketmq",
    )
