"""Begin, carry out and roll back moves of logical queues (logical-queues.md 9.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar
from uuid import UUID

from backend.db import logical_queues
from backend.domain.logical_queue.change import (
    ChangeKind,
    ChangeState,
    QueueChange,
)
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
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
)
from backend.operations.planning.groups import compare
from backend.services.logical_queue import driving
from backend.services.logical_queue.copies import TopicHolders
from backend.services.logical_queue.switching import switch_queues


@dataclass(frozen=True, slots=True)
class BeginMoves(StaticTopicAction):
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
        if not self.moves:
            return PlannedStep("begin", "Record a higher epoch")
        return PlannedStep("begin", f"Record the moves of {count_queues(len(self.moves))}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record the moves, if the mapping is the planned one."""
        holders = await self.ask_holders(context)

        def plan(present: TopicMapping) -> QueueChange:
            return self.plan(present, holders, context)

        return await self.begin(run, self.epoch, plan, context)

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

    async def verify(self, step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back the leader of each queue, which may be another one than planned (L43)."""
        async with context.database.connect() as connection:
            change_id = UUID(get_change_id(step))
            stored = await logical_queues.find_change(connection, change_id, self.topic_name)
            held = await logical_queues.find(connection, self.cluster_name, self.topic_name)
        moves = () if stored is None else stored.change.moves
        found = {} if held is None else {one.global_id: one for one in held.mapping.queues}
        return [
            compare(
                f"leader of logical queue {one.global_id}",
                one.relocation.destination,
                found[one.global_id].leader_name if one.global_id in found else "none",
            )
            for one in moves
        ]

    def undo(self, step: Step) -> OperationRequest:
        """Roll the change back before its commit point, or move the queues back after its end.

        Raises:
            NotUndoable: the change was not begun, or moves nothing.
        """
        if not self.moves:
            raise NotUndoable("no queue was moved")
        return self.request("move_queues", takes_back=get_change_id(step))


@dataclass(frozen=True, slots=True)
class BeginLeaving(BeginMoves):
    """Record the moves of one of the topics whose queues leave a broker group.

    `undo_kind` with `undo_parameters` is the order that takes the moves of all topics back.
    """

    tag: ClassVar[str] = "begin_leaving"

    undo_kind: str
    undo_parameters: Mapping[str, str | int]

    def undo(self, step: Step) -> OperationRequest:
        """Take back the moves of all topics.

        Raises:
            NotUndoable: the change was not begun.
        """
        change_id = get_change_id(step)
        return OperationRequest(self.undo_kind, {**self.undo_parameters, "takes_back": change_id})


@dataclass(frozen=True, slots=True)
class PrepareQueues(QueueAction):
    """Have the destination reserve physical queues (M1)."""

    tag: ClassVar[str] = "prepare_queues"

    may_redirect: bool = False

    @property
    def step(self) -> PlannedStep:
        """Name the queues."""
        named = name_queues(self.global_ids)
        return PlannedStep(f"prepare-{self.global_ids[0]}", f"Reserve a place for {named}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Reserve; the same queues again after a lost answer."""
        driver = replace(self.driver(run, context), may_redirect=self.may_redirect)
        change = await driving.prepare_queues(driver, self.global_ids)
        return value_of(change)


@dataclass(frozen=True, slots=True)
class SwitchQueues(QueueAction):
    """Seal logical queues, decide their offsets and open them at the destination (M2 to M4)."""

    tag: ClassVar[str] = "switch_queues"

    may_redirect: bool = False

    @property
    def step(self) -> PlannedStep:
        """Name the queues."""
        return PlannedStep(f"switch-{self.global_ids[0]}", f"Move {name_queues(self.global_ids)}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Move them; each begins where its move is."""
        driver = replace(self.driver(run, context), may_redirect=self.may_redirect)
        change = await switch_queues(driver, self.global_ids)
        return value_of(change)


@dataclass(frozen=True, slots=True)
class RollBackMoves(StaticTopicAction):
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
        return value_of(change)

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back the outcome of the change."""
        async with context.database.connect() as connection:
            stored = await logical_queues.find_change(
                connection, UUID(self.change_id), self.topic_name
            )
        state = None if stored is None else stored.change.state
        return [compare("change of the topic", ChangeState.ABORTED, state)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: order the move again.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("order the move again (regent topic static move)")
