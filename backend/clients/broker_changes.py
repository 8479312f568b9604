"""Ask brokers for what operations change, and have them change it, in the name of a step (D20)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import msgspec

from backend.clients.broker_answers import BrokerRefused, accepted
from backend.clients.remoting_client import RemotingClient
from backend.domain.consumer_group import GroupSettings
from backend.domain.operation_errors import ChangeRefused, OperationFenced
from backend.domain.queue_reading import QueueProgress
from backend.domain.topic_layout import TopicLayout
from backend.remoting import bodies, java_json
from backend.remoting.bodies import TopicConfig
from backend.remoting.bodies.base import Body
from backend.remoting.command import Command
from backend.remoting.headers import (
    ConsumerGroupHeader,
    ConsumeStatsHeader,
    CreateTopicHeader,
    DeleteGroupHeader,
    DeleteTopicHeader,
    EffectAnswer,
    FencedAnswer,
    GroupHeader,
    Header,
    TopicHeader,
    decode_header,
    encode_header,
)
from backend.remoting.java_json import InvalidJson
from backend.remoting.names import SCHEDULE_TOPIC, TEMPLATE_TOPIC
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

BodyT = TypeVar("BodyT")
Fence = Mapping[str, str]
BROADCASTING: Final = "BROADCASTING"

_REFUSALS: Final = frozenset(
    {
        ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        ResponseCode.NO_PERMISSION,
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
        ResponseCode.INVALID_PARAMETER,
        ResponseCode.ILLEGAL_OPERATION,
    }
)
"""With these a broker says that nothing was changed, and nothing would be another time."""

_GROUP_FIELDS: Final[Mapping[str, str]] = {
    "consumeEnable": "consume_enabled",
    "consumeBroadcastEnable": "broadcast_allowed",
    "consumeFromMinEnable": "consume_from_min_enabled",
    "consumeMessageOrderly": "is_ordered",
    "retryMaxTimes": "retry_count_max",
    "retryQueueNums": "retry_queue_count",
    "consumeTimeoutMinute": "consume_timeout_minutes",
    "notifyConsumerIdsChangedEnable": "notifies_members",
}


@dataclass(frozen=True, slots=True)
class Told:
    """Hold the values around a change as an agent told them, as JSON values of the wire."""

    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class QueueEnds:
    """Hold the offsets of a queue's oldest message and of the next one.

    `stored_at_ms` is when the newest was stored, by the broker's clock; None where there is none.
    """

    low: int
    high: int
    stored_at_ms: int | None = None

    @property
    def count(self) -> int:
        """Count the messages between; a queue whose begin is beyond its end holds none."""
        return max(0, self.high - self.low)


class BrokerChanges:
    """Speak to brokers of topics and consumer groups."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def is_fencing(self, address: str) -> bool:
        """Ask whether a broker heeds fencing numbers: an agent does, a stock broker does not.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
        """
        response = await self._client.request(address, RequestCode.GET_BROKER_PROPERTIES)
        return response.code == ResponseCode.SUCCESS

    async def topic_layout(self, address: str, topic: str) -> TopicLayout | None:
        """Ask a broker how it holds a topic (351); None is not at all.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is another error, or can't be read.
        """
        response = await self._ask(address, RequestCode.GET_TOPIC_CONFIG, TopicHeader(topic=topic))
        if response.code == ResponseCode.TOPIC_NOT_EXIST:
            return None
        return layout_of(_read(address, response, TopicConfig))

    async def put_topic(
        self,
        address: str,
        topic: str,
        layout: TopicLayout,
        former: TopicLayout | None,
        fence: Fence,
    ) -> Told | None:
        """Have a broker hold a topic so (17); an agent tells the values around it.

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it.
            OperationFenced: a later attempt has changed the topic already.
        """
        header = CreateTopicHeader(
            topic=topic,
            default_topic=TEMPLATE_TOPIC,
            read_queue_count=layout.read_queue_count,
            write_queue_count=layout.write_queue_count,
            permissions=layout.permissions,
            filter_type=layout.filter_type,
            topic_sys_flag=layout.topic_sys_flag,
            is_ordered=layout.is_ordered,
            attributes=_attribute_changes(former, layout),
        )
        return await self._change(address, RequestCode.UPDATE_AND_CREATE_TOPIC, header, fence)

    async def delete_topic(
        self, address: str, topic: str, fence: Fence, *, only_empty: bool
    ) -> Told | None:
        """Have a broker drop a topic with its messages (215); one that is not there is no error.

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it.
            OperationFenced: a later attempt has changed the topic already.
        """
        header = DeleteTopicHeader(topic=topic, only_empty=only_empty)
        return await self._change(address, RequestCode.DELETE_TOPIC_IN_BROKER, header, fence)

    async def topic_ends(self, address: str, topic: str) -> dict[int, QueueEnds]:
        """Ask a broker for the ends of a topic's queues, by their numbers (202).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        response = await self._ask(
            address, RequestCode.GET_TOPIC_STATS_INFO, TopicHeader(topic=topic)
        )
        return {
            queue.queue_id: QueueEnds(
                ends.min_offset,
                ends.max_offset,
                ends.last_update_timestamp_ms if ends.last_update_timestamp_ms > 0 else None,
            )
            for queue, ends in _read_queues(address, response, bodies.TopicOffset)
        }

    async def delayed_counts(self, address: str) -> dict[int, int]:
        """Ask a broker how many delayed messages wait, by level; levels without any are left out.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        response = await self._client.request(address, RequestCode.GET_ALL_DELAY_OFFSET)
        progress = _read(address, response, _DelayProgress).offsets
        ends = await self.topic_ends(address, SCHEDULE_TOPIC)
        waiting = {
            queue_id + 1: one.high - max(one.low, progress.get(queue_id + 1, 0))
            for queue_id, one in ends.items()
        }
        return {level: count for level, count in sorted(waiting.items()) if count > 0}

    async def groups_of_topic(self, address: str, topic: str) -> list[str]:
        """Ask a broker which groups consume a topic, now or once (300).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        response = await self._ask(
            address, RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, TopicHeader(topic=topic)
        )
        return sorted(_read(address, response, _GroupList).names)

    async def progress(
        self, address: str, group: str, topic: str | None = None
    ) -> list[QueueProgress]:
        """Ask a broker how far a group is in a topic, or in all that it has offsets for (208).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        # A list is taken as it is, also of a group whose members subscribe to something else.
        header = ConsumeStatsHeader(consumer_group=group, topic_list=topic)
        response = await self._ask(address, RequestCode.GET_CONSUME_STATS, header)
        found = [
            QueueProgress(
                queue.topic,
                queue.queue_id,
                told.consumer_offset,
                told.broker_offset,
                told.last_timestamp_ms if told.last_timestamp_ms > 0 else None,
                None if told.min_offset < 0 else told.min_offset,
            )
            for queue, told in _read_queues(address, response, bodies.QueueProgress)
        ]
        return await self._with_begins(address, found)

    async def _with_begins(
        self, address: str, progress: list[QueueProgress]
    ) -> list[QueueProgress]:
        """Ask a stock broker where the queues begin that a group is behind in.

        One that refuses that for a topic leaves the lags there unknown: they may be of messages
        that have expired.
        """
        asked = {one.topic for one in progress if one.begin is None and one.committed < one.end}
        ends: dict[str, dict[int, QueueEnds]] = {}
        for topic in sorted(asked):
            try:
                ends[topic] = await self.topic_ends(address, topic)
            except BrokerRefused:
                continue
        return [
            replace(one, begin=ends[one.topic][one.queue_id].low)
            if one.begin is None and one.queue_id in ends.get(one.topic, {})
            else one
            for one in progress
        ]

    async def members(self, address: str, group: str) -> list[str]:
        """Ask a broker which clients of a group are connected to it (203), by client id.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is another error, or can't be read.
        """
        header = ConsumerGroupHeader(consumer_group=group)
        response = await self._ask(address, RequestCode.GET_CONSUMER_CONNECTION_LIST, header)
        if response.code == ResponseCode.CONSUMER_NOT_ONLINE:
            return []
        told = _read(address, response, bodies.ConsumerConnection)
        return sorted({one.client_id for one in told.connections})

    async def group_settings(self, address: str, group: str) -> GroupSettings | None:
        """Ask a broker how it serves a consumer group (352); None is one it does not know.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is another error, or can't be read.
        """
        response = await self._ask(
            address, RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG, GroupHeader(group=group)
        )
        if response.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST:
            return None
        return settings_of(_read(address, response, dict[str, Any]))

    async def put_group(
        self, address: str, group: str, settings: GroupSettings, fence: Fence
    ) -> Told | None:
        """Have a broker serve a consumer group so (200); an agent tells the values around it.

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it.
            OperationFenced: a later attempt has changed the group already.
        """
        content = {
            **settings.others,
            **{wire: getattr(settings, name) for wire, name in _GROUP_FIELDS.items()},
            "groupName": group,
        }
        if (attributes := settings.others.get("attributes")) is not None:
            # In this request they are changes, which carry a sign.
            content["attributes"] = {f"+{name}": value for name, value in attributes.items()}
        code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        return await self._change(address, code, None, fence, body=java_json.encode(content))

    async def delete_group(
        self, address: str, group: str, fence: Fence, *, cleans_offsets: bool
    ) -> Told | None:
        """Have a broker drop a consumer group (207); one that is not there is no error.

        Raises:
            BrokerUnreachable: it does not answer in time; it may have done it nevertheless.
            BrokerRefused: it does not do it.
            OperationFenced: a later attempt has changed the group already.
        """
        header = DeleteGroupHeader(group=group, cleans_offsets=cleans_offsets)
        return await self._change(address, RequestCode.DELETE_SUBSCRIPTIONGROUP, header, fence)

    async def _change(
        self,
        address: str,
        code: RequestCode,
        header: Header | None,
        fence: Fence,
        *,
        body: bytes = b"",
    ) -> Told | None:
        ext = {} if header is None else encode_header(header)
        return read_told(
            address,
            await self._client.request(address, code, ext={**ext, **fence}, body=body),
            fence,
        )

    async def _ask(self, address: str, code: RequestCode, header: Header) -> Command:
        return await self._client.request(address, code, ext=encode_header(header))


