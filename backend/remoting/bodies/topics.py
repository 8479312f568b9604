"""Bodies about topics and the registration of a broker (remoting.md 3.8, 3.2)."""

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies.base import Body, DataVersion, MessageQueue
from backend.remoting.java_json import InvalidJson
from backend.remoting.sifting import LeftOut, decode_items, leave_out, left_out_of
from backend.rules.topic import topic_fault

INFLATED_SIZE_MAX: Final = 64 << 20
# Brokers since 5.0.0 append the section of static topics to the compressed form.
_VERSION_WITH_MAPPINGS: Final = 413
# Name, counts, permissions, filter type and attributes, split at blanks; a name may hold a blank.
_TOPIC_TEXT: Final = re.compile(
    r"(.*?) (-?[0-9]{1,20}) (-?[0-9]{1,20}) (-?[0-9]{1,20}) (\S+)(?: (.*))?", re.DOTALL
)
TOPIC_TABLES: Final = (
    "topicConfigTable",
    "topicQueueMappingDetailMap",
    "topicQueueMappingInfoMap",
)
LEFT_OUT_COUNT_MAX: Final = 20
_KINDS: Final = {
    "topicConfigTable": "topic",
    "topicQueueMappingDetailMap": "queue mapping",
    "topicQueueMappingInfoMap": "queue mapping",
    "subscriptionGroupTable": "consumer group",
    "forbiddenTable": "forbidden topics",
    "offsetTable": "offset",
    "filterServerList": "filter server",
}


class TopicConfig(Body, frozen=True, kw_only=True):
    """The layout of one topic on one broker group."""

    attributes: dict[str, str] = msgspec.field(default_factory=dict)
    is_ordered: bool = msgspec.field(name="order", default=False)
    permissions: int = msgspec.field(name="perm", default=6)
    read_queue_count: int = msgspec.field(name="readQueueNums", default=16)
    filter_type: str = msgspec.field(name="topicFilterType", default="SINGLE_TAG")
    name: str = msgspec.field(name="topicName", default="")
    topic_sys_flag: int = 0
    write_queue_count: int = msgspec.field(name="writeQueueNums", default=16)


class StaticTopicConfig(TopicConfig, frozen=True, kw_only=True):
    """The layout of a topic, and its mapping if it is static (351 with `lo`).

    `backend.domain.logical_queue.stock_json` reads and writes the mapping.
    """

    mapping: Any = msgspec.field(name="mappingDetail", default=None)


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
    """The registration of a broker at a name server (103)."""

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


class LeftOutEntry(Body, frozen=True, kw_only=True):
    """One topic or group that a broker left out, and why (inside 103, our extension)."""

    kind: str
    name: str
    reason: str


class LeftOutTable(Body, frozen=True, kw_only=True):
    """The number of items that a broker left out of its files, and the first ones (103, ours)."""

    count: int = 0
    items: list[LeftOutEntry] = msgspec.field(default_factory=list)


class TopicOffset(Body, frozen=True, kw_only=True):
    """The first and last offset of one queue, and the store time of its last message."""

    last_update_timestamp_ms: int = msgspec.field(name="lastUpdateTimestamp")
    max_offset: int
    min_offset: int


def encode_topic_stats(entries: Iterable[tuple[MessageQueue, TopicOffset]]) -> bytes:
    """Encode the answer of 202, whose keys are whole objects."""
    return b'{"offsetTable":' + java_json.encode_object_map(entries) + b',"topicPutTps":0.0}'


def decode_topic_table(data: bytes) -> tuple[TopicConfigTable, list[LeftOut]]:
    """Decode a table of topics; invalid topics are left out and named.

    Raises:
        InvalidJson: the document or its version is malformed.
    """
    table, left_out = decode_items(data, TopicConfigTable, *TOPIC_TABLES)
    return _sifted(table, left_out)


def fault_of(topic: TopicConfig) -> str | None:
    """Return why no broker can serve a topic; None if a broker can."""
    return topic_fault(
        topic.name,
        read_queue_count=topic.read_queue_count,
        write_queue_count=topic.write_queue_count,
        permissions=topic.permissions,
        topic_sys_flag=topic.topic_sys_flag,
        filter_type=topic.filter_type,
    )


def sift_topics(
    topics: Mapping[str, TopicConfig],
) -> tuple[dict[str, TopicConfig], list[LeftOut]]:
    """Split the topics of a table into valid topics and topics that are left out."""
    kept: dict[str, TopicConfig] = {}
    left_out: list[LeftOut] = []
    for name, answer in topics.items():
        topic = answer if answer.name else msgspec.structs.replace(answer, name=name)
        fault = fault_of(topic)
        if topic.name != name:
            fault = f"topicName is {topic.name[:255]!r}"
        if fault is None:
            kept[name] = topic
        else:
            left_out.append(left_out_of((TOPIC_TABLES[0], name), fault, answer))
    return kept, left_out


