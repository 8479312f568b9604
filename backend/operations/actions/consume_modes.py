"""Set how a consumer group receives a topic on a master."""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from backend.brokers.asking import Inquiry
from backend.brokers.change import Change, Fence
from backend.brokers.requests.consume_modes import (
    GetConsumeMode,
    PutConsumeMode,
    consume_setting_of,
)
from backend.domain.operation import Step
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import PlannedStep
from backend.domain.share_queue import ConsumeMode, ConsumeSetting
from backend.operations.actions.placed import PlacedAction, value_of
from backend.operations.engine.kind import OperationContext, OperationRequest
from backend.remoting.bodies import RequestModeBody

UNSET = ConsumeSetting(ConsumeMode.PULL)
"""How a group receives a topic without a setting. No request removes a setting."""


@dataclass(frozen=True, slots=True)
class PutMode(PlacedAction[ConsumeSetting]):
    """Set the mode on a master."""

    tag: ClassVar[str] = "put_consume_mode"
    noun: ClassVar[str] = "consume mode"

    consumer_group_name: str
    topic_name: str
    setting: ConsumeSetting

    @property
    def step(self) -> PlannedStep:
        """Say which mode is set, and where."""
        name = self.broker_group_name
        return PlannedStep(f"set-{name}", f"Set {self.setting.text} on {name}")

    @property
    def intended(self) -> ConsumeSetting | None:
        """Return the mode that the master shall have."""
        return self.setting

    @property
    def inquiry(self) -> Inquiry[ConsumeSetting | None]:
        """Ask for the mode."""
        return GetConsumeMode(self.topic_name, self.consumer_group_name)

    async def change(self, _context: OperationContext, fence: Fence) -> Change:
        """Set the mode."""
        return PutConsumeMode(
            topic=self.topic_name,
            consumer_group=self.consumer_group_name,
            setting=self.setting,
            fence=fence,
        )

    def from_wire(self, value: Any) -> ConsumeSetting | None:
        """Read the mode that an agent gives."""
        return (
            None if value is None else consume_setting_of(msgspec.convert(value, RequestModeBody))
        )

    def undo(self, step: Step) -> OperationRequest:
        """Set the former mode; PULL where none was set.

        Raises:
            NotUndoable: the master had this mode before.
        """
        former = step.before or dataclasses.asdict(UNSET)
        if former == value_of(self.setting):
            raise NotUndoable("no mode was changed")
        parameters = {
            "cluster_name": self.cluster_name,
            "consumer_group_name": self.consumer_group_name,
            "topic_name": self.topic_name,
            "modes": [{"broker_group_name": self.broker_group_name, **former}],
        }
        return OperationRequest("set_consume_mode", parameters)
