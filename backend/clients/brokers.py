"""Ask brokers, by address, for what only they know."""

import msgspec

from backend.clients.remoting_client import RemotingClient
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.remoting.sample import BrokerSample

__all__ = ["BrokerRefused", "BrokerSample", "Brokers"]


class BrokerRefused(Exception):  # noqa: N818 - an error is called what went wrong
    """A broker answered, but not with what was asked for."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"broker {address} refused: {reason}")
        self.address, self.reason = address, reason


class Brokers:
    """Speak to brokers over remoting connections that are kept open."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def sample(self, address: str) -> BrokerSample:
        """Ask an agent for its counters, positions and resources.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, as a stock broker's is, or no sample.
        """
        response = await self._client.request(address, RequestCode.GET_BROKER_SAMPLE)
        if response.code != ResponseCode.SUCCESS:
            raise BrokerRefused(address, f"code {response.code}, {response.remark}")
        try:
            return msgspec.json.decode(response.body, type=BrokerSample)
        except msgspec.DecodeError as error:
            raise BrokerRefused(address, f"unreadable sample: {error}") from error
