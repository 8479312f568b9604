"""Declare requests that change something on a broker, for a step of an operation (D20)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from backend.brokers.asking import Request
from backend.brokers.errors import accepted
from backend.domain.operation_errors import ChangeRefused, OperationFenced
from backend.remoting.command import Command
from backend.remoting.headers import EffectAnswer, FencedAnswer, decode_header, encode_header
from backend.remoting.response_code import ResponseCode

Fence = Mapping[str, str]

REFUSALS: Final = frozenset(
    {
        ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        ResponseCode.NO_PERMISSION,
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        ResponseCode.INVALID_PARAMETER,
        ResponseCode.ILLEGAL_OPERATION,
    }
)
"""With these codes a broker says that it made no change, and that a retry would not help."""


@dataclass(frozen=True, slots=True)
class ChangedValues:
    """Hold the values before and after a change, as JSON values from the agent."""

    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Request[ChangedValues | None]):
    """Declare a request that changes something, with the fencing number of its attempt.

    An agent makes the change of an attempt once, and returns the values before and after. A stock
    broker returns none, and ignores fencing numbers. A change without an answer may have been made.
    """

    fence: Fence

    @property
    def ext(self) -> dict[str, str]:
        """Return the fields of the header and of the fence."""
        return {**({} if self.header is None else encode_header(self.header)), **self.fence}

    def answer(self, address: str, response: Command) -> ChangedValues | None:
        """Return the values from an agent; None for a stock broker.

        Raises:
            ChangeRefused: the broker did not make the change, and never will.
            BrokerRefused: the broker did not make the change this time.
            OperationFenced: a later attempt came first.
        """
        if response.code == ResponseCode.OPERATION_FENCED:
            held = decode_header(FencedAnswer, response.ext).held_fence
            attempt = int(self.fence["regentFence"])
            raise OperationFenced(self.fence["regentOperation"], attempt, held=held)
        if response.code in REFUSALS:
            raise ChangeRefused(address, response.remark or f"code {response.code}")
        return self.read(accepted(address, response))

    def read(self, response: Command) -> ChangedValues | None:
        """Read the values before and after the change."""
        if "regentAfter" not in response.ext:
            return None
        header = decode_header(EffectAnswer, response.ext)
        return ChangedValues(msgspec.json.decode(header.before), msgspec.json.decode(header.after))
