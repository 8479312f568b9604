"""Have brokers store messages (10)."""

from dataclasses import dataclass
from typing import Final

from regent_engine import encode_properties

from backend.brokers.asking import Request
from backend.brokers.errors import BrokerRefused, BrokerUnreachable
from backend.domain.outgoing_message import OutgoingMessage
from backend.remoting.command import Command
from backend.remoting.headers import (
    InvalidHeader,
    SendMessageAnswer,
    SendMessageHeader,
    decode_header,
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
    """Hold where a broker has stored a message; `doubt` says how it could still be lost."""

    message_id: str
    queue_id: int
    queue_offset: int
    doubt: str | None


class SendRefused(BrokerRefused):
    """A broker has not stored a message, for the given reason."""

    def __init__(self, address: str, code: int, remark: str) -> None:
        super().__init__(address, f"code {code}, {remark}")
        self.code, self.remark = code, remark


@dataclass(frozen=True, slots=True)
class StoreMessage(Request[StoredAt]):
    """Have a broker store a message; the broker does not create the topic.

    A send has no fencing number, and without an answer the message may be stored
    (`BrokerUnreachable`).
    """

    code = RequestCode.SEND_MESSAGE

    message: OutgoingMessage

    @property
    def header(self) -> SendMessageHeader:
        message = self.message
        return SendMessageHeader(
            producer_group=PRODUCER_GROUP,
            topic=message.topic,
            # A missing topic can't be its own template.
            default_topic=message.topic,
            default_topic_queue_count=0,
            queue_id=message.queue_id,
            sys_flag=message.sys_flag,
            born_timestamp_ms=message.born_at_ms,
            flag=message.flag,
            properties=encode_properties(message.properties).decode(),
        )

    @property
    def body(self) -> bytes:
        return self.message.body

    def answer(self, address: str, response: Command) -> StoredAt:
        """Return where the message is stored.

        Raises:
            BrokerUnreachable: it is unknown whether the message is stored.
            SendRefused: the message is not stored.
        """
        remark = response.remark or "without a reason"
        if response.code == ResponseCode.SERVICE_NOT_AVAILABLE:
            # Our broker also answers this if its role ended while members of the set copied the
            # message.
            raise BrokerUnreachable(address, remark)
        if response.code not in _STORED:
            raise SendRefused(address, response.code, remark)
        try:
            return self.read(response)
        except InvalidHeader as error:
            raise BrokerUnreachable(address, f"its answer can't be read: {error}") from error

    def read(self, response: Command) -> StoredAt:
        stored = decode_header(SendMessageAnswer, response.ext)
        is_sure = response.code == ResponseCode.SUCCESS
        return StoredAt(
            stored.message_id,
            stored.queue_id,
            stored.queue_offset,
            None if is_sure else ResponseCode(response.code).name.lower(),
        )
