"""Load members and lag of consumer groups. Masters are asked only for these fields."""

from backend.api.graphql.context import Info, ObservationKey
from backend.api.graphql.protections import load_protection
from backend.api.graphql.questions import relation
from backend.domain.consumer_group_lag import GroupState
from backend.domain.protection import Resource, ResourceKind
from backend.services.consumer_group.consumer_groups import Observation
from backend.views.consumer_groups import LagOut, NamedGroupOut
from backend.views.protections import ProtectionOut
from backend.views.unknown_brokers import UnknownBrokerOut


@relation(NamedGroupOut)
async def state(group: NamedGroupOut, info: Info) -> GroupState:
    """Say whether a client of the group is connected."""
    return (await _observed(group, info)).state


@relation(NamedGroupOut)
async def broker_count_told(group: NamedGroupOut, info: Info) -> int:
    """Count the brokers that answered."""
    return (await _observed(group, info)).coverage.answered_count


@relation(NamedGroupOut)
async def broker_count_asked(group: NamedGroupOut, info: Info) -> int:
    """Count the brokers that were asked."""
    return (await _observed(group, info)).coverage.asked_count


@relation(NamedGroupOut)
async def member_count(group: NamedGroupOut, info: Info) -> int:
    """Count the connected clients of the group."""
    return len((await _observed(group, info)).client_ids)


@relation(NamedGroupOut)
async def lag(group: NamedGroupOut, info: Info) -> LagOut:
    """Count the messages that the group has not consumed."""
    return LagOut.of((await _observed(group, info)).lag)


@relation(NamedGroupOut)
async def retry_lag(group: NamedGroupOut, info: Info) -> LagOut:
    """Count the messages that wait for another attempt."""
    return LagOut.of((await _observed(group, info)).retry_lag)


@relation(NamedGroupOut)
async def unknown(group: NamedGroupOut, info: Info) -> list[UnknownBrokerOut]:
    """List the brokers whose answer is missing or incomplete."""
    return [UnknownBrokerOut.of(one) for one in (await _observed(group, info)).unknown]


@relation(NamedGroupOut)
async def protection(group: NamedGroupOut, info: Info) -> ProtectionOut | None:
    """Show the protection from deletion, or null."""
    resource = Resource(group.cluster_name, ResourceKind.CONSUMER_GROUP, group.name)
    return await load_protection(info, resource)


async def _observed(group: NamedGroupOut, info: Info) -> Observation:
    key = ObservationKey(group.cluster_name, group.name)
    return await info.context.loaders.observations.load(key)
