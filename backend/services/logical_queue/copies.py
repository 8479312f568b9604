"""Ask the broker groups of a cluster for their copies of a static topic."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from backend.brokers.asking import Answers, Brokers, Inquiry
from backend.brokers.requests.logical_queues import (
    GetLogicalQueues,
    GetStaticTopic,
    StaticTopic,
    StoreMapping,
)
from backend.brokers.requests.properties import GetPermission
from backend.db import brokers as broker_rows
from backend.db import clusters
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.mapping import QueueCounts, TopicMapping, copy_for
from backend.domain.logical_queue.plan_checks import ClusterGroups
from backend.domain.logical_queue.topic_settings import with_settings
from backend.domain.topic import Permission
from backend.domain.topic_layout import TopicLayout


@dataclass(frozen=True, slots=True)
class HeldTopic:
    """Hold what a broker has of a topic: its layout, and its copy if the topic is static there."""

    layout: StaticTopic | None
    copy: BrokerTopic | None
    is_cordoned: bool = False


@dataclass(frozen=True, slots=True)
class TopicHolders:
    """Hold the answers of the brokers of a cluster about one topic.

    `silent` are the broker groups whose master is offline or does not answer, with the reason.
    """

    masters: Mapping[str, HeldTopic]
    addresses: Mapping[str, str]
    silent: Mapping[str, str]
    replicas: Mapping[Broker, HeldTopic]

    @property
    def groups(self) -> ClusterGroups:
        """Return the broker groups, those whose master answers, and those that are cordoned."""
        return ClusterGroups(
            frozenset({*self.masters, *self.silent}),
            frozenset(self.masters),
            frozenset(name for name, one in self.masters.items() if one.is_cordoned),
        )

    @property
    def copies(self) -> dict[str, BrokerTopic]:
        """Return the copies of the masters that have one."""
        return {name: one.copy for name, one in self.masters.items() if one.copy is not None}

    @property
    def known_at(self) -> tuple[str, ...]:
        """Return the broker groups whose master has a topic of the name, static or not."""
        return tuple(sorted(name for name, one in self.masters.items() if one.layout is not None))


@dataclass(frozen=True, slots=True)
class FindHeldTopic(Inquiry[HeldTopic]):
    """Ask a broker for a topic, for its copy if the topic is static there, and for its permission.

    Without a name of a topic only the permission is asked for.
    """

    topic_name: str | None

    async def put(self, brokers: Brokers, address: str) -> HeldTopic:
        """Ask for the permission, the layout, and the copy of a static topic."""
        is_cordoned = not await brokers.ask(address, GetPermission()) & Permission.WRITE
        layout = None
        if self.topic_name is not None:
            layout = await brokers.ask(address, GetStaticTopic(self.topic_name))
        if self.topic_name is None or layout is None or layout.mapping is None:
            return HeldTopic(layout, None, is_cordoned)
        held = await brokers.ask(address, GetLogicalQueues(self.topic_name))
        return HeldTopic(layout, held.get(self.topic_name), is_cordoned)


def store_request(
    mapping: TopicMapping, broker_group_name: str, layout: TopicLayout, *, is_final: bool
) -> StoreMapping:
    """Return the request that stores the copy of a broker group, with the queues that it needs.

    `layout` is the present one, of which the rest is kept.
    """
    counts = mapping.counts.get(broker_group_name, QueueCounts())
    wished = replace(
        layout,
        read_queue_count=counts.read_count,
        write_queue_count=counts.write_count,
        attributes=with_settings(layout.attributes, mapping),
    )
    return StoreMapping(
        layout=wished,
        present=layout,
        mapping=copy_for(mapping, broker_group_name),
        is_final=is_final,
    )


async def ask_holders(
    cluster_name: str,
    topic_name: str | None,
    *,
    database: Database,
    brokers: Brokers,
    with_replicas: bool = False,
) -> TopicHolders:
    """Ask the masters of a cluster, and its replicas if wanted, for a topic.

    Without a name of a topic only the state of the broker groups is asked for.

    Raises:
        ClusterNotFound: there is no cluster of the name.
    """
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        listed = await broker_rows.list_of_name(connection, cluster_name)
    masters = [one for one in listed if one.is_master]
    asked = [one for one in listed if one.is_online and (one.is_master or with_replicas)]
    answers = await brokers.ask_all(asked, FindHeldTopic(topic_name))
    answered = {
        one.broker_group_name: held for one, held in answers.answers.items() if one.is_master
    }
    names = {one.broker_group_name for one in listed}
    return TopicHolders(
        answered,
        {one.broker_group_name: one.address for one in masters},
        {name: _silence(name, masters, answers) for name in sorted(names - answered.keys())},
        {one: held for one, held in answers.answers.items() if not one.is_master},
    )


def _silence(name: str, masters: list[Broker], answers: Answers[Broker, HeldTopic]) -> str:
    for one in masters:
        if one.broker_group_name == name and one in answers.silent:
            return answers.silent[one].reason
    return "no master is online"
