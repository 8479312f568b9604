"""Change a share queue on the master that owns it: release its messages, or reset it."""

from dataclasses import dataclass
from typing import ClassVar

from backend.brokers.requests.offsets import ResetConsumerOffset, UpdateConsumerOffset
from backend.brokers.requests.shares import GetShareMessages, ReleaseShareMessages
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import Agreement, PlannedStep, ReadBack
from backend.domain.share_queue import ShareMessages, ShareQueueName
from backend.operations.engine.kind import OperationContext, OperationRequest, StepRun
from backend.operations.planning.broker_steps import fence_of
from backend.operations.planning.groups import compare
from backend.operations.planning.share_queues import count_messages

Hold = tuple[int, int, int]
"""Offset of a message, with the time (ms since 1970) and the tag of its delivery."""

NO_RELEASE_BACK = "another consumer may have the messages already"


@dataclass(frozen=True, slots=True)
class _ShareQueueAction:
    """Change one share queue, on its master."""

    cluster_name: str
    broker_group_name: str
    address: str
    name: ShareQueueName

    @property
    def _inquiry(self) -> GetShareMessages:
        return GetShareMessages(self.name)


@dataclass(frozen=True, slots=True)
class ReleaseMessages(_ShareQueueAction):
    """Deliver messages again of which their consumers have the planned deliveries still."""

    tag: ClassVar[str] = "release_shared_messages"

    holds: tuple[Hold, ...]

    @property
    def step(self) -> PlannedStep:
        """Say how many messages are released, and where."""
        count = count_messages(len(self.holds))
        return PlannedStep("release", f"Release {count} on {self.broker_group_name}")

    async def read(self, context: OperationContext) -> Value:
        """Count the messages that are still with their consumers."""
        found = await context.brokers.ask(self.address, self._inquiry)
        return {"acquired": self._count(found)}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Release them; what was delivered again since stays with its new consumer."""
        change = ReleaseShareMessages(name=self.name, holds=self.holds, fence=fence_of(run))
        await context.brokers.ask(self.address, change)
        return await self.read(context)

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that no consumer has a message by a planned delivery."""
        found = await context.brokers.find(self.address, self._inquiry)
        observed = None if found is None else self._count(found)
        return [compare("messages with their former consumers", 0, observed)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: another consumer may have them.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable(NO_RELEASE_BACK)

    def _count(self, found: ShareMessages) -> int:
        present = {
            (one.offset, one.pop_time_ms, one.tag) for one in found.messages if one.is_acquired
        }
        return len(present.intersection(self.holds))


@dataclass(frozen=True, slots=True)
class ResetToOffset(_ShareQueueAction):
    """Let the group of a share queue go on from an offset; what consumers have is void.

    `is_logical` says that the topic is static: id and offset are those of the logical queue.
    """

    tag: ClassVar[str] = "reset_share_queue"

    offset: int
    is_logical: bool = False

    @property
    def step(self) -> PlannedStep:
        """Say where the group goes on."""
        where = f"queue {self.name.queue_id} of {self.name.topic}"
        title = f"Go on from offset {self.offset} in {where} on {self.broker_group_name}"
        return PlannedStep("reset", title)

    async def read(self, context: OperationContext) -> Value:
        """Read the position, and the epoch of the last reset."""
        found = await context.brokers.ask(self.address, self._inquiry)
        if found.queue is None:
            return None
        return {"position": found.queue.start, "reset_epoch": found.queue.reset_epoch}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Reset it; the attempt of a former worker is not repeated."""
        # The broker takes id and offset of a reset (222) as those of a physical queue.
        request = UpdateConsumerOffset if self.is_logical else ResetConsumerOffset
        change = request(
            consumer_group=self.name.consumer_group_name,
            topic=self.name.topic,
            queue_id=self.name.queue_id,
            offset=self.offset,
            fence=fence_of(run),
        )
        await context.brokers.ask(self.address, change)
        return await self.read(context)

    async def verify(self, step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back that the share queue was reset, and goes on from the offset."""
        what, intended = f"position in {self.name.topic}/{self.name.queue_id}", str(self.offset)
        found = await context.brokers.find(self.address, self._inquiry)
        if found is None:
            return [ReadBack(what, intended, None, Agreement.UNKNOWN)]
        if found.queue is None:
            return [ReadBack(what, intended, "no share queue", Agreement.DIFFERS)]
        former_epoch = (step.before or {}).get("reset_epoch", 0)
        position = found.queue.start
        is_reset = found.queue.reset_epoch > former_epoch and position >= self.offset
        # Consumers go on at once, so the position may be behind the offset already.
        text = f"{position}, read on" if is_reset and position > self.offset else str(position)
        agreement = Agreement.AGREES if is_reset else Agreement.DIFFERS
        return [ReadBack(what, intended, text, agreement)]

    def undo(self, step: Step) -> OperationRequest:
        """Go on from the former position; what was finished behind it is delivered again.

        Raises:
            NotUndoable: there was no share queue before.
        """
        if step.before is None:
            raise NotUndoable("the group had no share queue before")
        parameters = {
            "cluster_name": self.cluster_name,
            "broker_group_name": self.broker_group_name,
            "consumer_group_name": self.name.consumer_group_name,
            "topic_name": self.name.topic,
            "queue_id": self.name.queue_id,
            "offset": step.before["position"],
        }
        return OperationRequest("reset_share_queue", parameters)
