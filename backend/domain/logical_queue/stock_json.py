"""Write and read queue mappings as brokers and tools of RocketMQ do (logical-queues.md 2.1-2.5).

Members are in alphabetical order, maps in the order of their keys, and keys are quoted. So equal
mappings give equal bytes, and what was read is written as before, except for the quotes of keys.

A mapping that is stored has to be read whole: a member that is not known here would be lost, so it
is refused. A registration is only routed, and may have more members.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

from backend.domain.logical_queue.errors import InvalidQueueMapping
from backend.domain.logical_queue.json_fields import Fields, number, parse, write
from backend.domain.logical_queue.mapping import BrokerMapping, MappingInfo, Segments
from backend.domain.logical_queue.segment import INT32_MAX, OPEN, QueueSegment
from backend.domain.topic_layout import TopicLayout

_SEGMENT_NAMES: Final = (
    "bname",
    "endOffset",
    "gen",
    "logicOffset",
    "queueId",
    "startOffset",
    "timeOfEnd",
    "timeOfStart",
)
_INFO_NAMES: Final = ("bname", "currIdMap", "dirty", "epoch", "scope", "topic", "totalQueues")
_GENERATIONS: Final = "currGenMap"
"""Our own member of a registration; a mapping that is stored has the generations in its lists."""

_MAPPING_NAMES: Final = (*_INFO_NAMES, "hostedQueues")
_CONFIG_NAMES: Final = (
    "order",
    "perm",
    "readQueueNums",
    "topicFilterType",
    "topicName",
    "topicSysFlag",
    "writeQueueNums",
)
_PLAN_NAMES: Final = (
    "brokerConfigMap",
    "brokerToMapIn",
    "brokerToMapOut",
    "epoch",
    "topic",
    "type",
)


class PlanFileKind(StrEnum):
    """Name the change of a plan file."""

    CREATE_OR_UPDATE = "CREATE_OR_UPDATE"
    REMAPPING = "REMAPPING"


@dataclass(frozen=True, slots=True)
class PlannedBroker:
    """Hold the topic configuration and the mapping that a plan file has for one broker group."""

    topic_name: str
    layout: TopicLayout
    mapping: BrokerMapping | None


@dataclass(frozen=True, slots=True)
class PlanFile:
    """Hold a `.before` or `.after` file of a tool, by broker group."""

    topic_name: str
    kind: PlanFileKind
    epoch: int
    brokers: Mapping[str, PlannedBroker] = field(default_factory=dict)
    incoming: tuple[str, ...] = ()
    outgoing: tuple[str, ...] = ()


def encode_info(info: MappingInfo, *, is_pretty: bool = False) -> str:
    """Write the part of a mapping that is registered."""
    value = _info_value(info)
    if info.generations:
        value[_GENERATIONS] = {str(key): one for key, one in sorted(info.generations.items())}
    return write(dict(sorted(value.items())), is_pretty=is_pretty)


def decode_info(text: str) -> MappingInfo:
    """Read the part of a mapping that is registered.

    Raises:
        InvalidQueueMapping: it is malformed.
    """
    return _registered_of(parse(text))


def read_info(value: Any) -> MappingInfo:
    """Read the part of a mapping that is registered from plain values.

    Members that a newer version of RocketMQ may add are ignored.

    Raises:
        InvalidQueueMapping: it is malformed.
    """
    known = value
    if isinstance(value, dict):
        names = (*_INFO_NAMES, _GENERATIONS)
        known = {name: one for name, one in value.items() if name in names}
    return _registered_of(known)


def encode_mapping(mapping: BrokerMapping, *, is_pretty: bool = False) -> str:
    """Write the copy of a broker."""
    return write(_mapping_value(mapping), is_pretty=is_pretty)


def decode_mapping(text: str) -> BrokerMapping:
    """Read the copy of a broker.

    Raises:
        InvalidQueueMapping: it is malformed.
    """
    return _mapping_of(parse(text), "$")


def without_ends(mapping: BrokerMapping) -> BrokerMapping:
    """Return a copy as tools of RocketMQ accept it: no end that equals the next start.

    Their check refuses such contiguous segments, so requests without `lqv=1` get this form
    (logical-queues.md 4.2).
    """
    return replace(
        mapping, hosted={one: _hidden(segments) for one, segments in mapping.hosted.items()}
    )


def encode_plan_file(plan: PlanFile, *, is_pretty: bool = False) -> str:
    """Write a plan file; tools of RocketMQ write it compact."""
    value = {
        "brokerConfigMap": {
            name: _planned_value(one) for name, one in sorted(plan.brokers.items())
        },
        "brokerToMapIn": sorted(plan.incoming),
        "brokerToMapOut": sorted(plan.outgoing),
        "epoch": plan.epoch,
        "topic": plan.topic_name,
        "type": plan.kind.value,
    }
    return write(value, is_pretty=is_pretty)


def decode_plan_file(text: str) -> PlanFile:
    """Read a plan file.

    Raises:
        InvalidQueueMapping: it is malformed.
    """
    fields = Fields.of(parse(text), "$", _PLAN_NAMES)
    kind = fields.text("type")
    if kind not in {one.value for one in PlanFileKind}:
        fields.refuse("type", f"{' or '.join(PlanFileKind)} is expected")
    return PlanFile(
        topic_name=fields.text("topic"),
        kind=PlanFileKind(kind),
        epoch=fields.int64("epoch"),
        brokers=fields.by_text("brokerConfigMap", _planned_of),
        incoming=fields.texts("brokerToMapIn"),
        outgoing=fields.texts("brokerToMapOut"),
    )


def _segment_value(segment: QueueSegment) -> dict[str, Any]:
    return {
        "bname": segment.broker_group_name,
        "endOffset": segment.physical_end,
        "gen": segment.generation,
        "logicOffset": segment.logical_start,
        "queueId": segment.queue_id,
        "startOffset": segment.physical_start,
        "timeOfEnd": segment.last_stored_ms,
        "timeOfStart": segment.first_stored_ms,
    }


def _segment_of(value: Any, place: str) -> QueueSegment:
    fields = Fields.of(value, place, _SEGMENT_NAMES)
    return QueueSegment(
        generation=fields.int32("gen"),
        broker_group_name=fields.text("bname"),
        queue_id=fields.int32("queueId"),
        logical_start=fields.int64("logicOffset"),
        physical_start=fields.int64("startOffset"),
        physical_end=fields.int64("endOffset"),
        first_stored_ms=fields.int64("timeOfStart"),
        last_stored_ms=fields.int64("timeOfEnd"),
    )


def _segments_of(value: Any, place: str) -> Segments:
    if not isinstance(value, list):
        raise InvalidQueueMapping(place, "a list is expected")
    return tuple(_segment_of(one, f"{place}[{at}]") for at, one in enumerate(value))


def _info_value(info: MappingInfo) -> dict[str, Any]:
    return {
        "bname": info.broker_group_name,
        "currIdMap": {str(key): info.led[key] for key in sorted(info.led)},
        "dirty": info.is_dirty,
        "epoch": info.epoch,
        "scope": info.scope,
        "topic": info.topic_name,
        "totalQueues": info.queue_count,
    }


def _info_of(fields: Fields) -> MappingInfo:
    return MappingInfo(
        topic_name=fields.text("topic"),
        broker_group_name=fields.text("bname"),
        epoch=fields.int64("epoch"),
        queue_count=fields.int32("totalQueues"),
        scope=fields.text("scope"),
        is_dirty=fields.flag("dirty"),
        led=fields.by_number("currIdMap", lambda value, place: number(value, place, INT32_MAX)),
    )


def _registered_of(value: Any) -> MappingInfo:
    fields = Fields.of(value, "$", _INFO_NAMES, optional=(_GENERATIONS,))
    info = _info_of(fields)
    if _GENERATIONS not in fields.members:
        return info
    generations = fields.by_number(_GENERATIONS, lambda one, place: number(one, place, INT32_MAX))
    return replace(info, generations=generations)


def _mapping_value(mapping: BrokerMapping) -> dict[str, Any]:
    hosted = {
        str(key): [_segment_value(one) for one in mapping.hosted[key]]
        for key in sorted(mapping.hosted)
    }
    return dict(sorted({**_info_value(mapping.info), "hostedQueues": hosted}.items()))


def _mapping_of(value: Any, place: str) -> BrokerMapping:
    fields = Fields.of(value, place, _MAPPING_NAMES)
    return BrokerMapping(_info_of(fields), fields.by_number("hostedQueues", _segments_of))


def read_own_mapping(value: Any, topic_name: str, broker_group_name: str) -> BrokerMapping:
    """Read the mapping of one topic in the file of a broker, as plain values.

    Raises:
        InvalidQueueMapping: it is malformed, or of another topic or broker group (INV-2).
    """
    place = f"$.topicQueueMappingInfoMap.{topic_name}"
    mapping = _mapping_of(value, place)
    if mapping.info.topic_name != topic_name:
        raise InvalidQueueMapping(place, f"it is of topic {mapping.info.topic_name!r}")
    if mapping.info.broker_group_name != broker_group_name:
        reason = f"it is of broker group {mapping.info.broker_group_name!r} (INV-2)"
        raise InvalidQueueMapping(place, reason)
    return mapping


def _hidden(segments: Segments) -> Segments:
    is_contiguous = any(
        one.is_ended and one.logical_end == after.logical_start for one, after in pairwise(segments)
    )
    if not is_contiguous:
        return segments
    return tuple(replace(one, physical_end=OPEN) for one in segments)


def _planned_value(one: PlannedBroker) -> dict[str, Any]:
    layout = one.layout
    value = {
        "attributes": dict(sorted(layout.attributes.items())),
        "order": layout.is_ordered,
        "perm": layout.permissions,
        "readQueueNums": layout.read_queue_count,
        "topicFilterType": layout.filter_type,
        "topicName": one.topic_name,
        "topicSysFlag": layout.topic_sys_flag,
        "writeQueueNums": layout.write_queue_count,
    }
    if one.mapping is not None:
        value["mappingDetail"] = _mapping_value(one.mapping)
    return dict(sorted(value.items()))


def _planned_of(value: Any, place: str) -> PlannedBroker:
    fields = Fields.of(value, place, _CONFIG_NAMES, optional=("attributes", "mappingDetail"))
    with_attributes = Fields(place, {"attributes": {}, **fields.members})
    layout = TopicLayout(
        read_queue_count=fields.int32("readQueueNums"),
        write_queue_count=fields.int32("writeQueueNums"),
        permissions=fields.int32("perm"),
        is_ordered=fields.flag("order"),
        topic_sys_flag=fields.int32("topicSysFlag"),
        filter_type=fields.text("topicFilterType"),
        attributes=with_attributes.by_text("attributes", _attribute),
    )
    detail = fields.members.get("mappingDetail")
    mapping = None if detail is None else _mapping_of(detail, f"{place}.mappingDetail")
    return PlannedBroker(fields.text("topicName"), layout, mapping)


def _attribute(value: Any, place: str) -> str:
    return Fields(place, {"value": value}).text("value")
