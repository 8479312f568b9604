"""Encode requests and answers as frames, in an encoding that their reader knows."""

from collections.abc import Mapping
from typing import Final

from regent_engine import Command, encode_command

from backend.remoting.response_code import ResponseCode

__all__ = ["PROTOCOL_VERSION", "Command", "answer", "notice", "request"]

# The version number of stock 5.5.0; below 232 Java refuses SQL filters (remoting.md 1.4).
PROTOCOL_VERSION: Final = 513
# Java decodes an unknown language as null, so we name one that every client knows.
LANGUAGE: Final = "JAVA"

_RESPONSE_FLAG: Final = 1
_ONE_WAY_FLAG: Final = 2


def request(
    code: int,
    *,
    opaque: int,
    ext: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> bytes:
    """Encode a request that expects an answer with the same opaque."""
    return encode_command(
        code=code, opaque=opaque, language=LANGUAGE, version=PROTOCOL_VERSION, ext=ext, body=body
    )


def notice(
    code: int,
    *,
    opaque: int,
    ext: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> bytes:
    """Encode a one-way request, which has no answer."""
    return encode_command(
        code=code,
        opaque=opaque,
        flag=_ONE_WAY_FLAG,
        language=LANGUAGE,
        version=PROTOCOL_VERSION,
        ext=ext,
        body=body,
    )


def answer(
    command: Command,
    *,
    code: int = ResponseCode.SUCCESS,
    ext: Mapping[str, str] | None = None,
    body: bytes = b"",
    body_size: int | None = None,
    remark: str | None = None,
) -> bytes:
    """Encode the answer of a request in the encoding of that request (remoting.md 1.4).

    With `body_size` the body follows the frame, and is not copied into it.
    """
    return encode_command(
        code=code,
        opaque=command.opaque,
        flag=_RESPONSE_FLAG,
        language=LANGUAGE,
        version=PROTOCOL_VERSION,
        remark=remark,
        ext=ext,
        body=body if body_size is None else None,
        body_size=body_size,
        encoding=command.encoding,
    )
