"""Send messages to brokers (10)."""

from dataclasses import dataclass
from typing import Final

from regent_engine import encode_properties

from backend.clients.broker_answers import BrokerRefused
from backend.clients.remoting_client import BrokerUnreachable, RemotingClient
from backend.domain.outgoing_message import OutgoingMessage
from backend.remoting.headers import (
    InvalidHeader,
    SendMessageAnswer,
    SendMessageHeader,
    decode_header,
    encode_header,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

PRODUCER_GROUP: Final = "REGENT_PRODUCER"
_STORED: Final = frozenset(
    {
        ResponseCode.SUCCESS,
        ResponseCode.FLUSH_DISK_TIMEOUT,
        ResponseCode.FLUSH_SLAVE_TIMEOUT,
        ResponseCode.SLAVE_NOT_AVAILABLE,
    }
)


@dataclass(frozen=True, slots=True)
class StoredAt:
    """Hold where a broker has stored a message; `doubt` says what may still take it away."""

    message_id: str
    queue_id: int
    queue_offset: int
    doubt: str | None


class SendRefused(BrokerRefused):
    """A broker has not stored a message, and says why."""

    def __init__(self, address: str, code: int, remark: str) -> None:
        super().__init__(address, f"code {code}, {remark}")
        self.code, self.remark = code, remark


class SendRequests:
    """Speak to brokers of messages that are to be stored."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def send(self, address: str, message: OutgoingMessage) -> StoredAt:
        """Have a broker store a message (10); it creates no topic for it.

        Raises:
            BrokerUnreachable: whether the message is stored is not known.
            SendRefused: it is not stored.
        """
        header = SendMessageHeader(
            producer_group=PRODUCER_GROUP,
            topic=message.topic,
            # A topic that is not there can't be the template of itself.
            default_topic=message.topic,
            default_topic_queue_count=0,
            queue_id=message.queue_id,
            sys_flag=message.sys_flag,
            born_timestamp_ms=message.born_at_ms,
            flag=message.flag,
            properties=encode_properties(message.properties).decode(),
        )
        code = RequestCode.SEND_MESSAGE
        response = await self._client.request(
            address, code, ext=encode_header(header), body=message.body
        )
        remark = response.remark or "without a reason"
        if response.code == ResponseCode.SERVICE_NOT_AVAILABLE:
            # Ours answers so too when its role ended while members of the set copied the message.
            raise BrokerUnreachable(address, remark)
        if response.code not in _STORED:
            raise SendRefused(address, response.code, remark)
        try:
            stored = decode_header(SendMessageAnswer, response.ext)
        except InvalidHeader as error:
            raise BrokerUnreachable(address, f"its answer can't be read: {error}") from error
        is_sure = response.code == ResponseCode.SUCCESS
        return StoredAt(
            stored.message_id,
            stored.queue_id,
            stored.queue_offset,
            None if is_sure else ResponseCode(response.code).name.lower(),
        )
