"""Define a kind of operation for the engine, and the arguments of its functions."""

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


class Unfinished(Exception):
    """A step could not end now; it is repeated later."""


class Waiting(Exception):
    """A step waits for others, and has no effect that a pause or an end would interrupt.

    It is repeated a moment later, without a limit. Meanwhile the operation can be paused and
    cancelled. The journal records `progress`.
    """

    def __init__(self, reason: str, progress: Value) -> None:
        super().__init__(reason)
        self.progress = progress


class Order(Protocol):
    """The parameters of a kind: a frozen dataclass of JSON values."""

    @property
    def cluster_name(self) -> str:
        """Return the name of the cluster to change."""
        ...

    @property
    def target(self) -> str:
        """Return the name of the object to change, as an operator types it to confirm."""
        ...


@dataclass(frozen=True, slots=True)
class OperationContext:
    """Hold the dependencies of operations."""

    database: Database
    clock: Clock
    task_queue: TaskQueue
    controller: Controller
    # The name of the process in the audit entries of steps.
    process_name: str = "worker"
    # The lowest risk class that needs the approval of another user.
    second_person: SecondPerson = SecondPerson.NONE
    # How long an ended lease is watched before its operation is taken over.
    lease_watch_s: float = 0.0

    @property
    def brokers(self) -> Brokers:
        """Return the client for requests to brokers."""
        brokers = self.controller.brokers
        assert brokers is not None, "processes that plan or carry out operations reach brokers"
        return brokers


@dataclass(frozen=True, slots=True)
class StepRun:
    """Hold one attempt at a step: its operation, its fencing number and the value before it.

    `key` is the same for every attempt at the step, so it identifies the effect of the step.
    `is_repeated` means that an earlier attempt had begun, and may have had its effect.
    """

    operation: Operation
    position: int
    fence: int
    before: Value
    is_repeated: bool = False

    @property
    def key(self) -> str:
        """Return the key of the effect of the step."""
        return f"operation {self.operation.id}/{self.position}"

    @property
    def cause(self) -> str:
        """Return the cause for histories; it is the same for every attempt."""
        return f"{self.key} of {self.operation.confirmed_by}"

    async def guard(self, connection: Connection) -> None:
        """Lock the operation until a transaction ends, so that no worker takes it over meanwhile.

        Raises:
            OperationFenced: another worker has taken it over.
        """
        check_fence(await operations.lock(connection, self.operation.id), self.fence)


@dataclass(frozen=True, slots=True)
class Effect:
    """Hold the values before and after a step, as the broker reported them with the change.

    Between the read before a step and the step itself, the value may have been changed by others.
    """

    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class OperationRequest:
    """Ask for an operation of a kind; `undoes` is the operation that it undoes.

    `version` is the version of the edited object that the caller has read.
    """

    kind: str
    parameters: Mapping[str, Any]
    undoes: UUID | None = None
    version: str | None = None


class Action(Protocol):
    """One step of an operation: a frozen dataclass of JSON values.

    A plan stores its actions, so that any worker can carry them out later without a new plan. `tag`
    is the name of the action in the journal, and never changes.
    """

    tag: ClassVar[str]

    @property
    def step(self) -> PlannedStep:
        """Return the name of the step, unique in its plan, and its effect as a sentence."""
        ...

    async def read(self, context: OperationContext) -> Value:
        """Read the value that the step changes."""
        ...

    async def do(self, run: StepRun, context: OperationContext) -> Value | Effect:
        """Change the value, and return the value after the change, or both values.

        It may be called again after an attempt that was interrupted at any point: it checks whether
        it already had its effect. It raises a refusal before any effect, and `Unfinished` after a
        part of the effect.
        """
        ...

    async def verify(self, step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read the value back after the last step of the operation, to check the effect."""
        ...

    def undo(self, step: Step) -> OperationRequest:
        """Return the order that undoes a step that is done, or may be done.

        Raises:
            NotUndoable: the step can't be undone, or it has changed nothing.
        """
        ...


class Consequence:
    """An action that follows from the first action of its plan, and is undone with it."""

    __slots__ = ()

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse, since the undo of the first action includes this one.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("it follows from the first step")


@dataclass(frozen=True, slots=True)
class Facts(Generic[SeenT]):
    """Hold the facts of a plan; they are compared until its first step.

    `checks` are the checks that may forbid the plan later, for example if a member connects. Values
    that only the preview shows are not read with the facts: a page compares the facts every few
    seconds.
    """

    seen: SeenT
    preconditions: tuple[Precondition, ...]
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """Hold a kind of operation: its parameters, its planning and its actions.

    `facts` reads the facts of a plan. `preview` makes the plan from them, and reads further values
    for people. `version` reads the present version of the edited object; kinds that edit nothing
    have none. `settle` replaces values that an order leaves open until the plan, such as the
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
            DomainError: the object to change does not exist.
        """
        if self.settle is None:
            return order
        settled: Order = await self.settle(order, context)
        return settled

    async def make_plan(
        self, order: Order, context: OperationContext, *, version: str | None
    ) -> Plan:
        """Plan an order, if the edited object still has the version that the caller read.

        The version is compared after the plan is made. So an earlier change is reported here, and a
        later change by the facts of the plan.

        Raises:
            VersionMoved: the version has changed. InvalidParameters: the kind edits no object with
            a version.
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
        """Read parameters from their JSON form.

        Raises:
            InvalidParameters: one is missing, unknown or of the wrong type, or can't be kept.
        """
        order: Order = read_order(self.order_type, parameters)
        return order


Kinds = Mapping[str, Kind]
