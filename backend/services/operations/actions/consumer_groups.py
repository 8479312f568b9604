"""Put a consumer group on a master, and delete it there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from backend.clients.broker_changes import Told, settings_of
from backend.domain.consumer_group import GroupSettings
from backend.domain.operation import Step
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep
from backend.services.operations.actions.placed import PlacedAction, put_step
from backend.services.operations.kind import OperationContext, OperationRequest


@dataclass(frozen=True, slots=True)
class _ConsumerGroupAction(PlacedAction[GroupSettings]):
    """Change how a master serves a consumer group."""

    noun: ClassVar[str] = "group"

    consumer_group_name: str

    async def ask(self, context: OperationContext) -> GroupSettings | None:
        """Ask the master for its settings of the consumer group."""
        return await context.brokers.group_settings(self.address, self.consumer_group_name)

    def from_wire(self, told: Any) -> GroupSettings | None:
        """Read the settings that an agent gives."""
        return None if told is None else settings_of(told)

    def _request(self, kind: str, **parameters: Any) -> OperationRequest:
        named = {"cluster_name": self.cluster_name, "group_name": self.consumer_group_name}
        return OperationRequest(kind, {**named, **parameters})

    def _former(self, step: Step) -> list[dict[str, Any]]:
        return [{"group_name": self.broker_group_name, "settings": step.before}]


@dataclass(frozen=True, slots=True)
class PutConsumerGroup(_ConsumerGroupAction):
    """Have a master serve a consumer group so; `is_new` where it knew none before."""

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
        """Leave out what was not asked for: that has the broker's defaults."""
        if found is None:
            return None
        asked = self.settings.others
        return replace(found, others={k: v for k, v in found.others.items() if k in asked})

    async def send(self, context: OperationContext, fence: Mapping[str, str]) -> Told | None:
        """Put the consumer group."""
        return await context.brokers.put_group(
            self.address, self.consumer_group_name, self.settings, fence
        )

    def undo(self, step: Step) -> OperationRequest:
        """Delete it where it was created, and give it its former settings elsewhere.

        Raises:
            NotUndoable: what was planned to be new was there, or what was to change was not.
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
        """Return none: the consumer group goes."""
        return None

    async def send(self, context: OperationContext, fence: Mapping[str, str]) -> Told | None:
        """Delete the consumer group."""
        return await context.brokers.delete_group(
            self.address, self.consumer_group_name, fence, cleans_offsets=self.cleans_offsets
        )

    def undo(self, step: Step) -> OperationRequest:
        """Create it again with its former settings.

        Raises:
            NotUndoable: the master knew no such group.
        """
        if step.before is None:
            raise NotUndoable("no broker was changed")
        return self._request("create_consumer_group", settings=self._former(step))
