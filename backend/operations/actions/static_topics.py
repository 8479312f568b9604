"""Begin and carry out changes of the logical queues of a static topic (logical-queues.md 9.4).

The recorded change is the journal of every step: a repeated step begins where it is, and does
nothing twice. Its id is that of the operation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from backend.db import logical_queues
from backend.domain.logical_queue.change import (
    BEFORE_COMMIT,
    ChangeKind,
    ChangeState,
    MoveStep,
    QueueChange,
)
from backend.domain.logical_queue.errors import QueueMappingMoved
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.planning import (
    Bounds,
    plan_creation,
    plan_deletion,
    plan_expansion,
)
from backend.domain.logical_queue.segment import OffsetMode
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep, ReadBack
from backend.operations.engine.kind import (
    Consequence,
    OperationContext,
    OperationRequest,
    StepRun,
    Waiting,
)
from backend.operations.planning.broker_steps import fence_of
from backend.operations.planning.groups import compare
from backend.operations.planning.masters import shortened
from backend.services.logical_queue import bounds as queue_bounds
from backend.services.logical_queue import driving
from backend.services.logical_queue.changes import Plan, begin_change, begin_creation
from backend.services.logical_queue.consistency import check_consistency
from backend.services.logical_queue.copies import TopicHolders, ask_holders
from backend.services.logical_queue.driving import Driver


@dataclass(frozen=True, slots=True)
class _StaticTopicAction:
    """Name the topic whose logical queues change."""

    cluster_name: str
    topic_name: str

    async def read(self, context: OperationContext) -> Value:
        """Read the epoch of the topic, and its unfinished change; None without the topic."""
        async with context.database.connect() as connection:
            held = await logical_queues.find(connection, self.cluster_name, self.topic_name)
        if held is None:
            return None
        change = None if held.unfinished is None else _value_of(held.unfinished.change)
        return {"epoch": str(held.mapping.epoch), "change": change}

    async def ask_holders(self, context: OperationContext) -> TopicHolders:
        """Ask the masters of the cluster for the topic."""
        return await ask_holders(
            self.cluster_name,
            self.topic_name,
            database=context.database,
            brokers=context.brokers,
        )

    async def begin(self, run: StepRun, plan: Plan, context: OperationContext) -> Value:
        """Record the change that the plan makes from the present mapping (M0)."""
        change = await begin_change(
            run.operation.id,
            self.cluster_name,
            self.topic_name,
            plan,
            database=context.database,
            clock=context.clock,
            guard=run.guard,
        )
        return begun_value(run, change)

    def driver(
        self, run: StepRun, context: OperationContext, change_id: UUID | None = None
    ) -> Driver:
        """Return what drives a change: that of the operation, or an earlier one."""
        return Driver(
            change_id or run.operation.id,
            self.cluster_name,
            self.topic_name,
            context.database,
            context.brokers,
            context.clock,
            fence_of(run),
            run.guard,
        )

    async def find_mapping(self, context: OperationContext) -> TopicMapping | None:
        """Return the present mapping."""
        async with context.database.connect() as connection:
            held = await logical_queues.find(connection, self.cluster_name, self.topic_name)
        return None if held is None else held.mapping

    def _request(self, kind: str, **parameters: Any) -> OperationRequest:
        named = {"cluster_name": self.cluster_name, "topic_name": self.topic_name}
        return OperationRequest(kind, {**named, **parameters})


def begun_value(run: StepRun, change: QueueChange) -> Value:
    """Return the journal's value of a change that was begun."""
    return {"change_id": str(run.operation.id), **_value_of(change)}


def _value_of(change: QueueChange) -> Mapping[str, Any]:
    return {
        "kind": change.kind,
        "epoch": str(change.epoch),
        "state": change.state,
        "queues": {str(one.global_id): one.step for one in change.moves},
        "converged": sorted(change.converged),
        "stale": sorted(change.stale),
    }


