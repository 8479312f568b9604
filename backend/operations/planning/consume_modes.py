"""Ask masters, and the other brokers of their groups, what a change of a consume mode meets."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.consume_modes import GetConsumeMode
from backend.brokers.requests.consumer_groups import GetGroupSettings, GetOnlineGroup
from backend.brokers.requests.logical_queues import GetStaticTopic
from backend.brokers.requests.offsets import GetProgress
from backend.brokers.requests.properties import IsStock
from backend.brokers.requests.shares import GetShareQueues
from backend.db import brokers as broker_rows
from backend.domain.plan import Check, CheckVerdict
from backend.domain.share_queue import ConsumeMode, ConsumeSetting, HeldShareQueue
from backend.operations.engine.kind import OperationContext
from backend.operations.planning.masters import Master, shortened


@dataclass(frozen=True, slots=True)
class Seen:
    """Hold what a master knows of the topic, the group, its mode and its connected members.

    `has_pop` is False for a static topic of a broker of RocketMQ.
    `share_queues` is None where the master does not report them, and for a static topic, whose
    committed offsets are not logical. `committed` has the committed offset of the group by queue,
    of the queues with one.
    """

    has_topic: bool
    has_pop: bool = True
    has_group: bool = False
    setting: ConsumeSetting | None = None
    members: tuple[str, ...] = ()
    share_queues: tuple[HeldShareQueue, ...] | None = ()
    committed: Mapping[int, int] = field(default_factory=dict)

    @property
    def mode(self) -> ConsumeMode:
        """Return the mode; PULL where none is set."""
        return ConsumeMode.PULL if self.setting is None else self.setting.mode

    def received_again(self, mode: ConsumeMode) -> list["Repeated"]:
        """Count, for each share queue, the messages that another mode makes the group receive."""
        if mode is self.mode:
            return []
        found = (
            Repeated(one, _repeated_count(one, self.committed.get(one.queue_id), mode))
            for one in self.share_queues or ()
        )
        return [one for one in found if one.count]


@dataclass(frozen=True, slots=True)
class Repeated:
    """Hold a share queue and the number of messages, at most, that its group receives again."""

    queue: HeldShareQueue
    count: int


@dataclass(frozen=True, slots=True)
class Look(Inquiry[Seen]):
    """Ask a master for the topic, the group, its mode, its offsets and its share queues."""

    topic: str
    consumer_group: str

    async def put(self, brokers: Brokers, address: str) -> Seen:
        """Ask for the topic, then for the rest at once."""
        topic = await brokers.ask(address, GetStaticTopic(self.topic))
        if topic is None:
            return Seen(has_topic=False)
        group, setting, online, progress, shared = await asyncio.gather(
            brokers.ask(address, GetGroupSettings(self.consumer_group)),
            brokers.ask(address, GetConsumeMode(self.topic, self.consumer_group)),
            brokers.ask(address, GetOnlineGroup(self.consumer_group)),
            brokers.find(address, GetProgress(self.consumer_group, self.topic)),
            brokers.find(address, GetShareQueues(self.topic, self.consumer_group)),
        )
        members = {one.client_id for one in (() if online is None else online.members)}
        is_comparable = topic.mapping is None and progress is not None
        return Seen(
            has_topic=True,
            has_pop=topic.mapping is None or shared is not None,
            has_group=group is not None,
            setting=setting,
            members=tuple(sorted(members)),
            share_queues=shared.queues if is_comparable and shared is not None else None,
            committed={one.queue_id: one.committed for one in progress or ()},
        )


def check_repeated(
    changed: Iterable[tuple[Master, ConsumeMode]], held: Mapping[Master, Seen]
) -> Check:
    """Check that the group receives no message again because its mode changes."""
    name = "no message comes again"
    masters = list(changed)
    found = [
        f"{each.queue.topic}/{each.queue.queue_id} on {one.broker_group_name} (up to {each.count})"
        for one, mode in masters
        for each in held[one].received_again(mode)
    ]
    if found:
        why = f"messages that the group received are received again: {shortened(found)}"
        return Check(name, CheckVerdict.WARN, why)
    unknown = [one.broker_group_name for one, _ in masters if held[one].share_queues is None]
    if unknown:
        why = f"share queues and committed offsets can't be compared on {shortened(unknown)}"
        return Check(name, CheckVerdict.WARN, why)
    why = "the group is as far in its share queues as in its committed offsets"
    return Check(name, CheckVerdict.PASS, why)


async def check_stock_members(
    cluster_name: str, masters: Iterable[Master], context: OperationContext
) -> Check:
    """Check that no master of ours that changes to POP has a broker of RocketMQ in its group (D30).

    Such a master refuses the change. A master of RocketMQ serves POP in its own way. A broker that
    does not answer passes for one of ours, as it does at the master.
    """
    name = "no broker of the groups prevents POP"
    by_address = {one.address: one.broker_group_name for one in masters}
    async with context.database.connect() as connection:
        known = await broker_rows.list_of_name(connection, cluster_name)
    groups = set(by_address.values())
    asked = [one for one in known if one.is_online and one.broker_group_name in groups]
    answers = (await context.brokers.ask_all(asked, IsStock())).answers
    stock = [one for one in asked if answers.get(one)]
    served = groups - {by_address.get(one.address) for one in stock}
    found = [f"{one.name}, {one.address}" for one in stock if one.broker_group_name in served]
    if not found:
        return Check(name, CheckVerdict.PASS, "no master of Regent has a broker of RocketMQ beside")
    why = (
        f"brokers of RocketMQ would deliver acknowledged messages again: {shortened(found)}."
        " Keep PULL, or replace them by brokers of Regent"
    )
    return Check(name, CheckVerdict.BLOCK, why)


def _repeated_count(queue: HeldShareQueue, committed: int | None, mode: ConsumeMode) -> int:
    """Count the messages, at most, that come again in a share queue whose group changes its mode.

    By POP the group goes on from the start of the window; by pulls from the committed offset.
    """
    if committed is None:
        return 0
    if mode is ConsumeMode.PULL:
        return max(0, queue.end - committed)
    finished = queue.finished_count if committed >= queue.end else 0
    return max(0, committed - queue.start - finished)
