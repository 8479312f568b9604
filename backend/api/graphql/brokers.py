"""Load the relations of brokers and of their groups."""

from datetime import datetime

from backend.api.graphql.context import Info
from backend.api.graphql.protections import load_protection
from backend.api.graphql.questions import relation
from backend.domain.broker_group import find_master
from backend.questions.brokers import broker_key, resource_of
from backend.services.controller.group_changes import BrokerGroupName
from backend.views.brokers import BrokerGroupOut, BrokerOut, heard_at
from backend.views.protections import ProtectionOut
from backend.views.replica_groups import ReplicaOut
from backend.views.samples import SampleOut


@relation(BrokerOut)
async def last_heartbeat_at(broker: BrokerOut, info: Info) -> datetime | None:
    """Show the time of the last heartbeat."""
    if not broker.is_registered:
        return heard_at(broker.model, None)
    heard_at_ms = await info.context.loaders.heartbeats.load(broker_key(broker.model))
    return heard_at(broker.model, heard_at_ms)


@relation(BrokerOut)
async def protection(broker: BrokerOut, info: Info) -> ProtectionOut | None:
    """Show the protection from being forgotten, or null."""
    return await load_protection(info, resource_of(broker.model))


@relation(BrokerOut)
async def latest_sample(broker: BrokerOut, info: Info) -> SampleOut | None:
    """Show the newest sample of the broker."""
    for sample in await info.context.loaders.samples.load(broker.model.cluster_name):
        if sample.name == broker.model.name:
            return SampleOut.of(sample)
    return None


@relation(BrokerOut)
async def replica(broker: BrokerOut, info: Info) -> ReplicaOut | None:
    """Show the broker as its controller knows it. Null without a controller."""
    name = BrokerGroupName(broker.broker_group_name, broker.model.cluster_name)
    group = await info.context.loaders.replica_views.load(name)
    known = () if group is None else group.replicas
    return next((ReplicaOut.of(one) for one in known if one.broker_id == broker.own_id), None)


@relation(BrokerGroupOut)
async def brokers(group: BrokerGroupOut, info: Info) -> list[BrokerOut]:
    """List the brokers of the group by id."""
    return [BrokerOut.of(found) for found in await info.context.loaders.brokers.load(group.id)]


@relation(BrokerGroupOut)
async def master(group: BrokerGroupOut, info: Info) -> BrokerOut | None:
    """Find the broker that takes writes."""
    found = find_master(await info.context.loaders.brokers.load(group.id))
    return None if found is None else BrokerOut.of(found)
