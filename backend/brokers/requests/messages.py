"""Ask brokers for messages: by log position, by key and by queue offset.

`broker_group_name` is the broker group of a message.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from regent_engine import (
    ProtocolError,
    Record,
    decode_records,
    offset_message_id,
    parse_offset_message_id,
)

from backend.brokers.asking import Request
from backend.brokers.errors import UnexpectedAnswer
from backend.domain.message import StoredMessage
from backend.domain.message_reading import Pulled
from backend.remoting.command import Command
from backend.remoting.headers import (
    PullMessageHeader,
    QueryMessageHeader,
    ViewMessageHeader,
    encode_header,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

# Every broker has this group from its start, even if it creates no groups on use.
READER_GROUP: Final = "TOOLS_CONSUMER"
PULLED_COUNT_MAX: Final = 32
_SUBSCRIPTION_FLAG: Final = 4
_UNIQUE_KEY_QUERY: Final = "_UNIQUE_KEY_QUERY"
"""Means that a key is a producer's id; it is no field of the header."""


@dataclass(frozen=True, slots=True)
class KeyQuery:
    """Describe a search for messages of a topic by key; times in ms since 1970."""

    topic: str
    key: str
    is_unique: bool
    count_max: int
    begin_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class ViewMessage(Request[StoredMessage | None]):
    """Ask a broker for the message at a log position; None if there is no message."""

    code = RequestCode.VIEW_MESSAGE_BY_ID
    header_type = ViewMessageHeader
    absence = ResponseCode.SYSTEM_ERROR

    broker_group_name: str
    log_position: int

    def read(self, response: Command) -> StoredMessage | None:
        found = _messages(self.broker_group_name, response.body)
        return found[0] if found and found[0].log_position == self.log_position else None


@dataclass(frozen=True, slots=True)
class QueryMessages(Request[Sequence[StoredMessage]]):
    """Ask a broker for the messages with a key; above the limit, for the newest ones.

    Stock indexes hold a hash of the key, so messages that only share the hash are left out.
    """

    code = RequestCode.QUERY_MESSAGE
    absence = ResponseCode.QUERY_NOT_FOUND
    nothing = ()

    broker_group_name: str
    query: KeyQuery

    @property
    def ext(self) -> dict[str, str]:
        query = self.query
        header = QueryMessageHeader(
            topic=query.topic,
            key=query.key,
            count_max=query.count_max,
            begin_timestamp=query.begin_ms,
            end_timestamp=query.end_ms,
        )
        return encode_header(header) | ({_UNIQUE_KEY_QUERY: "true"} if query.is_unique else {})

    def read(self, response: Command) -> list[StoredMessage]:
        found = _messages(self.broker_group_name, response.body)
        return [one for one in found if one.topic == self.query.topic and _has(one, self.query)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMessages(Request[Pulled]):
    """Read a queue from an offset on, without waiting and without an effect on any group."""

    code = RequestCode.PULL_MESSAGE
    also_read = frozenset(
        {
            ResponseCode.PULL_NOT_FOUND,
            ResponseCode.PULL_RETRY_IMMEDIATELY,
            ResponseCode.PULL_OFFSET_MOVED,
        }
    )

    broker_group_name: str
    topic: str
    queue_id: int
    offset: int
    count: int

    @property
    def header(self) -> PullMessageHeader:
        return PullMessageHeader(
            consumer_group=READER_GROUP,
            topic=self.topic,
            queue_id=self.queue_id,
            queue_offset=self.offset,
            message_count_max=min(self.count, PULLED_COUNT_MAX),
            sys_flag=_SUBSCRIPTION_FLAG,
            commit_offset=0,
            suspend_timeout_ms=0,
            subscription="*",
            subscription_version=0,
            expression_type="TAG",
        )

    def read(self, response: Command) -> Pulled:
        try:
            next_offset, low, high = (
                int(response.ext[name]) for name in ("nextBeginOffset", "minOffset", "maxOffset")
            )
        except (KeyError, ValueError) as error:
            raise UnexpectedAnswer(f"its answer holds no offsets: {error}") from error
        body = b"" if response.code in self.also_read else response.body
        found = [self._shown(one, response) for one in _messages(self.broker_group_name, body)]
        # A record may be a whole batch, which begins before the requested offset.
        kept = [one for one in found if one.queue_offset >= self.offset and one.topic == self.topic]
        return Pulled(tuple(kept), next_offset, low, high)

    def _shown(self, message: StoredMessage, response: Command) -> StoredMessage:
        """Return a message of a logical queue with its logical offset (logical-queues.md 16)."""
        delta = int(response.ext.get("offsetDelta", "0"))
        return replace(message, queue_id=self.queue_id, queue_offset=message.queue_offset + delta)


def locate_message(message_id: str) -> tuple[str, int] | None:
    """Parse an offset message id: the address of the broker and the log position.

    Ids from producers have the same length, so a valid text may still be such an id.
    """
    try:
        host, port, position = parse_offset_message_id(message_id)
    except ValueError:
        return None
    return _host_text((host, port)), position


def _messages(broker_group_name: str, body: bytes) -> list[StoredMessage]:
    try:
        return [_message(broker_group_name, record) for record in decode_records(body)]
    except (ProtocolError, ValueError) as error:
        raise UnexpectedAnswer(f"its messages can't be read: {error}") from error


def _message(broker_group_name: str, record: Record) -> StoredMessage:
    host, port = record.store_host
    return StoredMessage(
        broker_group_name=broker_group_name,
        topic=record.topic,
        queue_id=record.queue_id,
        queue_offset=record.queue_offset,
        log_position=record.log_position,
        message_id=offset_message_id(host, port, record.log_position),
        born_at_ms=record.born_timestamp_ms,
        born_host=_host_text(record.born_host),
        stored_at_ms=record.store_timestamp_ms,
        store_host=_host_text(record.store_host),
        reconsume_times=record.reconsume_times,
        sys_flag=record.sys_flag,
        size_bytes=record.size,
        properties=dict(record.properties),
        body=record.body,
        flag=record.flag,
    )


def _host_text(host: tuple[str, int]) -> str:
    name, port = host
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def _has(message: StoredMessage, query: KeyQuery) -> bool:
    return message.unique_key == query.key if query.is_unique else query.key in message.keys
