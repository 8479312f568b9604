"""Answer consumer groups over REST: who is there, and how far they are."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND, SILENT
from backend.api.rest.pages import After, PageOut, Search, page_out
from backend.api.rest.versions import TAGGED, put_tag
from backend.domain.consumer_group_lag import GroupState
from backend.domain.protection import Protection, Resource, ResourceKind
from backend.services.consumer_group_details import (
    GroupDetail,
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
from backend.views.consumer_groups import (
    GroupSettingsOut,
    LagOut,
    MemberOut,
    QueueLagOut,
    SubscriptionOut,
)
from backend.views.protections import ProtectionOut
from backend.views.unknown_brokers import UnknownBrokerOut

router = APIRouter(tags=["consumer groups"])

Limit = Annotated[int, Query(ge=1, le=OBSERVED_COUNT_MAX, description="How many items at most.")]


@dataclass(frozen=True, slots=True)
class ListedGroupOut:
    """A consumer group with its connected members and its progress.

    `state` comes from the `broker_count_told` brokers that answered, of `broker_count_asked`.
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
    """One page of consumer groups, and the brokers that did not list all of theirs."""

    unknown: list[UnknownBrokerOut]
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class ConsumerGroupOut:
    """A consumer group with its members, settings and queues.

    `state` and `dead_letter_count` come from the `broker_count_told` brokers that answered, of
    `broker_count_asked`; null means that none answered.
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
    """List a cluster's consumer groups by name, as its masters report them now."""
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
        lag=LagOut.of(told.lag),
        retry_lag=LagOut.of(told.retry_lag),
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
        lag=LagOut.of(told.lag),
        retry_lag=LagOut.of(told.retry_lag),
        dead_letter_count=found.dead_letter_count,
        is_dead_letter_count_complete=found.is_dead_letter_count_complete,
        settings=[GroupSettingsOut.of(name, one) for name, one in sorted(found.settings.items())],
        members=[MemberOut.of(one) for one in found.members],
        subscriptions=[
            SubscriptionOut(topic=topic, expressions=list(expressions))
            for topic, expressions in found.subscriptions.items()
        ],
        queues=[QueueLagOut.of(one) for one in found.queues],
        unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
        observed_at=told.observed_at,
        protection=ProtectionOut.of(protection),
    )
