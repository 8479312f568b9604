"""Begin and carry out changes of the number of logical queues (logical-queues.md 6, 7, 19.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
from uuid import uuid5

from backend.domain.logical_queue.change import (
    QueueChange,
)
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.mapping import QueueCounts, TopicMapping
from backend.domain.logical_queue.planning import (
    Bounds,
    plan_conversion,
    plan_creation,
    plan_expansion,
    plan_removal,
    plan_shrink,
)
from backend.domain.logical_queue.segment import OffsetMode
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep, ReadBack
from backend.operations.actions.static_topics import (
    QueueAction,
    StaticTopicAction,
    check_finished,
    count_queues,
    get_change_id,
    name_queues,
    value_of,
)
from backend.operations.engine.kind import (
    OperationContext,
    OperationRequest,
    StepRun,
    Waiting,
)
from backend.operations.planning.groups import compare
from backend.services.logical_queue import bounds as queue_bounds
from backend.services.logical_queue import driving
from backend.services.logical_queue.changes import begin_change
from backend.services.logical_queue.copies import TopicHolders
from backend.services.logical_queue.importing import layouts_of
from backend.services.logical_queue.unread import UnreadQueues, find_unread


@dataclass(frozen=True, slots=True)
class _QueueCountAction(StaticTopicAction):
    """An action after which a static topic has a number of logical queues on target groups."""

    queue_count: int
    targets: tuple[str, ...]

    @property
    def step(self) -> PlannedStep:
        """Say what is recorded."""
        return PlannedStep("begin", f"Record {self.queue_count} logical queues")

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back the number of logical queues."""
        mapping = await self.find_mapping(context)
        count = 0 if mapping is None else mapping.queue_count
        return [compare("logical queues", self.queue_count, count)]


@dataclass(frozen=True, slots=True)
class BeginCreation(_QueueCountAction):
    """Record a new static topic, with its queues spread over the targets (M0, M3)."""

    tag: ClassVar[str] = "begin_static_topic"

    offset_mode: OffsetMode

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record the topic, if no broker has a topic of the name."""
        holders = await self.ask_holders(context)
        return await self.begin_topic(run, self.plan(holders, context), context)

    def plan(self, holders: TopicHolders, context: OperationContext) -> QueueChange:
        """Plan the queues of the topic."""
        return plan_creation(
            self.topic_name,
            self.queue_count,
            targets=self.targets,
            groups=holders.groups,
            now_ms=context.clock.now_ms(),
            known_at=holders.known_at,
            offset_mode=self.offset_mode,
        )

    def undo(self, _step: Step) -> OperationRequest:
        """Delete the topic, if it is empty."""
        return self.request("delete_static_topic")


@dataclass(frozen=True, slots=True)
class BeginConversion(_QueueCountAction):
    """Record an ordinary topic as a static one; its queues stay where they are (M0, M3).

    `targets` are the broker groups that have the topic, with `queue_counts` queues.
    """

    tag: ClassVar[str] = "begin_static_conversion"

    queue_counts: Mapping[str, QueueCounts]
    offset_mode: OffsetMode

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record it, if all broker groups have the planned queues."""
        holders = await self.ask_holders(context)
        if counts_of(holders) != self.queue_counts:
            raise QueueChangeRefused(self.topic_name, "its queues were changed: plan it again")
        return await self.begin_topic(run, self.plan(holders, context), context)

    def plan(self, holders: TopicHolders, context: OperationContext) -> QueueChange:
        """Plan the logical queues."""
        return plan_conversion(
            self.topic_name,
            self.queue_counts,
            groups=holders.groups,
            now_ms=context.clock.now_ms(),
            offset_mode=self.offset_mode,
        )

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: a static topic becomes ordinary only by its deletion (INV-37).

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("a static topic becomes ordinary only by its deletion")