class _DelayProgress(Body, frozen=True, kw_only=True):
    offsets: dict[int, int] = msgspec.field(name="offsetTable", default_factory=dict)


class _GroupList(Body, frozen=True, kw_only=True):
    names: list[str] = msgspec.field(name="groupList", default_factory=list)


def read_told(address: str, response: Command, fence: Fence) -> Told | None:
    """Read what an agent tells of a change; None is a stock broker, which tells nothing.

    Raises:
        ChangeRefused: the broker did not make it, nor will it.
        BrokerRefused: it was not made now.
        OperationFenced: a later attempt came first.
    """
    if response.code == ResponseCode.OPERATION_FENCED:
        held = decode_header(FencedAnswer, response.ext).held_fence
        raise OperationFenced(fence["regentOperation"], int(fence["regentFence"]), held=held)
    if response.code in _REFUSALS:
        raise ChangeRefused(address, response.remark or f"code {response.code}")
    accepted(address, response)
    if "regentAfter" not in response.ext:
        return None
    told = decode_header(EffectAnswer, response.ext)
    return Told(msgspec.json.decode(told.before), msgspec.json.decode(told.after))


def layout_of(config: TopicConfig) -> TopicLayout:
    """Turn what a broker tells of a topic into a layout."""
    return TopicLayout(
        read_queue_count=config.read_queue_count,
        write_queue_count=config.write_queue_count,
        permissions=config.permissions,
        is_ordered=config.is_ordered,
        topic_sys_flag=config.topic_sys_flag,
        filter_type=config.filter_type,
        attributes=config.attributes,
    )


