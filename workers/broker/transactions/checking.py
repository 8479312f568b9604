"""Build the request that asks a producer whether it commits a transaction (remoting.md 2.5, 39)."""

from dataclasses import dataclass
from typing import Protocol, Self

from regent_engine import Record, offset_message_id

from backend.remoting import command as commands
from backend.remoting.headers import CheckTransactionHeader, encode_header
from backend.remoting.names import HALF_TOPIC
from backend.remoting.request_code import RequestCode
from workers.broker.commit_log.message import REAL_QUEUE_ID, REAL_TOPIC, UNIQUE_KEY
from workers.broker.transactions.half_message import as_sent


class Place(Protocol):
    """The record that the answer of a producer names."""

    @property
    def queue_offset(self) -> int:
        """Return its queue offset."""

    @property
    def log_position(self) -> int:
        """Return its log position."""

    @property
    def message_id(self) -> str:
        """Return its offset message id."""


@dataclass(frozen=True, slots=True)
class HalfPlace:
    """A half message that is asked about as it is, without a copy."""

    queue_offset: int
    log_position: int
    message_id: str

    @classmethod
    def of(cls, half: Record) -> Self:
        """Return where a half message is."""
        message_id = offset_message_id(*half.store_host, half.log_position)
        return cls(half.queue_offset, half.log_position, message_id)


def check_of(half: Record, copy: Place, content: bytes, broker_name: str) -> bytes:
    """Return the frame of a check; `content` is the record of the copy, which the answer names."""
    key = half.properties.get(UNIQUE_KEY, "")
    ext = encode_header(
        CheckTransactionHeader(
            topic=HALF_TOPIC,
            queue_offset=copy.queue_offset,
            log_position=copy.log_position,
            message_id=key,
            transaction_id=key,
            offset_message_id=copy.message_id,
            broker_name=broker_name,
        )
    )
    topic = half.properties.get(REAL_TOPIC, "")
    queue_id = int(half.properties.get(REAL_QUEUE_ID, "0"))
    body = as_sent(content, half, topic=topic, queue_id=queue_id)
    return commands.notice(RequestCode.CHECK_TRANSACTION_STATE, opaque=0, ext=ext, body=body)
