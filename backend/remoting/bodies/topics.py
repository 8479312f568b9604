"""Bodies about topics and the registration of a broker (remoting.md 3.8, 3.2)."""

import zlib
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies.base import Body, DataVersion, MessageQueue
from backend.remoting.java_json import InvalidJson

INFLATED_SIZE_MAX: Final = 64 << 20
# Brokers from 5.0.0 on append the section of static topics to the compressed form.
_VERSION_WITH_MAPPINGS: Final = 413
_TOPIC_FIELD_COUNT: Final = 6


class TopicConfig(Body, frozen=True, kw_only=True):
    """How one topic is laid out on one broker group."""

    attributes: dict[str, str] = msgspec.field(default_factory=dict)
    is_ordered: bool = msgspec.field(name="order", default=False)
    permissions: int = msgspec.field(name="perm", default=6)
    read_queue_count: int = msgspec.field(name="readQueueNums", default=16)
    filter_type: str = msgspec.field(name="topicFilterType", default="SINGLE_TAG")
    name: str = msgspec.field(name="topicName", default="")
    topic_sys_flag: int = 0
    write_queue_count: int = msgspec.field(name="writeQueueNums", default=16)


class TopicConfigTable(Body, frozen=True, kw_only=True):
    """All topics of a broker and their version (21, inside 103, `topics.json`)."""

    data_version: DataVersion = DataVersion()
    mapping_data_version: DataVersion = DataVersion()
    topics: dict[str, TopicConfig] = msgspec.field(name="topicConfigTable", default_factory=dict)
    mapping_details: dict[str, Any] = msgspec.field(
        name="topicQueueMappingDetailMap", default_factory=dict
    )
    mapping_infos: dict[str, Any] = msgspec.field(
        name="topicQueueMappingInfoMap", default_factory=dict
    )


class RegisterBrokerBody(Body, frozen=True, kw_only=True):
    """What a broker tells a name server about itself (103)."""

    filter_servers: list[str] = msgspec.field(name="filterServerList", default_factory=list)
    topic_table: TopicConfigTable = msgspec.field(
        name="topicConfigSerializeWrapper", default_factory=TopicConfigTable
    )


class TopicList(Body, frozen=True, kw_only=True):
    """Names of topics (206, 224, 304, 305, 343)."""

    topic_list: list[str] = msgspec.field(default_factory=list)
    broker_address: str | msgspec.UnsetType = msgspec.field(
        name="brokerAddr", default=msgspec.UNSET
    )


class TopicOffset(Body, frozen=True, kw_only=True):
    """The ends of one queue and the store time of its last message."""

    last_update_timestamp_ms: int = msgspec.field(name="lastUpdateTimestamp")
    max_offset: int
    min_offset: int


def encode_topic_stats(entries: Iterable[tuple[MessageQueue, TopicOffset]]) -> bytes:
    """Write the answer of 202, whose keys are whole objects."""
    return b'{"offsetTable":' + java_json.encode_object_map(entries) + b',"topicPutTps":0.0}'


def decode_register_broker_body(
    body: bytes, *, compressed: bool, version: int
) -> RegisterBrokerBody:
    """Read the body of a registration, plain or compressed.

    Raises:
        InvalidJson: the body is malformed, or would inflate beyond the limit.
    """
    if not body:
        return RegisterBrokerBody()
    if not compressed:
        return java_json.decode(body, RegisterBrokerBody)
    sections = _Sections(_inflate(body))
    data_version = java_json.decode(sections.take(), DataVersion)
    topics = [_topic_from_text(sections.take()) for _ in range(sections.count())]
    filter_servers = java_json.decode(sections.take() or b"[]", list[str])
    mapping_infos: dict[str, Any] = {}
    if version >= _VERSION_WITH_MAPPINGS and sections.more():
        infos = [java_json.loads(sections.take()) for _ in range(sections.count())]
        mapping_infos = {str(info["topic"]): info for info in infos if "topic" in info}
    table = TopicConfigTable(
        data_version=data_version,
        topics={topic.name: topic for topic in topics},
        mapping_infos=mapping_infos,
    )
    return RegisterBrokerBody(filter_servers=filter_servers, topic_table=table)


def encode_register_broker_body(body: RegisterBrokerBody, *, compressed: bool) -> bytes:
    """Write the body of a registration; the compressed form loses flags and order."""
    if not compressed:
        return java_json.encode(body)
    table = body.topic_table
    parts = [_section(java_json.encode(table.data_version))]
    parts.append(len(table.topics).to_bytes(4, "big"))
    parts.extend(_section(_topic_as_text(topic)) for topic in table.topics.values())
    parts.append(_section(java_json.encode(body.filter_servers)))
    parts.append(len(table.mapping_infos).to_bytes(4, "big"))
    parts.extend(_section(java_json.encode(info)) for info in table.mapping_infos.values())
    return zlib.compress(b"".join(parts), 9)


class _Sections:
    """Walks over length-prefixed sections, never past the end of what there is."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def more(self) -> bool:
        return self._at < len(self._data)

    def count(self) -> int:
        if self._at + 4 > len(self._data):
            raise InvalidJson("the registration body ends too early")
        number = int.from_bytes(self._data[self._at : self._at + 4], "big", signed=True)
        self._at += 4
        # Each section has its own length field, so a larger count is a lie.
        if not 0 <= number <= len(self._data) - self._at:
            raise InvalidJson("the registration body holds an impossible length")
        return number

    def take(self) -> bytes:
        size = self.count()
        section = self._data[self._at : self._at + size]
        self._at += size
        return section


def _inflate(body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(body, INFLATED_SIZE_MAX)
    except zlib.error as error:
        raise InvalidJson("the registration body does not inflate") from error
    if inflater.unconsumed_tail:
        raise InvalidJson(f"the registration body inflates beyond {INFLATED_SIZE_MAX} bytes")
    return data


def _section(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _topic_as_text(topic: TopicConfig) -> bytes:
    counts = f"{topic.read_queue_count} {topic.write_queue_count} {topic.permissions}"
    head = f"{topic.name} {counts} {topic.filter_type} ".encode()
    return head + java_json.encode(topic.attributes)


def _topic_from_text(section: bytes) -> TopicConfig:
    try:
        fields = section.decode().split(" ", _TOPIC_FIELD_COUNT - 1)
        name, reads, writes, permissions, filter_type = fields[:5]
        return TopicConfig(
            name=name,
            read_queue_count=int(reads),
            write_queue_count=int(writes),
            permissions=int(permissions),
            filter_type=filter_type,
            attributes=_attributes(fields[5:]),
        )
    except (ValueError, UnicodeDecodeError) as error:
        raise InvalidJson("a topic of the registration body is malformed") from error


def _attributes(rest: list[str]) -> dict[str, str]:
    return java_json.decode(rest[0].encode(), dict[str, str]) if rest and rest[0] else {}