@dataclass(frozen=True, slots=True)
class _QueueCountAction(_StaticTopicAction):
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
        change = await begin_creation(
            run.operation.id,
            self.cluster_name,
            self.plan(holders, context),
            database=context.database,
            clock=context.clock,
            guard=run.guard,
        )
        return begun_value(run, change)

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
        return self._request("delete_static_topic")


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
            check_epoch(present, self.epoch)
            return self.plan(present, holders, bounds, context)

        return await self.begin(run, plan, context)

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
class BeginMoves(_StaticTopicAction):
    """Record which logical queues move, in a new epoch (M0).

    `forced_ends` are the last known ends of queues whose source can't be asked, and `forced_starts`
    the offsets where these continue, by global id.
    """

    tag: ClassVar[str] = "begin_queue_moves"

    moves: tuple[Relocation, ...]
    epoch: int
    forced_ends: Mapping[int, int]
    forced_starts: Mapping[int, int]

    @property
    def step(self) -> PlannedStep:
        """Say how many queues move."""
        return PlannedStep("begin", f"Record the moves of {count_queues(len(self.moves))}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record the moves, if the mapping is the planned one."""
        holders = await self.ask_holders(context)

        def plan(present: TopicMapping) -> QueueChange:
            check_epoch(present, self.epoch)
            return self.plan(present, holders, context)

        return await self.begin(run, plan, context)

    def plan(
        self, mapping: TopicMapping, holders: TopicHolders, context: OperationContext
    ) -> QueueChange:
        """Plan the moves."""
        return plan_moves(
            mapping,
            self.moves,
            kind=ChangeKind.MIGRATE,
            groups=holders.groups,
            now_ms=context.clock.now_ms(),
            forced_ends=self.forced_ends,
            forced_starts=self.forced_starts,
        )

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back the leader of each queue."""
        mapping = await self.find_mapping(context)
        found = {
            one.global_id: None if mapping is None else mapping.queue(one.global_id)
            for one in self.moves
        }
        return [
            compare(
                f"leader of logical queue {one.global_id}",
                one.destination,
                "none" if (queue := found[one.global_id]) is None else queue.leader_name,
            )
            for one in self.moves
        ]

    def undo(self, step: Step) -> OperationRequest:
        """Roll the change back before its commit point, or move the queues back after its end.

        Raises:
            NotUndoable: the change was not begun.
        """
        change_id = (step.after or {}).get("change_id")
        if change_id is None:
            raise NotUndoable("no queue was moved")
        return self._request("move_queues", takes_back=change_id)


@dataclass(frozen=True, slots=True)
class BeginDeletion(_StaticTopicAction):
    """Record the deletion of a topic (M0)."""

    tag: ClassVar[str] = "begin_static_deletion"

    purge: bool
    epoch: int

    @property
    def step(self) -> PlannedStep:
        """Say what is recorded."""
        return PlannedStep("begin", "Record the deletion")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record it, if the mapping is the planned one and its queues are still empty."""
        holders = await self.ask_holders(context)
        mapping = await self.find_mapping(context)
        bounds = await queue_bounds.find_bounds(mapping, holders, context.brokers)

        def plan(present: TopicMapping) -> QueueChange:
            check_epoch(present, self.epoch)
            now_ms = context.clock.now_ms()
            return plan_deletion(present, bounds, now_ms=now_ms, is_purge=self.purge)

        return await self.begin(run, plan, context)

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that the topic is gone."""
        mapping = await self.find_mapping(context)
        return [compare("static topic", "none", "none" if mapping is None else self.topic_name)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: deleted messages can't be restored.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("regent topic static create creates an empty topic of the name")


@dataclass(frozen=True, slots=True)
class _QueueAction(Consequence, _StaticTopicAction):
    """Name the logical queues that take a step together."""

    global_ids: tuple[int, ...]

    async def verify(self, _step: Step, _context: OperationContext) -> Sequence[ReadBack]:
        """Read nothing back: the first step reads back the leader of each queue."""
        return []


@dataclass(frozen=True, slots=True)
class PrepareQueues(_QueueAction):
    """Have the destination reserve physical queues (M1)."""

    tag: ClassVar[str] = "prepare_queues"

    @property
    def step(self) -> PlannedStep:
        """Name the queues."""
        named = name_queues(self.global_ids)
        return PlannedStep(f"prepare-{self.global_ids[0]}", f"Reserve a place for {named}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Reserve; the same queues again after a lost answer."""
        change = await driving.prepare_queues(self.driver(run, context), self.global_ids)
        return _value_of(change)


@dataclass(frozen=True, slots=True)
class SwitchQueues(_QueueAction):
    """Seal logical queues, decide their offsets and open them at the destination (M2 to M4)."""

    tag: ClassVar[str] = "switch_queues"

    @property
    def step(self) -> PlannedStep:
        """Name the queues."""
        return PlannedStep(f"switch-{self.global_ids[0]}", f"Move {name_queues(self.global_ids)}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Move them; each begins where its move is."""
        change = await driving.switch_queues(self.driver(run, context), self.global_ids)
        return _value_of(change)


@dataclass(frozen=True, slots=True)
class SpreadMapping(Consequence, _StaticTopicAction):
    """Store the result at all broker groups, and end the change (M5, M6)."""

    tag: ClassVar[str] = "spread_mapping"

    @property
    def step(self) -> PlannedStep:
        """Say where the mapping goes."""
        return PlannedStep("spread", "Store the mapping at all broker groups")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Store it, and wait for broker groups that lead new queues."""
        change = await driving.spread(self.driver(run, context))
        check_finished(change)
        return _value_of(change)

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that Postgres and the brokers agree."""
        found = await check_consistency(
            self.cluster_name,
            self.topic_name,
            database=context.database,
            brokers=context.brokers,
            with_routes=False,
            with_replicas=False,
        )
        named = [f"{one.name}: {one.where}: {one.what}" for one in found.differences]
        return [compare("findings about the mapping", "none", shortened(named) or "none")]


@dataclass(frozen=True, slots=True)
class RollBackMoves(_StaticTopicAction):
    """Undo moves before their commit point: the sources take messages again."""

    tag: ClassVar[str] = "roll_back_moves"

    change_id: str

    @property
    def step(self) -> PlannedStep:
        """Say what is undone."""
        return PlannedStep("roll-back", "Unseal the queues and discard what was reserved")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Roll back, and wait for the sources."""
        change = await driving.roll_back(self.driver(run, context, UUID(self.change_id)))
        check_finished(change)
        return _value_of(change)

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back the outcome of the change."""
        async with context.database.connect() as connection:
            stored = await logical_queues.find_change(connection, UUID(self.change_id))
        state = None if stored is None else stored.change.state
        return [compare("change of the topic", ChangeState.ABORTED, state)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: order the move again.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("order the move again (regent topic static move)")


@dataclass(frozen=True, slots=True)
class DeleteQueues(Consequence, _StaticTopicAction):
    """Delete a static topic on all broker groups; its rows go with the last of these."""

    tag: ClassVar[str] = "delete_static_topic"

    purge: bool

    @property
    def step(self) -> PlannedStep:
        """Say what is deleted."""
        return PlannedStep("delete", "Delete it on all broker groups")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Delete it; a broker group that has deleted it already has nothing to do."""
        driver = self.driver(run, context)
        change = await driving.delete_on_brokers(driver, only_empty=not self.purge)
        return _value_of(change)

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that no master has a topic of the name."""
        holders = await self.ask_holders(context)
        known = shortened(holders.known_at) or "none"
        return [compare("broker groups with the topic", "none", None if holders.silent else known)]


def check_epoch(mapping: TopicMapping, planned: int) -> None:
    """Refuse a mapping that is not the planned one.

    Raises:
        QueueMappingMoved: its epoch is another one.
    """
    if mapping.epoch != planned:
        raise QueueMappingMoved(mapping.topic_name, planned)


def check_finished(change: QueueChange) -> None:
    """Wait for the broker groups without which a change can't end.

    Raises:
        Waiting: there are any.
    """
    if change.is_finished:
        return
    left = sorted(change.after.counts.keys() - change.converged - change.stale)
    raise Waiting(f"no master is online of {shortened(left)}", _value_of(change))


def is_committed(change: QueueChange) -> bool:
    """Return whether a change only goes forward."""
    is_open = change.state in {ChangeState.MOVING, ChangeState.ROLLING_BACK}
    return not is_open or any(one.step not in BEFORE_COMMIT for one in change.moves)


def is_moved(change: QueueChange) -> bool:
    """Return whether all queues of a change have moved, at all brokers."""
    is_active = all(one.step is MoveStep.ACTIVE for one in change.moves)
    return change.state is ChangeState.DONE and is_active


def count_queues(count: int) -> str:
    """Count logical queues, in words."""
    return f"{count} logical queue{'' if count == 1 else 's'}"


def name_queues(global_ids: Sequence[int]) -> str:
    """Name logical queues."""
    noun = "logical queue" if len(global_ids) == 1 else "logical queues"
    return f"{noun} {shortened(map(str, global_ids))}"
