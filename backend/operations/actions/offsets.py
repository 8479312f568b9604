"""Set the offsets of a consumer group in the queues of a topic on one master."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from backend.brokers.requests.offsets import (
    GetCommittedOffsets,
    ResetConsumerOffset,
    UpdateConsumerOffset,
)
from backend.domain.offset_reset import Position, ResetMode
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import ChangeRefused, NotUndoable
from backend.domain.plan import Agreement, PlannedStep, ReadBack
from backend.operations.engine.kind import (
    Effect,
    OperationContext,
    OperationRequest,
    StepRun,
    Unfinished,
)
from backend.operations.planning.broker_steps import fence_of


@dataclass(frozen=True, slots=True)
class CommitOffsets:
    """Set offsets by queue id; with `tells_consumers` connected consumers continue from there."""

    tag: ClassVar[str] = "commit_offsets"

    cluster_name: str
    broker_group_name: str
    address: str
    consumer_group_name: str
    topic_name: str
    offsets: Mapping[int, int]
    tells_consumers: bool

    @property
    def step(self) -> PlannedStep:
        """Say how many offsets are set, and where."""
        return PlannedStep(
            f"reset-{self.broker_group_name}",
            f"Set {len(self.offsets)} offsets on {self.broker_group_name}",
        )

    async def read(self, context: OperationContext) -> Value:
        """Read the committed offsets."""
        found = await context.brokers.ask(self.address, self._inquiry)
        return {str(queue_id): offset for queue_id, offset in found.items()}

    async def do(self, run: StepRun, context: OperationContext) -> Value | Effect:
        """Set one offset after another; each is a separate effect, so none is set twice."""
        fence = fence_of(run)
        request = ResetConsumerOffset if self.tells_consumers else UpdateConsumerOffset
        before: dict[str, int | None] = dict(run.before or {})
        for set_count, (queue_id, offset) in enumerate(self.offsets.items()):
            change = request(
                consumer_group=self.consumer_group_name,
                topic=self.topic_name,
                queue_id=queue_id,
                offset=offset,
                fence=fence | {"regentStep": f"{run.key}/{queue_id}"},
            )
            try:
                answer = await context.brokers.ask(self.address, change)
            except ChangeRefused as error:
                if not set_count:
                    raise
                # A refusal would mean that no offset was set.
                text = f"{set_count} of {len(self.offsets)} offsets are set, then {error}"
                raise Unfinished(text) from error
            if answer is not None:
                before[str(queue_id)] = answer.before.get(str(queue_id))
        return Effect(before, {str(queue_id): offset for queue_id, offset in self.offsets.items()})

    async def verify(self, _step: Step, context: OperationContext) -> list[ReadBack]:
        """Read back the committed offset of each queue."""
        committed = await context.brokers.find(self.address, self._inquiry)
        return [
            ReadBack(what, str(offset), None, Agreement.UNKNOWN)
            if committed is None
            else _compare(what, offset, committed[queue_id], is_online=self.tells_consumers)
            for queue_id, offset in self.offsets.items()
            for what in (f"{self.broker_group_name} queue {queue_id}",)
        ]

    def undo(self, step: Step) -> OperationRequest:
        """Restore the former offsets; messages that were read meanwhile are read again.

        Raises:
            NotUndoable: no offset was set, or there was none before.
        """
        former = [
            {
                "broker_group_name": self.broker_group_name,
                "queue_id": int(queue_id),
                "offset": offset,
            }
            for queue_id, offset in (step.before or {}).items()
            if offset is not None
        ]
        if not former:
            raise NotUndoable("no offset was set where the group had one before")
        parameters = {
            "cluster_name": self.cluster_name,
            "consumer_group_name": self.consumer_group_name,
            "topic_name": self.topic_name,
            "position": str(Position.GIVEN),
            "offsets": former,
            "mode": str(ResetMode.AUTO),
        }
        return OperationRequest("reset_offsets", parameters)

    @property
    def _inquiry(self) -> GetCommittedOffsets:
        return GetCommittedOffsets(
            consumer_group=self.consumer_group_name,
            topic=self.topic_name,
            queue_ids=[*self.offsets],
        )


def _compare(what: str, intended: int, observed: int | None, *, is_online: bool) -> ReadBack:
    is_there = observed == intended
    # The broker reported that it set the offset. Consumers continue from there immediately.
    has_gone_on = is_online and observed is not None and observed > intended
    agreement = Agreement.AGREES if is_there or has_gone_on else Agreement.DIFFERS
    text = "never committed" if observed is None else str(observed)
    return ReadBack(what, str(intended), f"{text}, read on" if has_gone_on else text, agreement)
