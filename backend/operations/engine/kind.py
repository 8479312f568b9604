"""Say what a kind of operation is to the engine, and what its functions are given."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from uuid import UUID

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.clients.task_queue import TaskQueue
from backend.db import operations
from backend.db.engine import Connection, Database
from backend.domain.operation import Operation, Step, Value
from backend.domain.operation_approval import SecondPerson
from backend.domain.operation_errors import InvalidParameters, NotUndoable
from backend.domain.operation_run import check_fence
from backend.domain.plan import Check, Plan, PlannedStep, Precondition, ReadBack
from backend.domain.version import check_version
from backend.operations.engine.order_schema import read_order
from backend.services.controller.group_changes import Controller

SeenT = TypeVar("SeenT")


class Unfinished(Exception):  # noqa: N818 - says what happened
    """A step could not be brought to its end now; it is begun again later."""


class Waiting(Exception):  # noqa: N818 - says what happened
    """A step waits for others, and has brought nothing about that a pause or an end would cut off.

    It is begun again a moment later, as often as need be; until then the operation can be paused
    and cancelled. `progress` says in the journal how far what it waits for is.
    """

    def __init__(self, reason: str, progress: Value) -> None:
        super().__init__(reason)
        self.progress = progress


class Order(Protocol):
    """Stand for the parameters of a kind: a frozen dataclass of what JSON can hold."""

    @property
    def cluster_name(self) -> str:
        """Name the cluster that is changed."""
        ...

    @property
    def target(self) -> str:
        """Name what is changed, as an operator types it to confirm."""
        ...


@dataclass(frozen=True, slots=True)
class OperationContext:
    """Hold what operations are planned and carried out with."""

    database: Database
    clock: Clock
    task_queue: TaskQueue
    controller: Controller
    # Says in the audit which process carries steps out.
    process_name: str = "worker"
    # From which risk class on what was confirmed waits for somebody else's approval.
    second_person: SecondPerson = SecondPerson.NONE
    # For so long a lease that has run out is watched before its operation is taken over.
    lease_watch_s: float = 0.0

    @property
    def brokers(self) -> Brokers:
        """Return whom brokers are asked through."""
        brokers = self.controller.brokers
        assert brokers is not None, "processes that plan or carry out operations reach brokers"
        return brokers


@dataclass(frozen=True, slots=True)
class StepRun:
    """Hold one attempt at a step: whose it is, its fencing number and the value before it.

    `key` is the same for every attempt at the step, so that an effect can be told from another's.
    `is_repeated` says that an attempt before it was begun, which may have had its effect.
    """

    operation: Operation
    position: int
    fence: int
    before: Value
    is_repeated: bool = False

    @property
    def key(self) -> str:
        """Name the effect of the step."""
        return f"operation {self.operation.id}/{self.position}"

    @property
    def cause(self) -> str:
        """Say in a history who wanted the effect; the same for every attempt."""
        return f"{self.key} of {self.operation.confirmed_by}"

    async def guard(self, connection: Connection) -> None:
        """Hold the operation until a transaction ends, so that nobody takes it over meanwhile.

        Raises:
            OperationFenced: somebody has.
        """
        check_fence(await operations.lock(connection, self.operation.id), self.fence)


@dataclass(frozen=True, slots=True)
class Effect:
    """Hold the values around a step as they were told by whoever carried it out, in the same turn.

    Between the read before a step and the step itself others may have changed the value.
    """

    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class OperationRequest:
    """Ask for an operation of a kind; `undoes` names the one that it takes back.

    `version` is that of what is edited, as whoever asks has seen it.
    """

    kind: str
    parameters: Mapping[str, Any]
    undoes: UUID | None = None
    version: str | None = None


class Action(Protocol):
    """Do one step of an operation: a frozen dataclass of what JSON can hold.

    A plan keeps its actions, so that any worker can carry them out later without planning again.
    `tag` names the action in the journal and never changes.
    """

    tag: ClassVar[str]

    @property
    def step(self) -> PlannedStep:
        """Name the step as no other of its plan, and say in a sentence what it does."""
        ...

    async def read(self, context: OperationContext) -> Value:
        """Read the value that the step changes."""
        ...

    async def do(self, run: StepRun, context: OperationContext) -> Value | Effect:
        """Change it, and return the value after it, or the values on both sides.

        It may be called again after an attempt that was cut off anywhere: it finds out whether its
        effect is there already. What it refuses, it raises before it had any effect; behind a part
        of it, it is `Unfinished`.
        """
        ...

    async def verify(self, step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back, after the last step of the operation, whether the effect is there."""
        ...

    def undo(self, step: Step) -> OperationRequest:
        """Ask for what takes a step back that is done, or may be.

        Raises:
            NotUndoable: nothing takes it back, or it has changed nothing.
        """
        ...


class Consequence:
    """Be an action that follows from the first of its plan, and is taken back with that."""

    __slots__ = ()

    def undo(self, _step: Step) -> OperationRequest:
        """Leave it to the first action.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("it follows from the first step")


@dataclass(frozen=True, slots=True)
class Facts(Generic[SeenT]):
    """Hold the facts that a plan is made from; they are compared until its first step.

    `checks` are those that may forbid the plan later, as a member that connects. What only the
    preview shows is not read with the facts: a page compares them every few seconds.
    """

    seen: SeenT
    preconditions: tuple[Precondition, ...]
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """Hold a kind of operation: its parameters, how it is planned, and of which actions.

    `facts` reads what a plan is made from. `preview` makes the plan of it, and asks for whatever
    else people want to see. `version` reads the present version of what the kind edits; kinds that
    edit nothing have none. `settle` replaces what an order leaves to the moment of the plan, as the
    present master.
    """

    name: str
    order_type: type[Any]
    facts: Callable[[Any, OperationContext], Awaitable[Facts[Any]]]
    preview: Callable[[Any, Facts[Any], OperationContext], Awaitable[Plan]]
    actions: tuple[type[Action], ...]
    version: Callable[[Any, OperationContext], Awaitable[str]] | None = None
    settle: Callable[[Any, OperationContext], Awaitable[Any]] | None = None

    async def settled(self, order: Order, context: OperationContext) -> Order:
        """Return the order as it is planned and recorded.

        Raises:
            DomainError: what is to be changed is not there.
        """
        if self.settle is None:
            return order
        settled: Order = await self.settle(order, context)
        return settled

    async def make_plan(
        self, order: Order, context: OperationContext, *, version: str | None
    ) -> Plan:
        """Plan an order, if what it edits is still of the version that was seen.

        It is compared behind the plan, so that what moves before is told here, and what moves
        later by the facts of the plan.

        Raises:
            VersionMoved: it is not.
            InvalidParameters: the kind edits nothing that has a version.
        """
        found = await self.facts(order, context)
        made = await self.preview(order, found, context)
        if version is not None:
            if self.version is None:
                raise InvalidParameters(self.name, "it edits nothing that has a version")
            present = await self.version(order, context)
            check_version(order.target, present, expected=version)
        return replace(made, preconditions=found.preconditions)

    def read_order(self, parameters: Mapping[str, Any]) -> Order:
        """Read parameters as they travel.

        Raises:
            InvalidParameters: one is missing, unknown or of the wrong type, or can't be kept.
        """
        order: Order = read_order(self.order_type, parameters)
        return order


Kinds = Mapping[str, Kind]
