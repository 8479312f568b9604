"""Recall a message that waits for a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.messages import KeyQuery, QueryMessages
from backend.brokers.requests.timers import RecallMessage
from backend.domain.message import StoredMessage
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import NotUndoable
from backend.domain.plan import Agreement, PlannedStep, ReadBack
from backend.domain.timer import WaitingMessage
from backend.operations.engine.kind import OperationContext, OperationRequest, StepRun, Unfinished
from backend.operations.planning import masters
from backend.operations.planning.broker_steps import fence_of
from backend.remoting.names import TIMER_TOPIC
from backend.rules.recall_handle import RecallHandle, decode_recall_handle
from backend.services.message.messages import EVER_MS, FOUND_COUNT_MAX

_RECALLED: Final = "TIMER_DEL_UNIQKEY"
"""Topic and unique key, joined by `+`, of the message that this one recalls."""


@dataclass(frozen=True, slots=True)
class RecallWaiting:
    """Recall the message of a handle on the present master of its broker group.

    A broker stores a message that cancels the other one, and can't fence it. So a second attempt
    looks for that message first.
    """

    tag: ClassVar[str] = "recall_waiting"

    cluster_name: str
    recall_handle: str

    @property
    def handle(self) -> RecallHandle:
        """Return what the handle names."""
        return decode_recall_handle(self.recall_handle)

    @property
    def step(self) -> PlannedStep:
        """Say what is recalled, and where."""
        handle = self.handle
        title = f"Recall the message of topic {handle.topic} on {handle.broker_name}"
        return PlannedStep("recall-message", title)

    async def read(self, context: OperationContext) -> Value:
        """Read whether the message is recalled."""
        found = await find_waiting(await self._address(context), self.handle, context)
        return {"is_recalled": found.is_recalled}

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Recall it, unless a former attempt did."""
        address, handle = await self._address(context), self.handle
        if run.is_repeated:
            found = await find_waiting(address, handle, context)
            if found.is_recalled:
                return {"is_recalled": True}
        change = RecallMessage(
            topic=handle.topic, recall_handle=self.recall_handle, fence=fence_of(run)
        )
        await context.brokers.ask(address, change)
        return await self.read(context)

    async def verify(self, _step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Read back that the message is recalled; the index of a stock broker may lag."""
        what, intended = f"message {self.handle.unique_key}", "recalled"
        try:
            found = await find_waiting(await self._address(context), self.handle, context)
        except (NoAnswer, Unfinished):
            return [ReadBack(what, intended, None, Agreement.UNKNOWN)]
        if found.is_recalled:
            return [ReadBack(what, intended, intended, Agreement.AGREES)]
        return [ReadBack(what, intended, "no recall is found", Agreement.UNKNOWN)]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: a broker has no request that lets a recalled message wait again.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("a recalled message can't wait again: its producer can send it again")

    async def _address(self, context: OperationContext) -> str:
        """Find the present master: a failover does not change what waits."""
        group = self.handle.broker_name
        found = await masters.find_masters(self.cluster_name, (group,), context)
        if not found.found:
            raise Unfinished(f"no master of {group} is online")
        return found.found[0].address


async def find_waiting(
    address: str, handle: RecallHandle, context: OperationContext
) -> WaitingMessage:
    """Find the message of a handle, and the recalls of it, by its key in the index of the broker.

    Raises:
        NoAnswer: the broker does not answer.
    """
    query = KeyQuery(
        TIMER_TOPIC,
        handle.unique_key,
        is_unique=True,
        count_max=FOUND_COUNT_MAX,
        begin_ms=0,
        end_ms=EVER_MS,
    )
    found = await context.brokers.ask(address, QueryMessages(handle.broker_name, query))
    named = f"{handle.topic}+{handle.unique_key}"
    recalls = [one for one in found if one.properties.get(_RECALLED) == named]
    waiting = [one for one in found if _is_meant(one, handle)]
    newest = max(waiting, key=lambda one: one.queue_offset, default=None)
    return WaitingMessage(newest, is_recalled=any(_is_at(one, handle) for one in recalls))


def _is_meant(message: StoredMessage, handle: RecallHandle) -> bool:
    is_recall = _RECALLED in message.properties
    is_of_topic = message.properties.get("REAL_TOPIC") == handle.topic
    return is_of_topic and not is_recall and _is_at(message, handle)


def _is_at(message: StoredMessage, handle: RecallHandle) -> bool:
    """Return whether a message waits in the slot that the handle names."""
    return message.properties.get("TIMER_OUT_MS") == str(handle.due_ms - 1)
