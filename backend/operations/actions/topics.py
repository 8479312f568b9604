"""Create, change and delete a topic on a master, and remove it from the routes."""

from dataclasses import dataclass
from typing import Any, ClassVar

from backend.brokers.asking import Inquiry
from backend.brokers.change import Change, Fence
from backend.brokers.requests.topics import (
    DeleteTopicInBroker,
    GetTopicLayout,
    UpdateAndCreateTopic,
    reported_layout,
)
from backend.db import topics as topic_rows
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep, ReadBack
from backend.domain.topic_layout import TopicLayout
from backend.operations.actions.placed import PlacedAction, put_step
from backend.operations.engine.kind import Consequence, OperationContext, OperationRequest, StepRun
from backend.operations.planning.groups import compare
from backend.services.topic import topics


@dataclass(frozen=True, slots=True)
class _TopicAction(PlacedAction[TopicLayout]):
    """Change a topic on a master."""

    noun: ClassVar[str] = "topic"

    topic_name: str

    @property
    def inquiry(self) -> Inquiry[TopicLayout | None]:
        """Ask for the layout of the topic."""
        return GetTopicLayout(self.topic_name)

    def from_wire(self, value: Any) -> TopicLayout | None:
        """Read the layout that an agent gives."""
        return reported_layout(value)

    def _request(self, kind: str, **parameters: Any) -> OperationRequest:
        named = {"cluster_name": self.cluster_name, "topic_name": self.topic_name}
        return OperationRequest(kind, {**named, **parameters})


@dataclass(frozen=True, slots=True)
class PutTopic(_TopicAction):
    """Create or change a topic on a master; `is_new` if the master did not have it."""

    tag: ClassVar[str] = "put_topic"

    layout: TopicLayout
    is_new: bool

    @property
    def step(self) -> PlannedStep:
        """Say where the topic is put."""
        return put_step(self.broker_group_name, is_new=self.is_new)

    @property
    def intended(self) -> TopicLayout | None:
        """Return the layout that the master shall have."""
        return self.layout

    async def change(self, context: OperationContext, fence: Fence) -> Change:
        """Put the topic, with its attributes as changes of those that it has now."""
        return UpdateAndCreateTopic(
            topic=self.topic_name,
            layout=self.layout,
            former=await self.ask(context),
            fence=fence,
        )

    def undo(self, step: Step) -> OperationRequest:
        """Delete the topic where it was created, if it is empty; restore the layout elsewhere.

        Raises:
            NotUndoable: the object existed although it was planned as new, or did not exist.
        """
        if self.is_new is not (step.before is None):
            raise NotUndoable("no broker was changed")
        if self.is_new:
            return self._request(
                "delete_topic", broker_groups=[self.broker_group_name], only_empty=True
            )
        former = {"broker_group_name": self.broker_group_name, "layout": step.before}
        return self._request("change_topic", layouts=[former])


@dataclass(frozen=True, slots=True)
class DeleteTopic(_TopicAction):
    """Delete a topic on a master; if it is already absent, there is nothing to do.

    `leftover` is the word for a topic that belongs to a consumer group and is deleted with it.
    """

    tag: ClassVar[str] = "delete_topic"

    only_empty: bool = False
    leftover: str | None = None

    @property
    def step(self) -> PlannedStep:
        """Say where the topic is deleted."""
        what = "it" if self.leftover is None else self.topic_name
        return PlannedStep(
            f"{self.leftover or 'delete'}-{self.broker_group_name}",
            f"Delete {what} on {self.broker_group_name}",
        )

    @property
    def what(self) -> str:
        """Name the value that is read back."""
        noun = self.noun if self.leftover is None else self.topic_name
        return f"{noun} on {self.broker_group_name}"

    @property
    def intended(self) -> TopicLayout | None:
        """Return None: the topic is deleted."""
        return None

    async def change(self, _context: OperationContext, fence: Fence) -> Change:
        """Delete the topic."""
        return DeleteTopicInBroker(topic=self.topic_name, only_empty=self.only_empty, fence=fence)

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: deleted messages can't be restored.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable(
            "its messages are lost; regent topic create creates an empty topic of the name"
        )


@dataclass(frozen=True, slots=True)
class RemoveRoutes(Consequence):
    """Remove the placements of a topic on broker groups from the name servers."""

    tag: ClassVar[str] = "remove_routes"

    cluster_name: str
    topic_name: str
    broker_group_names: tuple[str, ...]
    leftover: str | None = None

    @property
    def step(self) -> PlannedStep:
        """Say which topic is removed from the routes."""
        return PlannedStep(
            "routes" if self.leftover is None else f"{self.leftover}-routes",
            f"Take {'it' if self.leftover is None else self.topic_name} out of the routes",
        )

    async def read(self, context: OperationContext) -> Value:
        """Read which of the broker groups hold the topic, by the records."""
        return {"groups": await self._routed(context)}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Remove the placements, unless the operation was taken over.

        A replaced worker could remove a topic that has been created again with this name.
        """
        await topics.forget_placements(
            self.cluster_name,
            self.topic_name,
            self.broker_group_names,
            database=context.database,
            clock=context.clock,
            guard=run.guard,
        )
        return await self.read(context)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that the records hold none of them."""
        routes = "the routes" if self.leftover is None else f"the routes of {self.topic_name}"
        return [compare(f"groups in {routes}", "none", await self._routed(context))]

    async def _routed(self, context: OperationContext) -> str:
        async with context.database.connect() as connection:
            placed = await topic_rows.list_groups_of(connection, self.cluster_name, self.topic_name)
        return ", ".join(one for one in placed if one in self.broker_group_names) or "none"
