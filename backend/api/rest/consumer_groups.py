"""Answer consumer groups over REST: who is there, and how far they are."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND, SILENT
from backend.api.rest.pages import After, PageOut, Search, page_out
from backend.api.rest.versions import TAGGED, put_tag
from backend.domain.client import version_name
from backend.domain.consumer_group import GroupSettings
from backend.domain.consumer_group_lag import GroupState, LagTotal, QueueKind, QueueLag
from backend.domain.protection import Protection, Resource, ResourceKind
from backend.services.consumer_group_details import (
    GroupDetail,
    SeenMember,
    describe_consumer_group,
)
from backend.services.consumer_groups import (
    OBSERVED_COUNT_MAX,
    ListedGroup,
    Observation,
    list_consumer_groups,
    observe_consumer_groups,
)
from backend.services.protections import find_protections
from backend.views.instants import told_instant
from backend.views.protections import ProtectionOut
from backend.views.unknown_brokers import UnknownBrokerOut

router = APIRouter(tags=["consumer groups"])

Limit = Annotated[int, Query(ge=1, le=OBSERVED_COUNT_MAX, description="How many items at most.")]


class LagOut(BaseModel):
    """How much is left to read, and the age of the oldest of it; null is unknown.

    `is_complete` is false when brokers or offsets of queues are not known, so that it may be more.
    `expired_count` counts the messages that were deleted before the group read them: they are no
    part of the lag. A lag that is not applicable is that of a broadcasting group, whose members
    keep their own offsets.
    """

    message_count: int | None
    waiting_ms: int | None
    is_complete: bool
    expired_count: int | None
    is_applicable: bool


class ListedGroupOut(BaseModel):
    """A consumer group, who is there now, and how far it is.

    `state` is what the brokers know that told, `broker_count_told` of `broker_count_asked`.
    """

    name: str
    is_system: bool
    group_names: list[str]
    state: GroupState
    broker_count_told: int
    broker_count_asked: int
    member_count: int
    lag: LagOut
    retry_lag: LagOut
    protection: ProtectionOut | None


class ConsumerGroupsOut(PageOut[ListedGroupOut]):
    """One page of consumer groups, and the brokers that did not tell all."""

    unknown: list[UnknownBrokerOut]
    observed_at: datetime


class GroupSettingsOut(BaseModel):
    """How one broker group serves the consumer group."""

    group_name: str
    consume_enabled: bool
    broadcast_allowed: bool
    consume_from_min_enabled: bool
    is_ordered: bool
    retry_count_max: int
    retry_queue_count: int
    consume_timeout_minutes: int
    notifies_members: bool


class MemberOut(BaseModel):
    """A client of the group, and the broker groups that it is connected to.

    `subscriptions` are what this member itself says, `topic (type expression)`, beside whether it
    clusters and where it starts; several are connections that disagree, none is not known, as of a
    stock broker, which tells what it heard last of any member.
    """

    client_id: str
    address: str
    language: str
    version: int
    version_name: str | None
    group_names: list[str]
    addresses: list[str]
    subscriptions: list[str]
    message_models: list[str]
    consume_types: list[str]
    starts_from: list[str]


class SubscriptionOut(BaseModel):
    """What a topic is read with; several expressions are members that disagree."""

    topic: str
    expressions: list[str]


class QueueLagOut(BaseModel):
    """How far the group is in one queue; `committed` is null where it never committed.

    `waiting_ms` is the age of the oldest message that is not consumed, `owner` the client that
    reads the queue; null is unknown, or for the owner nobody. `expired_count` counts the messages
    that were deleted before the group read them, `ahead_count` by how many its offset is beyond the
    end.
    """

    group_name: str
    topic: str
    queue_id: int
    kind: QueueKind
    committed: int | None
    begin: int | None
    end: int
    lag: int | None
    expired_count: int | None
    ahead_count: int | None
    waiting_ms: int | None
    consumed_at: datetime | None
    owner: str | None


class ConsumerGroupOut(BaseModel):
    """A consumer group with its members, settings and queues.

    `state` and `dead_letter_count` are of the brokers that told, `broker_count_told` of
    `broker_count_asked`; null is that none did.
    """

    name: str
    is_system: bool
    state: GroupState
    broker_count_told: int
    broker_count_asked: int
    models: list[str]
    lag: LagOut
    retry_lag: LagOut
    dead_letter_count: int | None
    is_dead_letter_count_complete: bool
    settings: list[GroupSettingsOut]
    members: list[MemberOut]
    subscriptions: list[SubscriptionOut]
    queues: list[QueueLagOut]
    unknown: list[UnknownBrokerOut]
    observed_at: datetime
    protection: ProtectionOut | None


@router.get("/clusters/{cluster_name}/consumer-groups", responses=NOT_FOUND)
async def show_consumer_groups(
    cluster_name: str,
    context: Context,
    search: Search = None,
    *,
    includes_system: bool = False,
    limit: Limit = 50,
    after: After = None,
) -> ConsumerGroupsOut:
    """List a cluster's consumer groups by name, as its masters tell them now."""
    found = await list_consumer_groups(
        cluster_name,
        size=limit,
        after=decode_cursor(after, str),
        search=search,
        includes_system=includes_system,
        censuses=context.censuses,
    )
    observed = await observe_consumer_groups(
        cluster_name,
        [one.name for one in found.page.items],
        censuses=context.censuses,
        brokers=context.brokers,
        clock=context.clock,
    )
    protected = await find_protections(
        [_resource(cluster_name, one.name) for one in found.page.items], database=context.database
    )
    page = page_out(
        found.page,
        lambda one: _listed_out(
            one, observed[one.name], protected[_resource(cluster_name, one.name)]
        ),
    )
    unknown = {one.broker: one for told in observed.values() for one in told.unknown}
    unknown |= {one.broker: one for one in found.unknown}
    return ConsumerGroupsOut(
        items=page.items,
        next=page.next,
        total_count=page.total_count,
        unknown=[UnknownBrokerOut.of(one) for one in unknown.values()],
        observed_at=found.observed_at,
    )


