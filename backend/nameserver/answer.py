"""Hold the answer of a processor before it becomes a frame."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from backend.remoting.response_code import ResponseCode


@dataclass(frozen=True, slots=True)
class Answer:
    """Hold a response code with its header fields, body and remark."""

    code: ResponseCode = ResponseCode.SUCCESS
    ext: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    remark: str | None = None