@dataclass(frozen=True, slots=True)
class BeginExpansion(_QueueCountAction):
    """Record more logical queues of a topic (M0, M3)."""

    tag: ClassVar[str] = "begin_static_expansion"

    epoch: int

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record the new queues, if the mapping is the planned one."""
        holders = await self.ask_holders(context)
        mapping = await self.find_mapping(context)
        bounds = await queue_bounds.find_bounds(mapping, holders, context.brokers)

        def plan(present: TopicMapping) -> QueueChange:
            return self.plan(present, holders, bounds, context)

        return await self.begin(run, self.epoch, plan, context)

    def plan(
        self,
        mapping: TopicMapping,
        holders: TopicHolders,
        bounds: Bounds,
        context: OperationContext,
    ) -> QueueChange:
        """Plan the new queues."""
        return plan_expansion(
            mapping,
            self.queue_count,
            targets=self.targets,
            groups=holders.groups,
            now_ms=context.clock.now_ms(),
            bounds=bounds,
        )

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: producers may have sent to the new queues.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("the new queues may hold messages")


@dataclass(frozen=True, slots=True)
class BeginShrink(StaticTopicAction):
    """Record that the last logical queues of a topic end (M0)."""

    tag: ClassVar[str] = "begin_static_shrink"

    queue_count: int
    former_count: int
    epoch: int

    @property
    def step(self) -> PlannedStep:
        """Say how many queues end."""
        count = count_queues(self.former_count - self.queue_count)
        return PlannedStep("begin", f"Record the end of {count}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record it, if the mapping is the planned one."""
        holders = await self.ask_holders(context)

        def plan(present: TopicMapping) -> QueueChange:
            return self.plan(present, holders, context)

        return await self.begin(run, self.epoch, plan, context)

    def plan(
        self, mapping: TopicMapping, holders: TopicHolders, context: OperationContext
    ) -> QueueChange:
        """Plan which queues end."""
        return plan_shrink(
            mapping, self.queue_count, groups=holders.groups, now_ms=context.clock.now_ms()
        )

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back the number of logical queues."""
        mapping = await self.find_mapping(context)
        count = None if mapping is None else mapping.queue_count
        return [compare("logical queues", self.queue_count, count)]

    def undo(self, step: Step) -> OperationRequest:
        """Roll the change back before its commit point, or let the queues take messages again.

        Raises:
            NotUndoable: the change was not begun.
        """
        return self.request(
            "shrink_static_topic", queue_count=self.former_count, takes_back=get_change_id(step)
        )


@dataclass(frozen=True, slots=True)
class SealQueues(QueueAction):
    """Seal logical queues that end, and record their ends (M2, M3)."""

    tag: ClassVar[str] = "seal_queues"

    @property
    def step(self) -> PlannedStep:
        """Name the queues."""
        return PlannedStep("seal", f"Seal {name_queues(self.global_ids)}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Seal them; each begins where its end is."""
        change = await driving.end_queues(self.driver(run, context), self.global_ids)
        return value_of(change)


@dataclass(frozen=True, slots=True)
class AwaitQueuesRead(QueueAction):
    """Wait until consumer groups have read logical queues to the end, or their messages are gone.

    A queue that takes messages again is not waited for: the next step then refuses.
    """

    tag: ClassVar[str] = "await_queues_read"

    waived_groups: tuple[str, ...] = ()

    @property
    def step(self) -> PlannedStep:
        """Say what the step waits for."""
        waived = f", but not for {', '.join(self.waived_groups)}" if self.waived_groups else ""
        named = name_queues(self.global_ids)
        return PlannedStep("read", f"Wait until consumer groups have read {named}{waived}")

    async def do(self, _run: StepRun, context: OperationContext) -> Value:
        """Wait while there are unread messages."""
        left = await self.find_unread(context)
        if left.counts:
            raise Waiting(left.sentence, left.as_value())
        return left.as_value()

    async def find_unread(self, context: OperationContext) -> UnreadQueues:
        """Count the messages that are still to be read."""
        mapping = await self.find_mapping(context)
        if mapping is None or not mapping.sealed_ids.issuperset(self.global_ids):
            return UnreadQueues()
        holders = await self.ask_holders(context)
        found = await find_unread(mapping, self.global_ids, holders, context.brokers)
        return found.without(self.waived_groups)


@dataclass(frozen=True, slots=True)
class RemoveQueues(QueueAction):
    """Remove sealed logical queues from a topic (M0), and store the result (M5, M6)."""

    tag: ClassVar[str] = "remove_queues"

    @property
    def step(self) -> PlannedStep:
        """Name the queues."""
        return PlannedStep("remove", f"Remove {name_queues(self.global_ids)}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Remove them, if they are the sealed ones; the ids of both changes differ."""
        change_id = uuid5(run.operation.id, self.tag)
        now_ms = context.clock.now_ms()

        def plan(present: TopicMapping) -> QueueChange:
            return plan_removal(present, self.global_ids, now_ms=now_ms)

        await begin_change(
            change_id,
            self.cluster_name,
            self.topic_name,
            plan,
            database=context.database,
            clock=context.clock,
            guard=run.guard,
        )
        change = await driving.spread(self.driver(run, context, change_id))
        check_finished(change)
        return value_of(change)


def counts_of(holders: TopicHolders) -> dict[str, QueueCounts]:
    """Return the queues of a topic on the broker groups whose master has it."""
    return {
        name: QueueCounts(one.read_queue_count, one.write_queue_count)
        for name, one in layouts_of(holders).items()
    }
