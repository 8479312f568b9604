"""Change what a master holds under a name: the part that topics and consumer groups share."""

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
    """Stand for how a master holds something: a dataclass that can be written in one line."""

    @property
    def text(self) -> str:
        """Write it, the same for the same values."""
        ...


HeldT = TypeVar("HeldT", bound=Held)


def held_text(held: Held | None) -> str:
    """Write how a master holds something; None is not at all."""
    return "none" if held is None else held.text


def value_of(held: Any) -> Value:
    """Return what the journal keeps of how a master holds something."""
    return None if held is None else dataclasses.asdict(held)


def put_step(broker_group_name: str, *, is_new: bool) -> PlannedStep:
    """Name the step that creates or changes a resource on the master of a broker group."""
    verb = "create" if is_new else "change"
    return PlannedStep(f"{verb}-{broker_group_name}", f"{verb.title()} it on {broker_group_name}")


@dataclass(frozen=True, slots=True)
class PlacedAction(ABC, Generic[HeldT]):
    """Change on one master what it holds under a name; doing it twice is harmless."""

    noun: ClassVar[str]

    cluster_name: str
    broker_group_name: str
    address: str

    @property
    @abstractmethod
    def intended(self) -> HeldT | None:
        """Return how the master shall hold it; None is not at all."""

    @property
    @abstractmethod
    def inquiry(self) -> Inquiry[HeldT | None]:
        """Return what asks a master how it holds it."""

    @abstractmethod
    async def change(self, context: OperationContext, fence: Fence) -> Change:
        """Return the request that has the master change it."""

    @abstractmethod
    def from_wire(self, value: Any) -> HeldT | None:
        """Read how an agent says that it holds it."""

    @property
    def what(self) -> str:
        """Name what is read back."""
        return f"{self.noun} on {self.broker_group_name}"

    def comparable(self, found: HeldT | None) -> HeldT | None:
        """Return what of the answer is to be compared with what was intended."""
        return found

    async def ask(self, context: OperationContext) -> HeldT | None:
        """Ask the master how it holds it."""
        return await context.brokers.ask(self.address, self.inquiry)

    async def read(self, context: OperationContext) -> Value:
        """Read how the master holds it."""
        return value_of(await self.ask(context))

    async def do(self, run: StepRun, context: OperationContext) -> Value | Effect:
        """Change it; an agent refuses an attempt that was overtaken."""
        change = await self.change(context, fence_of(run))
        answer = await context.brokers.ask(self.address, change)
        if answer is None:
            return await self.read(context)
        return Effect(
            value_of(self.from_wire(answer.before)), value_of(self.from_wire(answer.after))
        )

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back how the master holds it."""
        try:
            observed = held_text(self.comparable(await self.ask(context)))
        except NoAnswer:
            return [compare(self.what, held_text(self.intended), None)]
        return [compare(self.what, held_text(self.intended), observed)]
