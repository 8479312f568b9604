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
    QueueChange,
)
from backend.domain.logical_queue.errors import QueueChangeRefused, QueueMappingMoved
from backend.domain.logical_queue.interchange import plan_import, read_plan_file
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.planning import (
    plan_deletion,
)
from backend.domain.logical_queue.stock_json import decode_plan_file
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
from backend.services.logical_queue.importing import rebuild_topic


@dataclass(frozen=True, slots=True)
class StaticTopicAction:
    """Name the topic whose logical queues change."""

    cluster_name: str
    topic_name: str

    async def read(self, context: OperationContext) -> Value:
        """Read the epoch of the topic, and its unfinished change; None without the topic."""
        async with context.database.connect() as connection:
            held = await logical_queues.find(connection, self.cluster_name, self.topic_name)
        if held is None:
            return None
        change = None if held.unfinished is None else value_of(held.unfinished.change)
        return {"epoch": str(held.mapping.epoch), "change": change}

    async def ask_holders(self, context: OperationContext) -> TopicHolders:
        """Ask the masters of the cluster for the topic."""
        return await ask_holders(
            self.cluster_name,
            self.topic_name,
            database=context.database,
            brokers=context.brokers,
        )

    async def begin(self, run: StepRun, epoch: int, plan: Plan, context: OperationContext) -> Value:
        """Record the change that the plan makes from the mapping of the planned epoch (M0).

        Raises:
            QueueMappingMoved: the mapping has another epoch. QueueChangeRefused: another change of
            the topic is unfinished, or the plan refuses.
        """

        def plan_present(present: TopicMapping) -> QueueChange:
            check_epoch(present, epoch)
            return plan(present)

        change = await begin_change(
            run.operation.id,
            self.cluster_name,
            self.topic_name,
            plan_present,
            database=context.database,
            clock=context.clock,
            guard=run.guard,
        )
        return begun_value(run, change)

    async def begin_topic(
        self, run: StepRun, change: QueueChange, context: OperationContext
    ) -> Value:
        """Record a topic that Postgres does not have, with its change (M0).

        Raises:
            StaticTopicExists: there is a static topic of the name.
        """
        begun = await begin_creation(
            run.operation.id,
            self.cluster_name,
            change,
            database=context.database,
            clock=context.clock,
            guard=run.guard,
        )
        return begun_value(run, begun)

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

    def request(self, kind: str, **parameters: Any) -> OperationRequest:
        """Return an order for the same topic."""
        named = {"cluster_name": self.cluster_name, "topic_name": self.topic_name}
        return OperationRequest(kind, {**named, **parameters})


def begun_value(run: StepRun, change: QueueChange) -> Value:
    """Return the journal's value of a change that was begun."""
    return {"change_id": str(run.operation.id), **value_of(change)}


def get_change_id(step: Step) -> str:
    """Return the id of the change that a step began.

    Raises:
        NotUndoable: it began none.
    """
    change_id: str | None = (step.after or {}).get("change_id")
    if change_id is None:
        raise NotUndoable("no queue was moved")
    return change_id


def value_of(change: QueueChange) -> Mapping[str, Any]:
    """Return the journal's value of a change."""
    return {
        "kind": change.kind,
        "epoch": str(change.epoch),
        "state": change.state,
        "queues": {str(one.global_id): one.step for one in change.moves},
        "converged": sorted(change.converged),
        "stale": sorted(change.stale),
    }


@dataclass(frozen=True, slots=True)
class BeginImport(StaticTopicAction):
    """Record the mapping of a file, or without one that of the brokers (M0).

    `epoch` is that of the mapping in the database; None if it has no such topic.
    """

    tag: ClassVar[str] = "begin_static_import"

    document: str | None
    force: bool
    epoch: int | None

    @property
    def step(self) -> PlannedStep:
        """Say where the mapping comes from."""
        source = "the brokers" if self.document is None else "the file"
        return PlannedStep("begin", f"Record the mapping of {source}")

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Record it, if the topic is as it was planned."""
        holders = await self.ask_holders(context)
        if self.epoch is None:
            return await self.begin_topic(run, self.plan(None, holders, context), context)

        def plan(present: TopicMapping) -> QueueChange:
            return self.plan(present, holders, context)

        return await self.begin(run, self.epoch, plan, context)

    def plan(
        self, present: TopicMapping | None, holders: TopicHolders, context: OperationContext
    ) -> QueueChange:
        """Plan the change of the file, or the mapping of the brokers.

        Raises:
            InvalidQueueMapping: the file is malformed. QueueMappingBroken: the mapping breaks an
            invariant, or a broker group does not answer. QueueChangeRefused: the file is of another
            topic, or is refused.
        """
        if self.document is None:
            if present is not None:
                raise QueueChangeRefused(self.topic_name, "its mapping is not lost")
            return rebuild_topic(self.topic_name, holders)
        file = decode_plan_file(self.document)
        if file.topic_name != self.topic_name:
            raise QueueChangeRefused(self.topic_name, f"the file is of topic {file.topic_name!r}")
        return plan_import(
            read_plan_file(file),
            present,
            holders.copies,
            names=holders.groups.names,
            now_ms=context.clock.now_ms(),
            is_forced=self.force,
        )

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that the topic is there; the last step compares it with the brokers."""
        mapping = await self.find_mapping(context)
        found = "none" if mapping is None else mapping.topic_name
        return [compare("static topic", self.topic_name, found)]

    def undo(self, step: Step) -> OperationRequest:
        """Roll moves of the file back before their commit point, or move the queues back.

        Raises:
            NotUndoable: the file has no moves.
        """
        if not (step.after or {}).get("queues"):
            raise NotUndoable("a mapping is not taken back")
        return self.request("move_queues", takes_back=get_change_id(step))


@dataclass(frozen=True, slots=True)
class BeginDeletion(StaticTopicAction):
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
            now_ms = context.clock.now_ms()
            return plan_deletion(present, bounds, now_ms=now_ms, is_purge=self.purge)

        return await self.begin(run, self.epoch, plan, context)

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
class QueueAction(Consequence, StaticTopicAction):
    """Name the logical queues that take a step together."""

    global_ids: tuple[int, ...]

    async def verify(self, _step: Step, _context: OperationContext) -> Sequence[ReadBack]:
        """Read nothing back: the first step reads back the leader of each queue."""
        return []


@dataclass(frozen=True, slots=True)
class SpreadMapping(Consequence, StaticTopicAction):
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
        return value_of(change)

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
class DeleteQueues(Consequence, StaticTopicAction):
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
        return value_of(change)

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
    raise Waiting(f"no master is online of {shortened(left)}", value_of(change))


def count_queues(count: int) -> str:
    """Count logical queues, in words."""
    return f"{count} logical queue{'' if count == 1 else 's'}"


def name_queues(global_ids: Sequence[int]) -> str:
    """Name logical queues."""
    noun = "logical queue" if len(global_ids) == 1 else "logical queues"
    return f"{noun} {shortened(map(str, global_ids))}"