def told_layout(value: Any) -> TopicLayout | None:
    """Turn the value of a topic that an agent told into a layout."""
    return None if value is None else layout_of(msgspec.convert(value, TopicConfig))


def settings_of(content: Mapping[str, Any]) -> GroupSettings:
    """Turn what a broker tells of a consumer group into settings."""
    named = {
        name: content[wire] for wire, name in _GROUP_FIELDS.items() if content.get(wire) is not None
    }
    others = {
        wire: value
        for wire, value in content.items()
        if wire not in _GROUP_FIELDS and wire != "groupName"
    }
    return GroupSettings(**named, others=others)


def _attribute_changes(former: TopicLayout | None, layout: TopicLayout) -> str:
    held = {} if former is None else former.attributes
    added = [
        f"+{key}={value}"
        for key, value in sorted(layout.attributes.items())
        if held.get(key) != value
    ]
    removed = [f"-{key}" for key in sorted(held) if key not in layout.attributes]
    return ",".join(added + removed)


def _read(address: str, response: Command, kind: type[BodyT]) -> BodyT:
    try:
        return java_json.decode(accepted(address, response).body, kind)
    except InvalidJson as error:
        raise BrokerRefused(address, f"its answer can't be read: {error}") from error


def _read_queues(
    address: str, response: Command, kind: type[BodyT]
) -> list[tuple[bodies.MessageQueue, BodyT]]:
    """Read a table whose keys are queues (remoting.md 3.2), by topic and queue."""
    try:
        content = java_json.loads(accepted(address, response).body)
        found = [
            (
                java_json.decode(key.encode(), bodies.MessageQueue),
                msgspec.convert(value, kind, strict=False),
            )
            for key, value in content["offsetTable"].items()
        ]
    except (InvalidJson, msgspec.ValidationError, LookupError, TypeError) as error:
        raise BrokerRefused(address, f"its answer can't be read: {error}") from error
    return sorted(found, key=lambda one: (one[0].topic, one[0].queue_id))
