"""Ask brokers for messages: by log position, by key and by queue offset."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from regent_engine import (
    ProtocolError,
    Record,
    decode_records,
    offset_message_id,
    parse_offset_message_id,
)

from backend.clients.broker_answers import BrokerRefused, accepted
from backend.clients.remoting_client import RemotingClient
from backend.domain.message import StoredMessage
from backend.domain.message_reading import Pulled
from backend.remoting.headers import (
    PullMessageHeader,
    QueryMessageHeader,
    ViewMessageHeader,
    encode_header,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

# Every broker serves it from its start, whether or not it makes groups by itself.
READER_GROUP: Final = "TOOLS_CONSUMER"
PULLED_COUNT_MAX: Final = 32
_SUBSCRIPTION_FLAG: Final = 4
_EMPTY: Final = frozenset(
    {
        ResponseCode.PULL_NOT_FOUND,
        ResponseCode.PULL_RETRY_IMMEDIATELY,
        ResponseCode.PULL_OFFSET_MOVED,
    }
)


@dataclass(frozen=True, slots=True)
class KeyQuery:
    """Say which messages of a topic are looked for by a key; times in ms since 1970."""

    topic: str
    key: str
    is_unique: bool
    count_max: int
    begin_ms: int
    end_ms: int


class MessageRequests:
    """Speak to brokers of messages; `group_name` is the broker group that a message is said of."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def message_at(
        self, address: str, group_name: str, log_position: int
    ) -> StoredMessage | None:
        """Ask a broker for the message at a position of its log (33); None is that none is there.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer can't be read.
        """
        header = ViewMessageHeader(log_position=log_position)
        code = RequestCode.VIEW_MESSAGE_BY_ID
        response = await self._client.request(address, code, ext=encode_header(header))
        if response.code == ResponseCode.SYSTEM_ERROR:
            return None
        found = _messages(address, group_name, accepted(address, response).body)
        return found[0] if found and found[0].log_position == log_position else None

    async def find_by_key(
        self, address: str, group_name: str, query: KeyQuery
    ) -> Sequence[StoredMessage]:
        """Ask a broker for the messages with a key, of too many the newest (12).

        Stock indexes hash the key, so what only shares its hash is left out here.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        header = QueryMessageHeader(
            topic=query.topic,
            key=query.key,
            count_max=query.count_max,
            begin_timestamp=query.begin_ms,
            end_timestamp=query.end_ms,
        )
        ext = encode_header(header)
        if query.is_unique:
            ext["_UNIQUE_KEY_QUERY"] = "true"
        response = await self._client.request(address, RequestCode.QUERY_MESSAGE, ext=ext)
        if response.code == ResponseCode.QUERY_NOT_FOUND:
            return ()
        found = _messages(address, group_name, accepted(address, response).body)
        return [one for one in found if one.topic == query.topic and _has(one, query)]

    async def pull(
        self, address: str, group_name: str, topic: str, queue_id: int, offset: int, *, count: int
    ) -> Pulled:
        """Read a queue from an offset on, without waiting and without a trace in any group (11).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        header = PullMessageHeader(
            consumer_group=READER_GROUP,
            topic=topic,
            queue_id=queue_id,
            queue_offset=offset,
            message_count_max=min(count, PULLED_COUNT_MAX),
            sys_flag=_SUBSCRIPTION_FLAG,
            commit_offset=0,
            suspend_timeout_ms=0,
            subscription="*",
            subscription_version=0,
            expression_type="TAG",
        )
        code = RequestCode.PULL_MESSAGE
        response = await self._client.request(address, code, ext=encode_header(header))
        is_empty = response.code in _EMPTY
        body = b"" if is_empty else accepted(address, response).body
        try:
            next_offset, low, high = (
                int(response.ext[name]) for name in ("nextBeginOffset", "minOffset", "maxOffset")
            )
        except (KeyError, ValueError) as error:
            raise BrokerRefused(address, f"it tells no offsets: {error}") from error
        found = _messages(address, group_name, body)
        # A record may be a batch's whole frame, which begins before what was asked for.
        kept = [one for one in found if one.queue_offset >= offset and one.topic == topic]
        return Pulled(tuple(kept), next_offset, low, high)


def locate_message(message_id: str) -> tuple[str, int] | None:
    """Read an offset message id: the address it was stored at and its log position there.

    Ids that senders make have the same length, so an id that reads well may yet be one of those.
    """
    try:
        host, port, position = parse_offset_message_id(message_id)
    except ValueError:
        return None
    return _host_text((host, port)), position


def _messages(address: str, group_name: str, body: bytes) -> list[StoredMessage]:
    try:
        return [_message(group_name, record) for record in decode_records(body)]
    except (ProtocolError, ValueError) as error:
        raise BrokerRefused(address, f"its messages can't be read: {error}") from error


def _message(group_name: str, record: Record) -> StoredMessage:
    host, port = record.store_host
    return StoredMessage(
        group_name=group_name,
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
