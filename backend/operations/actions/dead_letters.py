"""Send the dead letters of one batch again."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.messages import KeyQuery, PullMessages, QueryMessages
from backend.brokers.requests.sending import SendRefused, StoreMessage
from backend.domain.dead_letter import copy_of, destination_topic, is_copy
from backend.domain.message import StoredMessage
from backend.domain.operation import Step, Value
from backend.domain.operation_errors import ChangeRefused, NotUndoable
from backend.domain.orders.dead_letter import Destination
from backend.domain.plan import Agreement, PlannedStep, ReadBack
from backend.operations.engine.kind import OperationContext, OperationRequest, StepRun, Unfinished
from backend.operations.planning import masters
from backend.remoting.names import dead_letter_topic
from backend.remoting.response_code import ResponseCode
from backend.services.message.messages import EVER_MS, FOUND_COUNT_MAX

GUARD_INTERVAL_S: Final = 1.0
"""Much less than the lease: a worker that was paused first checks whether it was replaced."""


@dataclass(slots=True)
class _Progress:
    """Count the results of a batch; offsets are those of the dead letters."""

    operation: str
    sent: int = 0
    found: int = 0
    expired: list[int] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def value(self) -> Value:
        return {
            "operation": self.operation,
            "sent": self.sent,
            "sent_before": self.found,
            "expired": self.expired,
            "refused": self.refused,
        }


@dataclass(frozen=True, slots=True)
class ResendBatch:
    """Send copies of the dead letters at some offsets of one queue, each once.

    A broker can't undo or fence a send. So a second attempt looks for the copies of the first
    before it sends, and the read-back counts the copies of each dead letter.
    """

    tag: ClassVar[str] = "resend_batch"

    cluster_name: str
    consumer_group_name: str
    broker_group_name: str
    queue_id: int
    offsets: tuple[int, ...]
    destination: Destination
    messages_per_second: int

    @property
    def place(self) -> str:
        """Name the queue and the range of the batch."""
        first, last = self.offsets[0], self.offsets[-1]
        return f"{self.broker_group_name} queue {self.queue_id}, offsets {first} to {last}"

    @property
    def step(self) -> PlannedStep:
        """Say how many dead letters are sent again."""
        name = f"resend-{self.broker_group_name}-{self.queue_id}-{self.offsets[0]}"
        return PlannedStep(name, f"Send {len(self.offsets)} dead letters of {self.place}")

    async def read(self, _context: OperationContext) -> Value:
        """Read nothing: a send replaces no value."""
        return None

    async def do(self, run: StepRun, context: OperationContext) -> Value:
        """Send one copy after another, at the ordered rate."""
        address = await self._address(context)
        progress, absent = _Progress(str(run.operation.id)), set(self.offsets)
        loop, interval_s = asyncio.get_running_loop(), 1 / self.messages_per_second
        next_at, guarded_at = loop.time(), loop.time() - GUARD_INTERVAL_S
        async for letter in self._letters(address, context):
            absent.discard(letter.queue_offset)
            if run.is_repeated and await self._count(address, letter, progress.operation, context):
                progress.found += 1
                continue
            await asyncio.sleep(next_at - loop.time())
            if loop.time() - guarded_at >= GUARD_INTERVAL_S:
                async with context.database.begin() as connection:
                    await run.guard(connection)
                guarded_at = loop.time()
            next_at = loop.time() + interval_s
            await self._send(address, letter, progress, context)
        progress.expired = sorted(absent)
        return progress.value

    async def verify(self, step: Step, context: OperationContext) -> Sequence[ReadBack]:
        """Count the copies of each dead letter."""
        counts_after = dict(step.after or {})
        left_out = {*counts_after["expired"], *(int(offset) for offset in counts_after["refused"])}
        wanted = {*self.offsets} - left_out
        try:
            address = await self._address(context)
            counts = {
                letter.queue_offset: await self._count(
                    address, letter, counts_after["operation"], context
                )
                async for letter in self._letters(address, context)
                if letter.queue_offset in wanted
            }
        except (NoAnswer, Unfinished):
            counts = None
        return [self._judge(len(wanted), counts, counts_after["refused"])]

    def undo(self, _step: Step) -> OperationRequest:
        """Refuse: consumers may have read the copies.

        Raises:
            NotUndoable: always.
        """
        raise NotUndoable("a message that was sent can't be taken back: consumers may have read it")

    async def _address(self, context: OperationContext) -> str:
        """Find the present master: a failover does not change the offsets of a queue."""
        found = await masters.find_masters(self.cluster_name, (self.broker_group_name,), context)
        if not found.found:
            raise Unfinished(f"no master of {self.broker_group_name} is online")
        return found.found[0].address

    async def _letters(
        self, address: str, context: OperationContext
    ) -> AsyncIterator[StoredMessage]:
        """Read the dead letters of the batch, as many at a time as a pull gives.

        Those that have expired are left out.
        """
        topic, wanted = dead_letter_topic(self.consumer_group_name), set(self.offsets)
        offset, last = self.offsets[0], self.offsets[-1]
        while offset <= last:
            request = PullMessages(
                broker_group_name=self.broker_group_name,
                topic=topic,
                queue_id=self.queue_id,
                offset=offset,
                count=last - offset + 1,
            )
            pulled = await context.brokers.ask(address, request)
            for letter in pulled.messages:
                if letter.queue_offset in wanted:
                    yield letter
            if pulled.next_offset <= offset:
                break
            rest = [one for one in self.offsets if one >= pulled.next_offset]
            offset = rest[0] if rest else last + 1

    async def _send(
        self,
        address: str,
        letter: StoredMessage,
        progress: _Progress,
        context: OperationContext,
    ) -> None:
        topic = destination_topic(letter, self.destination, self.consumer_group_name)
        if topic is None:
            progress.refused[str(letter.queue_offset)] = "its original topic is not known"
            return
        try:
            copy = copy_of(letter, topic, progress.operation)
            await context.brokers.ask(address, StoreMessage(copy))
        except SendRefused as error:
            if self._is_of_the_message(error.code):
                progress.refused[str(letter.queue_offset)] = error.reason
                return
            if progress.sent:
                raise
            raise ChangeRefused(address, error.reason) from error
        progress.sent += 1

    def _is_of_the_message(self, code: int) -> bool:
        """Return whether a broker refuses only this message, and would store others."""
        if self.destination is Destination.TOPIC and code == ResponseCode.TOPIC_NOT_EXIST:
            # The next dead letter may be of another topic, which is still there.
            return True
        return code == ResponseCode.MESSAGE_ILLEGAL

    async def _count(
        self, address: str, letter: StoredMessage, operation: str, context: OperationContext
    ) -> int:
        """Count the copies of a dead letter by this operation."""
        topic = destination_topic(letter, self.destination, self.consumer_group_name)
        if topic is None:
            return 0
        key = letter.unique_key or letter.message_id
        query = KeyQuery(
            topic, key, is_unique=True, count_max=FOUND_COUNT_MAX, begin_ms=0, end_ms=EVER_MS
        )
        request = QueryMessages(self.broker_group_name, query)
        found = await context.brokers.ask(address, request)
        return sum(is_copy(one, letter, operation) for one in found)

    def _judge(
        self, wanted: int, counts: Mapping[int, int] | None, refused: Mapping[str, str]
    ) -> ReadBack:
        intended = f"{wanted + len(refused)} copies, one of each"
        if counts is None:
            return ReadBack(self.place, intended, None, Agreement.UNKNOWN)
        faults = [
            *(f"none of offset {offset}" for offset, count in counts.items() if not count),
            *(f"{count} of offset {offset}" for offset, count in counts.items() if count > 1),
            *(f"offset {offset} refused ({why})" for offset, why in refused.items()),
        ]
        observed = f"{sum(counts.values())} copies"
        if not faults and len(counts) == wanted:
            return ReadBack(self.place, intended, f"{observed}, one of each", Agreement.AGREES)
        if not faults:
            # Copies are found by the ids of the dead letters, which have expired too.
            text = f"{observed}; {wanted - len(counts)} dead letters have expired since"
            return ReadBack(self.place, intended, text, Agreement.UNKNOWN)
        text = f"{observed}: {masters.shortened(faults)}"
        return ReadBack(self.place, intended, text, Agreement.DIFFERS)
