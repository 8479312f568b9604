"""Describe one consumer group: members, settings, owners of queues, retries, dead letters."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.consumer_groups import (
    GetGroupSettings,
    GetMemberships,
    GetQueuesOfClient,
    QueueKey,
)
from backend.brokers.requests.locks import GetQueueReaders
from backend.brokers.requests.topics import GetTopicEnds, GetTopicLayout
from backend.clients.clock import Clock
from backend.domain.consumer_group import GroupSettings
from backend.domain.consumer_group_lag import QueueLag
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.route import synthetic_broker_name
from backend.domain.membership import Membership, subscriptions_text
from backend.domain.operation_errors import BrokerSilent, ConsumerGroupNotFound
from backend.domain.queue_lock import BrokerKey
from backend.domain.queue_reading import GroupMember
from backend.domain.version import version_by_group
from backend.remoting.names import dead_letter_topic, retry_topic
from backend.services.cluster.broker_questions import Questions, UnknownBroker
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from backend.services.consumer_group.consumer_groups import Observation, Observer

ASKED_MEMBER_COUNT_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class SeenMember:
    """Hold a member of a group, the broker groups that it is connected to, and what it says.

    `said` is its description of the group at each connection. Without any it is unknown: a stock
    broker reports only the last heartbeat of any member. `addresses` are those of its connections.
    """

    member: GroupMember
    broker_group_names: tuple[str, ...]
    said: tuple[Membership, ...] = ()
    addresses: tuple[str, ...] = ()

    @property
    def subscriptions(self) -> list[str]:
        """Name what it subscribes to; several are connections that disagree."""
        return sorted({subscriptions_text(one) for one in self.said})


@dataclass(frozen=True, slots=True)
class GroupDetail:
    """Hold the masters' answers about a group.

    `subscriptions` are the expressions of each topic; members that disagree have several.
    `dead_letter_count` is of the masters that answered; `None` if none did.
    """

    observation: Observation
    settings: Mapping[str, GroupSettings]
    members: tuple[SeenMember, ...]
    subscriptions: Mapping[str, tuple[str, ...]]
    queues: tuple[QueueLag, ...]
    dead_letter_count: int | None
    is_dead_letter_count_complete: bool
    unknown: tuple[UnknownBroker, ...]

    @property
    def version(self) -> str:
        """Name the version of how it is served."""
        return version_by_group(self.settings)

    @property
    def models(self) -> tuple[str, ...]:
        """Say whether members share the messages or all get each; both is their mistake."""
        models = {one.is_broadcasting for one in self.observation.online.values()}
        models |= {
            one.message_model == "BROADCASTING" for seen in self.members for one in seen.said
        }
        return tuple(sorted("broadcasting" if one else "clustering" for one in models))


async def describe_consumer_group(
    cluster_name: str,
    name: str,
    *,
    client_snapshots: ClientSnapshots,
    brokers: Brokers,
    clock: Clock,
) -> GroupDetail:
    """Ask the masters of a cluster that know a group for everything about it.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
        ConsumerGroupNotFound: every master answered that it does not know the group. BrokerSilent:
        the masters that answered do not know the group, and others did not answer.
    """
    snapshot = await client_snapshots.groups(cluster_name)
    if name not in snapshot.serving:
        # It may have been created since.
        snapshot = await client_snapshots.groups(cluster_name, is_fresh=True)
    retries, letters = retry_topic(name), dead_letter_topic(name)
    holders = await client_snapshots.holders(cluster_name, [retries, letters])
    questions = snapshot.questions.follow_up(brokers)
    masters = snapshot.masters_of(name, holders[retries])
    serving = snapshot.serving.get(name, ())
    keeping = snapshot.masters_of(name, holders[letters])
    observer = Observer(cluster_name, snapshot, questions, client_snapshots, clock)
    observations, held_settings, dead = await asyncio.gather(
        observer.observe_all({name: masters}),
        questions.ask_all(serving, GetGroupSettings(name)),
        questions.ask_all(keeping, CountMessages(letters)),
    )
    observed = observations[name]
    settings = {
        one.broker_group_name: held for one, held in held_settings.items() if held is not None
    }
    if not (settings or observed.online or observed.queues):
        for silent in questions.unknown:
            raise BrokerSilent(silent.broker.address, silent.why)
        raise ConsumerGroupNotFound(cluster_name, name)
    unknown = questions.unknown
    owners = await _find_owners(observed, masters, brokers)
    said = await _ask_what_members_say(observed, brokers)
    is_whole = len(dead) == len(keeping) and not unknown
    return GroupDetail(
        observation=replace(observed, unknown=unknown),
        settings=settings,
        members=_members(observed, said),
        subscriptions=_subscriptions(observed, said),
        queues=tuple(
            replace(one, owner=_find_owner(one, owners, observed.static)) for one in observed.queues
        ),
        dead_letter_count=sum(dead.values()) if dead or is_whole else None,
        is_dead_letter_count_complete=is_whole,
        unknown=unknown,
    )


@dataclass(frozen=True, slots=True)
class CountMessages(Inquiry[int]):
    """Ask a broker how many messages it holds of a topic, which it may not have."""

    topic_name: str

    async def put(self, brokers: Brokers, address: str) -> int:
        """Ask whether it has the topic, then for its ends."""
        if await brokers.ask(address, GetTopicLayout(self.topic_name)) is None:
            return 0
        ends = await brokers.ask(address, GetTopicEnds(self.topic_name))
        return sum(one.count for one in ends.values())


async def _find_owners(
    observed: Observation, masters: Sequence[BrokerKey], brokers: Brokers
) -> dict[QueueKey, str]:
    """Find which member reads each queue: agents know, of stock brokers the members are asked.

    If a master does not answer, its queues have no known owner; the rest is still shown.
    """
    apart = Questions(brokers)
    topics = sorted({one.topic for one in observed.queues})
    owners: dict[QueueKey, str] = {}
    asked = [(master, topic) for master in masters for topic in topics if master in observed.online]
    readers = await asyncio.gather(
        *(
            apart.ask(master, GetQueueReaders(consumer_group=observed.name, topic=topic))
            for master, topic in asked
        )
    )
    stock = {master for (master, _), table in zip(asked, readers, strict=True) if table is None}
    for (master, topic), table in zip(asked, readers, strict=True):
        ids = {one.address: one.client_id for one in observed.online[master].members}
        for queue_id, reader in ({} if table is None else table.readers).items():
            if reader.address in ids:
                owners[topic, master.broker_group_name, queue_id] = ids[reader.address]
    if stock:
        owners |= await _ask_members(observed, sorted(stock, key=lambda one: one.address), brokers)
    return owners


def _find_owner(
    queue: QueueLag, owners: Mapping[QueueKey, str], static: Mapping[str, TopicMapping]
) -> str | None:
    """Return the owner of a queue; that of a logical queue reads at its leader.

    An agent names the physical queue there. Members name the logical one, with a synthetic name in
    the place of the broker group (logical-queues.md 16).
    """
    mapping = static.get(queue.topic)
    if mapping is None:
        return owners.get((queue.topic, queue.broker_group_name, queue.queue_id))
    logical = mapping.queue(queue.queue_id)
    names = [(synthetic_broker_name(mapping.scope), queue.queue_id)]
    if logical is not None and logical.leader is not None:
        names.insert(0, logical.leader.place)
    return next((owner for one in names if (owner := owners.get((queue.topic, *one)))), None)


async def _ask_members(
    observed: Observation, masters: Sequence[BrokerKey], brokers: Brokers
) -> dict[QueueKey, str]:
    apart = Questions(brokers)
    connected = {
        one.client_id: master for master in masters for one in observed.online[master].members
    }
    asked = sorted(connected.items())[:ASKED_MEMBER_COUNT_MAX]
    answers = await asyncio.gather(
        *(
            apart.ask(master, GetQueuesOfClient(consumer_group=observed.name, client_id=client_id))
            for client_id, master in asked
        )
    )
    return {
        queue: client_id
        for (client_id, _), queues in zip(asked, answers, strict=True)
        for queue in queues or ()
    }


async def _ask_what_members_say(observed: Observation, brokers: Brokers) -> Sequence[Membership]:
    """Ask the agents for each member's subscriptions; without an answer they are unknown."""
    apart = Questions(brokers)
    answers = await apart.ask_all(observed.online, GetMemberships(observed.name))
    return [one for members in answers.values() for one in members or ()]


def _members(observed: Observation, said: Sequence[Membership]) -> tuple[SeenMember, ...]:
    seen: dict[str, tuple[GroupMember, set[str], set[str]]] = {}
    for broker, members in observed.online.items():
        for member in members.members:
            known = seen.setdefault(member.client_id, (member, set(), set()))
            known[1].add(broker.broker_group_name)
            known[2].add(member.address)
    return tuple(
        SeenMember(
            member,
            tuple(sorted(groups)),
            tuple(one for one in said if one.client_id == client_id),
            tuple(sorted(addresses)),
        )
        for client_id, (member, groups, addresses) in sorted(seen.items())
    )


def _subscriptions(observed: Observation, said: Sequence[Membership]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for one in said:
        for topic, expression in one.subscriptions.items():
            found.setdefault(topic, set()).add(expression.partition(" ")[2])
    for online in observed.online.values():
        for topic, expression in online.subscriptions.items():
            found.setdefault(topic, set()).add(expression)
    return {topic: tuple(sorted(found[topic])) for topic in sorted(found)}