@router.get(
    "/clusters/{cluster_name}/consumer-groups/{consumer_group}", responses={**SILENT, 200: TAGGED}
)
async def show_consumer_group(
    cluster_name: str, consumer_group: str, context: Context, response: Response
) -> ConsumerGroupOut:
    """Describe one consumer group with its members and each queue that it reads."""
    found = await describe_consumer_group(
        cluster_name,
        consumer_group,
        censuses=context.censuses,
        brokers=context.brokers,
        clock=context.clock,
    )
    put_tag(response, found.version)
    resource = _resource(cluster_name, found.observation.name)
    protected = await find_protections([resource], database=context.database)
    return _detail_out(found, protected[resource])


def _resource(cluster_name: str, consumer_group: str) -> Resource:
    return Resource(cluster_name, ResourceKind.CONSUMER_GROUP, consumer_group)


def _listed_out(
    group: ListedGroup, told: Observation, protection: Protection | None
) -> ListedGroupOut:
    return ListedGroupOut(
        name=group.name,
        is_system=group.is_system,
        group_names=list(group.group_names),
        state=told.state,
        broker_count_told=told.coverage.told_count,
        broker_count_asked=told.coverage.asked_count,
        member_count=len(told.client_ids),
        lag=_lag_out(told.lag),
        retry_lag=_lag_out(told.retry_lag),
        protection=ProtectionOut.of(protection),
    )


def _detail_out(found: GroupDetail, protection: Protection | None) -> ConsumerGroupOut:
    told = found.observation
    return ConsumerGroupOut(
        name=told.name,
        is_system=told.is_system,
        state=told.state,
        broker_count_told=told.coverage.told_count,
        broker_count_asked=told.coverage.asked_count,
        models=list(found.models),
        lag=_lag_out(told.lag),
        retry_lag=_lag_out(told.retry_lag),
        dead_letter_count=found.dead_letter_count,
        is_dead_letter_count_complete=found.is_dead_letter_count_complete,
        settings=[_settings_out(name, one) for name, one in sorted(found.settings.items())],
        members=[_member_out(one) for one in found.members],
        subscriptions=[
            SubscriptionOut(topic=topic, expressions=list(expressions))
            for topic, expressions in found.subscriptions.items()
        ],
        queues=[_queue_out(one) for one in found.queues],
        unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
        observed_at=told.observed_at,
        protection=ProtectionOut.of(protection),
    )


def _lag_out(lag: LagTotal) -> LagOut:
    return LagOut(
        message_count=lag.message_count,
        waiting_ms=lag.waiting_ms,
        is_complete=lag.is_complete,
        expired_count=lag.expired_count,
        is_applicable=lag.is_applicable,
    )


def _settings_out(group_name: str, settings: GroupSettings) -> GroupSettingsOut:
    return GroupSettingsOut(
        group_name=group_name,
        consume_enabled=settings.consume_enabled,
        broadcast_allowed=settings.broadcast_allowed,
        consume_from_min_enabled=settings.consume_from_min_enabled,
        is_ordered=settings.is_ordered,
        retry_count_max=settings.retry_count_max,
        retry_queue_count=settings.retry_queue_count,
        consume_timeout_minutes=settings.consume_timeout_minutes,
        notifies_members=settings.notifies_members,
    )


def _member_out(seen: SeenMember) -> MemberOut:
    member = seen.member
    return MemberOut(
        client_id=member.client_id,
        address=member.address,
        language=member.language,
        version=member.version,
        version_name=version_name(member.version),
        group_names=list(seen.group_names),
        addresses=list(seen.addresses),
        subscriptions=seen.subscriptions,
        message_models=sorted({one.message_model for one in seen.said}),
        consume_types=sorted({one.consume_type for one in seen.said}),
        starts_from=sorted({one.starts_from for one in seen.said}),
    )


def _queue_out(queue: QueueLag) -> QueueLagOut:
    return QueueLagOut(
        group_name=queue.group_name,
        topic=queue.topic,
        queue_id=queue.queue_id,
        kind=queue.kind,
        committed=queue.committed,
        begin=queue.begin,
        end=queue.end,
        lag=queue.lag,
        expired_count=queue.expired_count,
        ahead_count=queue.ahead_count,
        waiting_ms=queue.waiting_ms,
        consumed_at=told_instant(queue.consumed_at_ms),
        owner=queue.owner,
    )
