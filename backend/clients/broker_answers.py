"""Tell an answer that a broker was asked for from one that it gave instead."""

from typing import Final

from backend.remoting.command import Command
from backend.remoting.response_code import ResponseCode

NOT_TOLD_BY_STOCK: Final = "RocketMQ brokers do not report it"


class BrokerRefused(Exception):  # noqa: N818 - an error is called what went wrong
    """A broker answered, but not with what was asked for."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"broker {address} refused: {reason}")
        self.address, self.reason = address, reason


def accepted(address: str, response: Command) -> Command:
    """Return an answer of success.

    Raises:
        BrokerRefused: it is another, such as of a stock broker to a request of ours.
    """
    if response.code == ResponseCode.SUCCESS:
        return response
    if response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
        raise BrokerRefused(address, NOT_TOLD_BY_STOCK)
    raise BrokerRefused(address, f"code {response.code}, {response.remark}")
