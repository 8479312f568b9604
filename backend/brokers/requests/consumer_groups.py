"""Ask brokers for the settings and members of consumer groups, and change groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from backend.brokers.asking import Request
from backend.brokers.change import Change
from backend.brokers.errors import UnexpectedAnswer
from backend.domain.consumer_group import GroupSettings
from backend.domain.membership import Membership
from backend.domain.queue_reading import GroupMember, OnlineGroup
from backend.remoting import bodies, java_json
from backend.remoting.bodies.base import Body
from backend.remoting.command import Command
from backend.remoting.headers import (
    ConsumerGroupHeader,
    ConsumerRunningInfoHeader,
    DeleteGroupHeader,
    GroupHeader,
)
from backend.remoting.headers.locks import MembershipsHeader
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

BROADCASTING: Final = "BROADCASTING"

_FIELDS: Final[Mapping[str, str]] = {
    "consumeEnable": "consume_enabled",
    "consumeBroadcastEnable": "broadcast_allowed",
    "consumeFromMinEnable": "consume_from_min_enabled",
    "consumeMessageOrderly": "is_ordered",
    "retryMaxTimes": "retry_count_max",
    "retryQueueNums": "retry_queue_count",
    "consumeTimeoutMinute": "consume_timeout_minutes",
    "notifyConsumerIdsChangedEnable": "notifies_members",
}

QueueKey = tuple[str, str, int]
"""A queue's topic, broker name and number."""


@dataclass(frozen=True, slots=True)
class GetConsumerGroupNames(Request[frozenset[str]]):
    """Ask a broker for its consumer groups."""

    code = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG

    def read(self, response: Command) -> frozenset[str]:
        return frozenset(java_json.decode(response.body, _GroupTable).groups)


@dataclass(frozen=True, slots=True)
class GetGroupSettings(Request[GroupSettings | None]):
    """Ask a broker for the settings of a consumer group; None if it does not know the group."""

    code = RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG
    absence = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST

    consumer_group: str

    @property
    def header(self) -> GroupHeader:
        return GroupHeader(group=self.consumer_group)

    def read(self, response: Command) -> GroupSettings:
        return settings_of(java_json.decode(response.body, dict[str, Any]))


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateAndCreateSubscriptionGroup(Change):
    """Set the settings of a consumer group on a broker."""

    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP

    consumer_group: str
    settings: GroupSettings

    @property
    def body(self) -> bytes:
        content = {
            **self.settings.others,
            **{wire: getattr(self.settings, name) for wire, name in _FIELDS.items()},
            "groupName": self.consumer_group,
        }
        # In this request, attributes are changes with a sign.
        if (attributes := self.settings.others.get("attributes")) is not None:
            content["attributes"] = {f"+{name}": value for name, value in attributes.items()}
        return java_json.encode(content)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSubscriptionGroup(Change):
    """Delete a consumer group on a broker; a group that does not exist is no error."""

    code = RequestCode.DELETE_SUBSCRIPTIONGROUP

    consumer_group: str
    cleans_offsets: bool

    @property
    def header(self) -> DeleteGroupHeader:
        return DeleteGroupHeader(group=self.consumer_group, cleans_offsets=self.cleans_offsets)


@dataclass(frozen=True, slots=True)
class GetOnlineGroup(Request[OnlineGroup | None]):
    """Ask a broker for the connected members of a group; None if there are none."""

    code = RequestCode.GET_CONSUMER_CONNECTION_LIST
    header_type = ConsumerGroupHeader
    absence = ResponseCode.CONSUMER_NOT_ONLINE

    consumer_group: str

    def read(self, response: Command) -> OnlineGroup:
        body = java_json.decode(response.body, bodies.ConsumerConnection)
        members = {
            GroupMember(one.client_id, one.client_address, one.language, one.version)
            for one in body.connections
        }
        return OnlineGroup(
            tuple(sorted(members, key=lambda one: (one.client_id, one.address))),
            {topic: one.shown for topic, one in body.subscriptions.items()},
            is_broadcasting=body.message_model == BROADCASTING,
            consume_type=body.consume_type,
            starts_from=body.consume_from_where,
            expression_types={
                topic: one.expression_type for topic, one in body.subscriptions.items()
            },
        )


@dataclass(frozen=True, slots=True)
class GetMemberships(Request[list[Membership] | None]):
    """Ask an agent for members' subscriptions, of one group or all; None for a stock broker."""

    code = RequestCode.GET_MEMBERSHIPS
    header_type = MembershipsHeader
    absence = ResponseCode.REQUEST_CODE_NOT_SUPPORTED

    consumer_group: str | None = None

    def read(self, response: Command) -> list[Membership]:
        return [
            Membership(
                one.group,
                one.client_id,
                one.address,
                one.message_model,
                one.consume_type,
                one.consume_from_where,
                {
                    each.topic: f"{each.expression_type} {each.expression}"
                    for each in one.subscriptions
                },
                one.heard_ms,
            )
            for one in java_json.decode(response.body, bodies.GroupMemberships).members
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class GetQueuesOfClient(Request[set[QueueKey]]):
    """Have a broker ask a member of a group for its queues."""

    code = RequestCode.GET_CONSUMER_RUNNING_INFO
    header_type = ConsumerRunningInfoHeader

    consumer_group: str
    client_id: str

    def read(self, response: Command) -> set[QueueKey]:
        content = java_json.loads(response.body)
        if not isinstance(content, Mapping):
            raise UnexpectedAnswer("its answer holds no tables of queues")
        queues = [
            java_json.decode(key.encode(), bodies.MessageQueue)
            for name in ("mqTable", "mqPopTable")
            for key in _keys(content.get(name))
        ]
        return {(one.topic, one.broker_name, one.queue_id) for one in queues}


class _PassedOver(Body, frozen=True):
    """Skip the content of an object, because decoding takes time."""


class _GroupTable(Body, frozen=True, kw_only=True):
    groups: dict[str, _PassedOver] = msgspec.field(
        name="subscriptionGroupTable", default_factory=dict
    )


def settings_of(content: Mapping[str, Any]) -> GroupSettings:
    """Convert a broker's description of a consumer group into settings."""
    named = {name: content[wire] for wire, name in _FIELDS.items() if content.get(wire) is not None}
    others = {
        wire: value
        for wire, value in content.items()
        if wire not in _FIELDS and wire != "groupName"
    }
    return GroupSettings(**named, others=others)


def _keys(table: Any) -> list[str]:
    return list(table) if isinstance(table, Mapping) else []