def left_out_mapping(topic_name: str, reason: str, value: object) -> LeftOut:
    """Name a queue mapping that was decoded but refused."""
    return left_out_of(("topicQueueMappingInfoMap", topic_name), reason, value)


def kind_of(left_out: LeftOut) -> str:
    """Name the kind of an item that was left out of a table."""
    return next((_KINDS[step] for step in left_out.path if step in _KINDS), "entry")


def encode_left_out(left_out: Sequence[LeftOut], *, count_max: int = LEFT_OUT_COUNT_MAX) -> str:
    """Encode the items that a broker left out, for our field in its registration."""
    items = [
        LeftOutEntry(kind=kind_of(one), name=one.name[:255], reason=one.reason)
        for one in left_out[:count_max]
    ]
    return java_json.encode(LeftOutTable(count=len(left_out), items=items)).decode()


def decode_left_out(text: str | None) -> LeftOutTable:
    """Decode the items that a broker left out; an invalid text means none."""
    try:
        table = java_json.decode(text.encode(), LeftOutTable) if text else LeftOutTable()
    except (InvalidJson, UnicodeError):
        return LeftOutTable()
    return msgspec.structs.replace(table, items=table.items[:LEFT_OUT_COUNT_MAX])


def decode_register_broker_body(
    body: bytes, *, compressed: bool, version: int
) -> tuple[RegisterBrokerBody, list[LeftOut]]:
    """Decode the body of a registration; invalid topics are left out and named.

    Raises:
        InvalidJson: the body is malformed, or would inflate beyond the limit.
    """
    if not body:
        return RegisterBrokerBody(), []
    if compressed:
        body_read, left_out = _decode_compressed(body, version=version)
    else:
        body_read, left_out = decode_items(
            body, RegisterBrokerBody, "filterServerList", *TOPIC_TABLES
        )
    table, left_out = _sifted(body_read.topic_table, left_out)
    return msgspec.structs.replace(body_read, topic_table=table), left_out


def _sifted(
    table: TopicConfigTable, left_out: list[LeftOut]
) -> tuple[TopicConfigTable, list[LeftOut]]:
    topics, refused = sift_topics(table.topics)
    return msgspec.structs.replace(table, topics=topics), left_out + refused


def _decode_compressed(body: bytes, *, version: int) -> tuple[RegisterBrokerBody, list[LeftOut]]:
    left_out: list[LeftOut] = []
    sections = _Sections(_inflate(body))
    data_version = java_json.decode(sections.take(), DataVersion)
    topics = {}
    for _ in range(sections.count()):
        section = sections.take()
        try:
            topic = _topic_from_text(section)
            topics[topic.name] = topic
        except InvalidJson as error:
            shown = section[:255].decode(errors="backslashreplace")
            leave_out(left_out, left_out_of((TOPIC_TABLES[0], shown), str(error), shown))
    filter_servers = java_json.decode(sections.take() or b"[]", list[str])
    mapping_infos: dict[str, Any] = {}
    if version >= _VERSION_WITH_MAPPINGS and sections.more():
        for index in range(sections.count()):
            try:
                info = java_json.loads(sections.take())
                mapping_infos[str(info["topic"])] = info
            except (InvalidJson, LookupError, TypeError) as error:
                leave_out(left_out, left_out_of((TOPIC_TABLES[2], str(index)), str(error), None))
    table = TopicConfigTable(data_version=data_version, topics=topics, mapping_infos=mapping_infos)
    return RegisterBrokerBody(filter_servers=filter_servers, topic_table=table), left_out


def encode_register_broker_body(body: RegisterBrokerBody, *, compressed: bool) -> bytes:
    """Encode the body of a registration; the compressed form loses flags and order."""
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
    """Reads length-prefixed sections, and never beyond the end of the data."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def more(self) -> bool:
        return self._at < len(self._data)

    def count(self) -> int:
        if self._at + 4 > len(self._data):
            raise InvalidJson("the registration body ends too early")
        number = int.from_bytes(self._data[self._at : self._at + 4], "big", signed=True)
        self._at += 4
        # Each section has its own length field, so a larger count is invalid.
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
        found = _TOPIC_TEXT.fullmatch(section.decode())
    except UnicodeDecodeError as error:
        raise InvalidJson("the topic is not UTF-8") from error
    if found is None:
        raise InvalidJson("the topic is malformed")
    name, reads, writes, permissions, filter_type, attributes = found.groups()
    return TopicConfig(
        name=name,
        read_queue_count=int(reads),
        write_queue_count=int(writes),
        permissions=int(permissions),
        filter_type=filter_type,
        attributes=java_json.decode(attributes.encode(), dict[str, str]) if attributes else {},
    )
