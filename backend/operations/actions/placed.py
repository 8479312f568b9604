"""Change a named object on a master: the common part of topics and consumer groups."""

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from backend.brokers.asking import Inquiry
from backend.brokers.change import Change, Fence
from backend.brokers.errors import NoAnswer
from backend.domain.operation import Step, Value
from backend.domain.plan import PlannedStep, ReadBack
from backend.operations.engine.kind import Effect, OperationContext, StepRun
from backend.operations.planning.broker_steps import fence_of
from backend.operations.planning.groups import compare


class Held(Protocol):
    """The state of an object on a master: a dataclass that can be written in one line."""

    @property
    def text(self) -> str:
        """Write the state, the same for the same values."""
        ...


HeldT = TypeVar("HeldT", bound=Held)


def held_text(held: Held | None) -> str:
    """Write the state of an object on a master; None means absent."""
    return "none" if held is None else held.text


def value_of(held: Any) -> Value:
    """Return the value for the journal of the state of an object."""
    return None if held is None else dataclasses.asdict(held)


def put_step(broker_group_name: str, *, is_new: bool) -> PlannedStep:
    """Name the step that creates or changes a resource on the master of a broker group."""
    verb = "create" if is_new else "change"
    return PlannedStep(f"{verb}-{broker_group_name}", f"{verb.title()} it on {broker_group_name}")


@dataclass(frozen=True, slots=True)
class PlacedAction(ABC, Generic[HeldT]):
    """Change a named object on one master; a second attempt is harmless."""

    noun: ClassVar[str]

    cluster_name: str
    broker_group_name: str
    address: str

    @property
    @abstractmethod
    def intended(self) -> HeldT | None:
        """Return the intended state on the master; None means absent."""

    @property
    @abstractmethod
    def inquiry(self) -> Inquiry[HeldT | None]:
        """Return the request that reads the state from a master."""

    @abstractmethod
    async def change(self, context: OperationContext, fence: Fence) -> Change:
        """Return the request that changes the object on the master."""

    @abstractmethod
    def from_wire(self, value: Any) -> HeldT | None:
        """Read the state that an agent reports."""

    @property
    def what(self) -> str:
        """Name the value that is read back."""
        return f"{self.noun} on {self.broker_group_name}"

    def comparable(self, found: HeldT | None) -> HeldT | None:
        """Return the part of the answer to compare with the intended state."""
        return found

    async def ask(self, context: OperationContext) -> HeldT | None:
        """Ask the master for the state."""
        return await context.brokers.ask(self.address, self.inquiry)

    async def read(self, context: OperationContext) -> Value:
        """Read the state on the master."""
        return value_of(await self.ask(context))

    async def do(self, run: StepRun, context: OperationContext) -> Value | Effect:
        """Change the object; an agent refuses an attempt with an older fencing number."""
        change = await self.change(context, fence_of(run))
        answer = await context.brokers.ask(self.address, change)
        if answer is None:
            return await self.read(context)
        return Effect(
            value_of(self.from_wire(answer.before)), value_of(self.from_wire(answer.after))
        )

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the state on the master."""
        try:
            observed = held_text(self.comparable(await self.ask(context)))
        except NoAnswer:
            return [compare(self.what, held_text(self.intended), None)]
        return [compare(self.what, held_text(self.intended), observed)]
