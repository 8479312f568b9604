"""Create, change and delete a consumer group on a master."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from backend.brokers.asking import Inquiry
from backend.brokers.change import Change, Fence
from backend.brokers.requests.consumer_groups import (
    DeleteSubscriptionGroup,
    GetGroupSettings,
    UpdateAndCreateSubscriptionGroup,
    settings_of,
)
from backend.domain.consumer_group import GroupSettings
from backend.domain.operation import Step
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep
from backend.operations.actions.placed import PlacedAction, put_step
from backend.operations.engine.kind import OperationContext, OperationRequest


@dataclass(frozen=True, slots=True)
class _ConsumerGroupAction(PlacedAction[GroupSettings]):
    """Change how a master serves a consumer group."""

    noun: ClassVar[str] = "group"

    consumer_group_name: str

    @property
    def inquiry(self) -> Inquiry[GroupSettings | None]:
        """Ask for the settings of the consumer group."""
        return GetGroupSettings(self.consumer_group_name)

    def from_wire(self, value: Any) -> GroupSettings | None:
        """Read the settings that an agent gives."""
        return None if value is None else settings_of(value)

    def _request(self, kind: str, **parameters: Any) -> OperationRequest:
        named = {"cluster_name": self.cluster_name, "consumer_group_name": self.consumer_group_name}
        return OperationRequest(kind, {**named, **parameters})

    def _former(self, step: Step) -> list[dict[str, Any]]:
        return [{"broker_group_name": self.broker_group_name, "settings": step.before}]


@dataclass(frozen=True, slots=True)
class PutConsumerGroup(_ConsumerGroupAction):
    """Create or change a consumer group on a master; `is_new` if the master did not know it."""

    tag: ClassVar[str] = "put_consumer_group"

    settings: GroupSettings
    is_new: bool

    @property
    def step(self) -> PlannedStep:
        """Say where the consumer group is put."""
        return put_step(self.broker_group_name, is_new=self.is_new)

    @property
    def intended(self) -> GroupSettings | None:
        """Return the settings that the master shall have."""
        return self.settings

    def comparable(self, found: GroupSettings | None) -> GroupSettings | None:
        """Leave out values that the order does not set: they have the defaults of the broker."""
        if found is None:
            return None
        asked = self.settings.others
        return replace(found, others={k: v for k, v in found.others.items() if k in asked})

    async def change(self, _context: OperationContext, fence: Fence) -> Change:
        """Put the consumer group."""
        return UpdateAndCreateSubscriptionGroup(
            consumer_group=self.consumer_group_name, settings=self.settings, fence=fence
        )

    def undo(self, step: Step) -> OperationRequest:
        """Delete the group where it was created, and restore its former settings elsewhere.

        Raises:
            NotUndoable: the object existed although it was planned as new, or did not exist.
        """
        if self.is_new is not (step.before is None):
            raise NotUndoable("no broker was changed")
        if self.is_new:
            return self._request("delete_consumer_group", broker_groups=[self.broker_group_name])
        return self._request("change_consumer_group", settings=self._former(step))


@dataclass(frozen=True, slots=True)
class DeleteConsumerGroup(_ConsumerGroupAction):
    """Delete a consumer group on a master, perhaps with its offsets."""

    tag: ClassVar[str] = "delete_consumer_group"

    cleans_offsets: bool = False

    @property
    def step(self) -> PlannedStep:
        """Say where the consumer group is deleted."""
        return PlannedStep(
            f"delete-{self.broker_group_name}", f"Delete it on {self.broker_group_name}"
        )

    @property
    def intended(self) -> GroupSettings | None:
        """Return None: the consumer group is deleted."""
        return None

    async def change(self, _context: OperationContext, fence: Fence) -> Change:
        """Delete the consumer group."""
        return DeleteSubscriptionGroup(
            consumer_group=self.consumer_group_name,
            cleans_offsets=self.cleans_offsets,
            fence=fence,
        )

    def undo(self, step: Step) -> OperationRequest:
        """Create it again with its former settings.

        Raises:
            NotUndoable: the master knew no such group.
        """
        if step.before is None:
            raise NotUndoable("no broker was changed")
        return self._request("create_consumer_group", settings=self._former(step))
