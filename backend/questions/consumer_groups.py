"""Ask for consumer groups, their members and their lag."""

from dataclasses import dataclass
from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.operation_errors import ConsumerGroupNotFound
from backend.domain.page import Page
from backend.domain.protection import Resource, ResourceKind
from backend.questions.question import FLAT, After, Given, Search, page_size, question
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from backend.services.consumer_group.consumer_group_details import describe_consumer_group
from backend.services.consumer_group.consumer_groups import (
    OBSERVED_COUNT_MAX,
    list_consumer_groups,
    observe_consumer_groups,
)
from backend.services.protections import find_protections
from backend.views.consumer_groups import (
    ConsumerGroupOut,
    ConsumerGroupsOut,
    ListedGroupOut,
    NamedGroupOut,
    NamedGroupsOut,
)
from backend.views.unknown_brokers import UnknownBrokerOut

GROUPS = "/clusters/{cluster_name}/consumer-groups"
TAG = "consumer groups"
Limit = Annotated[int, page_size(OBSERVED_COUNT_MAX)]
ConsumerGroupName = Annotated[str, Given(graph_name="name")]


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """Narrow a list of consumer groups."""

    search: Search = None
    includes_system: bool = False


@question(
    None,
    field="consumerGroups",
    tag=TAG,
    why_not="REST lists them with the answers of brokers; the graph loads those answers on request",
)
async def list_named_groups(
    cluster_name: str,
    chosen: Annotated[GroupChoice, FLAT] = GroupChoice(),
    limit: Limit = 50,
    after: After[str] = None,
    *,
    client_snapshots: ClientSnapshots,
) -> NamedGroupsOut:
    """List a cluster's consumer groups by name, as its masters report them now."""
    found = await list_consumer_groups(
        cluster_name,
        size=limit,
        after=after,
        search=chosen.search,
        includes_system=chosen.includes_system,
        client_snapshots=client_snapshots,
    )
    page = found.page.map(lambda one: NamedGroupOut.of(one, cluster_name))
    unknown = [UnknownBrokerOut.of(one) for one in found.unknown]
    return NamedGroupsOut(page, unknown, found.observed_at)


@question(
    GROUPS,
    field=None,
    tag=TAG,
    refusals=(404,),
    why_not="the graph has them as `consumerGroups`, and asks brokers for what is selected only",
)
async def show_consumer_groups(
    cluster_name: str,
    chosen: Annotated[GroupChoice, FLAT] = GroupChoice(),
    limit: Limit = 50,
    after: After[str] = None,
    *,
    client_snapshots: ClientSnapshots,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ConsumerGroupsOut:
    """List a cluster's consumer groups by name, as its masters report them now."""
    found = await list_consumer_groups(
        cluster_name,
        size=limit,
        after=after,
        search=chosen.search,
        includes_system=chosen.includes_system,
        client_snapshots=client_snapshots,
    )
    names = [one.name for one in found.page.items]
    observations = await observe_consumer_groups(
        cluster_name, names, client_snapshots=client_snapshots, brokers=brokers, clock=clock
    )
    resources = {name: _resource(cluster_name, name) for name in names}
    protected = await find_protections(list(resources.values()), database=database)
    unknown = {one.broker: one for group in observations.values() for one in group.unknown}
    unknown |= {one.broker: one for one in found.unknown}
    page: Page[ListedGroupOut, str] = found.page.map(
        lambda one: ListedGroupOut.observed(
            NamedGroupOut.of(one, cluster_name),
            observations[one.name],
            protected[resources[one.name]],
        )
    )
    shown = [UnknownBrokerOut.of(one) for one in unknown.values()]
    return ConsumerGroupsOut(page, shown, found.observed_at)


@question(
    GROUPS + "/{consumer_group_name}",
    field="consumerGroup",
    tag=TAG,
    refusals=(404, 502),
    absences=(ConsumerGroupNotFound,),
)
async def show_consumer_group(
    cluster_name: str,
    consumer_group_name: ConsumerGroupName,
    *,
    client_snapshots: ClientSnapshots,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ConsumerGroupOut:
    """Describe one consumer group with its members and each queue that it reads."""
    found = await describe_consumer_group(
        cluster_name,
        consumer_group_name,
        client_snapshots=client_snapshots,
        brokers=brokers,
        clock=clock,
    )
    resource = _resource(cluster_name, found.observation.name)
    protected = await find_protections([resource], database=database)
    return ConsumerGroupOut.of(found, protected[resource])


def _resource(cluster_name: str, consumer_group_name: str) -> Resource:
    return Resource(cluster_name, ResourceKind.CONSUMER_GROUP, consumer_group_name)
