"""Ask brokers for the layout and offsets of topics; have them create and delete topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from backend.brokers.asking import Brokers, Inquiry, Request
from backend.brokers.change import Change
from backend.domain.topic_layout import TopicLayout
from backend.remoting import bodies, java_json
from backend.remoting.bodies import TopicConfig
from backend.remoting.bodies.base import Body, decode_queue_table
from backend.remoting.command import Command
from backend.remoting.headers import (
    CreateTopicHeader,
    DeleteTopicHeader,
    TopicHeader,
)
from backend.remoting.names import SCHEDULE_TOPIC, TEMPLATE_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode


@dataclass(frozen=True, slots=True)
class QueueEnds:
    """Hold the offsets of a queue's oldest message and of the next message.

    `stored_at_ms` is the store time of the newest message, by the broker's clock; None if the queue
    is empty.
    """

    low: int
    high: int
    stored_at_ms: int | None = None

    @property
    def count(self) -> int:
        """Count the messages between both; a queue whose begin is beyond its end holds none."""
        return max(0, self.high - self.low)


@dataclass(frozen=True, slots=True)
class GetTopicLayout(Request[TopicLayout | None]):
    """Ask a broker for the layout of a topic; None if the broker does not have the topic."""

    code = RequestCode.GET_TOPIC_CONFIG
    header_type = TopicHeader
    absence = ResponseCode.TOPIC_NOT_EXIST

    topic: str

    def read(self, response: Command) -> TopicLayout:
        return layout_of(java_json.decode(response.body, TopicConfig))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateAndCreateTopic(Change):
    """Set the layout of a topic on a broker; attributes travel as changes of the present ones."""

    code = RequestCode.UPDATE_AND_CREATE_TOPIC

    topic: str
    layout: TopicLayout
    former: TopicLayout | None

    @property
    def header(self) -> CreateTopicHeader:
        return CreateTopicHeader(
            topic=self.topic,
            default_topic=TEMPLATE_TOPIC,
            read_queue_count=self.layout.read_queue_count,
            write_queue_count=self.layout.write_queue_count,
            permissions=self.layout.permissions,
            filter_type=self.layout.filter_type,
            topic_sys_flag=self.layout.topic_sys_flag,
            is_ordered=self.layout.is_ordered,
            attributes=attribute_changes(self.former, self.layout),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicInBroker(Change):
    """Delete a topic and its messages on a broker; a topic that does not exist is no error."""

    code = RequestCode.DELETE_TOPIC_IN_BROKER
    header_type = DeleteTopicHeader

    topic: str
    only_empty: bool


@dataclass(frozen=True, slots=True)
class GetTopicEnds(Request[dict[int, QueueEnds]]):
    """Ask a broker for the first and last offsets of a topic's queues, by queue id."""

    code = RequestCode.GET_TOPIC_STATS_INFO
    header_type = TopicHeader

    topic: str

    def read(self, response: Command) -> dict[int, QueueEnds]:
        return {
            queue.queue_id: QueueEnds(
                ends.min_offset,
                ends.max_offset,
                ends.last_update_timestamp_ms if ends.last_update_timestamp_ms > 0 else None,
            )
            for queue, ends in decode_queue_table(response.body, bodies.TopicOffset)
        }


@dataclass(frozen=True, slots=True)
class GetGroupsOfTopic(Request[list[str]]):
    """Ask a broker which consumer groups consume a topic, now or in the past."""

    code = RequestCode.QUERY_TOPIC_CONSUME_BY_WHO
    header_type = TopicHeader

    topic: str

    def read(self, response: Command) -> list[str]:
        return sorted(java_json.decode(response.body, _GroupList).names)


@dataclass(frozen=True, slots=True)
class _GetDelayProgress(Request[Mapping[int, int]]):
    code = RequestCode.GET_ALL_DELAY_OFFSET

    def read(self, response: Command) -> Mapping[int, int]:
        return java_json.decode(response.body, _DelayProgress).offsets


@dataclass(frozen=True, slots=True)
class GetDelayedCounts(Inquiry[dict[int, int]]):
    """Ask a broker for the number of delayed messages, by level; empty levels are left out."""

    async def put(self, brokers: Brokers, address: str) -> dict[int, int]:
        progress = await brokers.ask(address, _GetDelayProgress())
        ends = await brokers.ask(address, GetTopicEnds(SCHEDULE_TOPIC))
        waiting = {
            queue_id + 1: one.high - max(one.low, progress.get(queue_id + 1, 0))
            for queue_id, one in ends.items()
        }
        return {level: count for level, count in sorted(waiting.items()) if count > 0}


class _DelayProgress(Body, frozen=True, kw_only=True):
    offsets: dict[int, int] = msgspec.field(name="offsetTable", default_factory=dict)


class _GroupList(Body, frozen=True, kw_only=True):
    names: list[str] = msgspec.field(name="groupList", default_factory=list)


def layout_of(config: TopicConfig) -> TopicLayout:
    """Convert a broker's description of a topic into a layout."""
    return TopicLayout(
        read_queue_count=config.read_queue_count,
        write_queue_count=config.write_queue_count,
        permissions=config.permissions,
        is_ordered=config.is_ordered,
        topic_sys_flag=config.topic_sys_flag,
        filter_type=config.filter_type,
        attributes=config.attributes,
    )


def reported_layout(value: Any) -> TopicLayout | None:
    """Convert an agent's value of a topic into a layout."""
    return None if value is None else layout_of(msgspec.convert(value, TopicConfig))


def attribute_changes(former: TopicLayout | None, layout: TopicLayout) -> str:
    """Write the attributes of a layout as changes of the former ones, as brokers expect them."""
    held = {} if former is None else former.attributes
    added = [
        f"+{key}={value}"
        for key, value in sorted(layout.attributes.items())
        if held.get(key) != value
    ]
    removed = [f"-{key}" for key in sorted(held) if key not in layout.attributes]
    return ",".join(added + removed)
