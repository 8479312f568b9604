"""Ask the brokers of a cluster once for their groups and their connected clients.

So a page knows which masters to ask about its groups: those where a group has offsets or members.
All pages of a process share the recent answers, and show their time.
"""

import asyncio
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.brokers.asking import Brokers
from backend.brokers.requests.clients import GetClients
from backend.brokers.requests.consumer_groups import GetConsumerGroupNames
from backend.brokers.requests.offsets import GetGroupsWithOffsets
from backend.clients.clock import Clock
from backend.db import logical_queues, topics
from backend.db.engine import Database
from backend.domain.client import Client
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.queue_lock import BrokerKey
from backend.services.cluster.broker_questions import Questions, find_brokers, find_masters
from backend.services.consumer_group.reported_clients import (
    ClientConnection,
    clients_of,
    connections_at,
)
from backend.services.recent_answers import KEPT_S, PATIENCE_S, RecentAnswers


@dataclass(frozen=True, slots=True)
class ClientSnapshot:
    """Hold who is connected to the brokers that are online.

    `clients` are those of all agents, by id. `groups` names the consumer groups with members, by
    the agents that answered completely. `stock` are the brokers that do not know the request.
    Brokers that did not answer, or not completely, are noted in the questions.
    """

    clients: tuple[Client, ...]
    groups: Mapping[BrokerKey, frozenset[str]]
    stock: tuple[BrokerKey, ...]
    questions: Questions
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """Hold which masters serve each consumer group, and which of them know something of it.

    `serving` is in the order of the groups' names. `knowing` are the masters where a group has
    offsets or members; any group may have some at those of `unreported`. `by_group` is all
    masters, by broker group. It is indexed once, since every page looks up each of its rows.
    """

    serving: Mapping[str, tuple[BrokerKey, ...]]
    knowing: Mapping[str, tuple[BrokerKey, ...]]
    unreported: tuple[BrokerKey, ...]
    by_group: Mapping[str, BrokerKey]
    questions: Questions
    observed_at: datetime

    def masters_of(
        self, consumer_group_name: str, also: Iterable[str] = ()
    ) -> tuple[BrokerKey, ...]:
        """Return the masters to be asked about a group; `also` names further broker groups."""
        further = (self.by_group[name] for name in also if name in self.by_group)
        found = {*self.knowing.get(consumer_group_name, ()), *self.unreported, *further}
        return tuple(sorted(found, key=lambda one: one.broker_group_name))


class ClientSnapshots:
    """Take snapshots of the clients of clusters, and keep each for a moment."""

    def __init__(
        self,
        database: Database,
        brokers: Brokers,
        clock: Clock,
        *,
        kept_for_s: float = KEPT_S,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._database, self._brokers, self._clock = database, brokers, clock
        self._clients = RecentAnswers(
            self._ask_clients, kept_for_s=kept_for_s, patience_s=patience_s
        )
        self._groups = RecentAnswers(self._ask_groups, kept_for_s=kept_for_s, patience_s=patience_s)

    async def clients(self, cluster_name: str, *, is_fresh: bool = False) -> ClientSnapshot:
        """Ask all brokers of a cluster who is connected to them.

        Raises:
            InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such
            cluster.
        """
        return await self._clients.get(cluster_name, is_fresh=is_fresh)

    async def groups(self, cluster_name: str, *, is_fresh: bool = False) -> GroupSnapshot:
        """Ask all masters of a cluster which groups they serve, and have offsets or members of.

        Raises:
            InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such
            cluster.
        """
        return await self._groups.get(cluster_name, is_fresh=is_fresh)

    async def holders(
        self, cluster_name: str, topic_names: Sequence[str]
    ) -> Mapping[str, frozenset[str]]:
        """Say which broker groups hold each of some topics, as they have registered them."""
        async with self._database.connect() as connection:
            return await topics.list_holders(connection, cluster_name, topic_names)

    async def static_topics(
        self, cluster_name: str, topic_names: Iterable[str]
    ) -> Mapping[str, TopicMapping]:
        """Return the mappings of those of some topics that are static."""
        async with self._database.connect() as connection:
            found = await logical_queues.list_of_names(connection, cluster_name, topic_names)
        return {one.mapping.topic_name: one.mapping for one in found}

    async def aclose(self) -> None:
        """End the questions that are on their way."""
        await asyncio.gather(self._clients.aclose(), self._groups.aclose())

    async def _ask_clients(self, cluster_name: str) -> ClientSnapshot:
        questions, observed_at = Questions(self._brokers), self._clock.now()
        asked = await find_brokers(cluster_name, questions, database=self._database)
        answers = await questions.ask_all(asked, GetClients())
        answered = {one: listed for one, listed in answers.items() if listed is not None}
        groups: dict[BrokerKey, frozenset[str]] = {}
        connections: list[Sequence[ClientConnection]] = []
        for broker, listed in answered.items():
            if len(listed.clients) < listed.total_count:
                questions.note(
                    broker, f"it lists {len(listed.clients)} of {listed.total_count} clients"
                )
            else:
                members = (one.consumer_groups for one in listed.clients)
                groups[broker] = frozenset(itertools.chain.from_iterable(members))
            connections.append(connections_at(broker, listed.clients))
            # The clients of hundreds of brokers are more than one turn of the loop may take.
            await asyncio.sleep(0)
        return ClientSnapshot(
            clients_of(connections),
            groups,
            tuple(one for one in answers if one not in answered),
            questions,
            observed_at,
        )

    async def _ask_groups(self, cluster_name: str) -> GroupSnapshot:
        questions, observed_at = Questions(self._brokers), self._clock.now()
        masters = await find_masters(cluster_name, questions, database=self._database)
        served, with_offsets, clients = await asyncio.gather(
            questions.ask_all(masters, GetConsumerGroupNames()),
            questions.ask_all(masters, GetGroupsWithOffsets()),
            self._clients.get(cluster_name, is_patient=True),
        )
        known = {
            master: clients.groups[master].union(names)
            for master, names in with_offsets.items()
            if master in clients.groups
        }
        serving = _by_consumer_group(served)
        return GroupSnapshot(
            {name: serving[name] for name in sorted(serving)},
            _by_consumer_group(known),
            tuple(one for one in masters if one not in known),
            {one.broker_group_name: one for one in masters},
            questions,
            min(observed_at, clients.observed_at),
        )


def _by_consumer_group(
    listed: Mapping[BrokerKey, Iterable[str]],
) -> dict[str, tuple[BrokerKey, ...]]:
    masters: dict[str, list[BrokerKey]] = {}
    for master, names in listed.items():
        for name in names:
            masters.setdefault(name, []).append(master)
    return {name: tuple(found) for name, found in masters.items()}
