"""Define why a broker did not answer a request."""

from typing import Final

from backend.remoting.command import Command
from backend.remoting.response_code import ResponseCode

NOT_REPORTED_BY_STOCK: Final = "RocketMQ brokers do not report it"


class NoAnswer(Exception):
    """A broker did not answer a request; `reason` explains it, without the address."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(reason)
        self.address, self.reason = address, reason


class BrokerUnreachable(NoAnswer):
    """A peer gave no answer: it can't be reached, broke the protocol, or took too long."""

    def __str__(self) -> str:
        """Name the address and the reason."""
        return f"{self.address} gave no answer: {self.reason}"


class AnswerLate(BrokerUnreachable):
    """A peer gave no answer in time: it has the request, and may be carrying it out."""


class BrokerRefused(NoAnswer):
    """A broker answered with an error."""

    def __str__(self) -> str:
        """Name the address and the reason."""
        return f"broker {self.address} refused: {self.reason}"


class UnexpectedAnswer(ValueError):
    """A successful answer lacks a required part; the text names the part."""


def accepted(address: str, response: Command) -> Command:
    """Return the answer of a success.

    Raises:
        BrokerRefused: the code is another one, for example from a stock broker that does not
            know the request.
    """
    if response.code == ResponseCode.SUCCESS:
        return response
    if response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
        raise BrokerRefused(address, NOT_REPORTED_BY_STOCK)
    raise BrokerRefused(address, f"code {response.code}, {response.remark}")
