"""Deliver messages when their time has come (storage-and-ha.md 6.3 to 6.7).

One thread keeps the timer wheel close behind the queue of the timer topic, and reads the messages
that are due. The loop copies them to their topics, a batch at a time: it alone knows the role of
this broker and its topics at every moment.

A copy names the message that it delivers, so that a delivery and its progress are one record
(D14). The state in the log has the progress at a log position; later deliveries are read from the
copies.

A message whose queue takes none now is held, and others pass it. Its topic is being deleted, for
example. Meanwhile the state in the log keeps its progress, so that another master delivers the
message too; it reads all copies since.
"""

# ruff: noqa: D102 - the store's own methods are documented by the engine

import asyncio
import contextlib
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from typing import Final, Protocol

import structlog
from regent_engine import DeliveredTimers, DueTimers, StoreError

from backend.remoting.names import TIMER_TOPIC
from workers.broker.tables.escaped import EscapedMessages

FOLLOWED_COUNT_MAX: Final = 1024
BATCH_COUNT: Final = 256
# A batch stays in memory until it is delivered.
BATCH_BYTES_MAX: Final = 1 << 20
TURN_S: Final = 0.1
"""How long a message may be late that comes in the moment in which it is due."""

HELD_COUNT_MAX: Final = 100_000
HELD_BYTES_MAX: Final = 256 << 20
"""How much of the log another master reads at most, because messages are held."""

RETRY_S: Final = 0.1
FLUSH_S: Final = 1.0
MARK_COUNT: Final = 11
"""Rates are of the last ten seconds."""

NOT_DELIVERING: Final = "the broker is not the master of its group, and only masters deliver"

_JOIN_TIMEOUT_S: Final = 10.0
CHECKPOINT: Final = struct.Struct(">7q")
"""The form of `timercheck` (storage-and-ha.md 6.6)."""

Progress = tuple[int, int, int]
"""Time and log position within the slot that is delivered next, and queue offset."""

TimersAt = tuple[int, int, int, int]
"""A progress, and the log position from which on copies are not covered by it."""

EscapeTimed = Callable[[Sequence[tuple[int, str, int]]], None]
"""Takes log positions of due messages with topic and queue into the outbox."""

Target = tuple[int, int]
"""The queue that takes messages, and the log position before which messages are void."""

log = structlog.get_logger()


class TimerStore(Protocol):
    """The operations of a store that the delivery needs."""

    @property
    def max_position(self) -> int: ...
    @property
    def has_timers_of_stock(self) -> bool: ...
    def copied_positions(self, topic: str, log_position: int) -> list[int]: ...
    def follow_timers(self, count_max: int) -> tuple[int, int]: ...
    def set_timer_progress(self, progress: Progress) -> None: ...
    def lead_timers(
        self, progress: Progress | None, delivered: Sequence[int], now_ms: int
    ) -> None: ...
    def stop_timers(self) -> None: ...
    def due_timers(self, now_ms: int, count_max: int, bytes_max: int) -> DueTimers | None: ...
    def deliver_timers(
        self,
        due: DueTimers,
        targets: Mapping[tuple[str, int], Target] | None,
        *,
        may_hold: bool,
        gone: AbstractSet[int],
    ) -> DeliveredTimers: ...
    def timer_progress(self) -> tuple[Progress, bool] | None: ...
    def timer_checkpoint(self) -> bytes | None: ...
    def flush_timers(self, now_ms: int) -> None: ...


class TimerDelivery:
    """Owns the thread of timers; all other methods belong to the loop's thread."""

    def __init__(
        self,
        store: TimerStore,
        *,
        precision_ms: int,
        arrived: Callable[[Iterable[tuple[str, int, int]]], None],
        find_target: Callable[[str, int, int], Target | None],
        find_block: Callable[[], str | None],
        clock: Callable[[], int],
        escaped: EscapedMessages,
    ) -> None:
        """Start with the progress of the files; a target may be missing for now: None."""
        self._escaped = escaped
        self._escape: EscapeTimed | None = None
        # Messages that escaped, and were due here since the last record of the progress.
        self._passed: list[int] = []
        self._store, self._precision_ms, self._clock = store, precision_ms, clock
        self._arrived, self._find_target, self._find_block = arrived, find_target, find_block
        self._recorded: TimersAt | None = None
        # Stock's own file has the progress of stock, until the log has one.
        self._believes_file = store.has_timers_of_stock
        self._is_running = self._has_changed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = threading.Event()
        self._failure: str | None = None
        self._held_count = 0
        self._taken_count = self._delivered_count = 0
        self._marks = deque([(time.monotonic(), 0, 0)], maxlen=MARK_COUNT)
        self._thread = threading.Thread(target=self._run, name="timers", daemon=True)

    def escape_by(self, escape: EscapeTimed | None) -> None:
        """Let due messages go to another broker group from now on; None delivers them here."""
        self._escape = escape

    @property
    def is_running(self) -> bool:
        """Return whether this broker delivers."""
        return self._is_running

    @property
    def hindrance(self) -> str | None:
        """Return why this broker does not deliver what is due; None if nothing is in the way."""
        if self._failure is None and not self._is_running:
            return NOT_DELIVERING
        return self._failure

    @property
    def held_count(self) -> int:
        """Return how many messages are held, since their queues take none now."""
        return self._held_count if self._is_running else 0

    def rates(self) -> tuple[float, float]:
        """Return how many messages a second were put on the wheel, and delivered, lately."""
        (first_s, *first), (last_s, *last) = self._marks[0], self._marks[-1]
        elapsed_s = max(last_s - first_s, 1.0)
        put, delivered = (end - begin for begin, end in zip(first, last, strict=True))
        return put / elapsed_s, delivered / elapsed_s

    # The state that survives a failover.

    @property
    def has_changes(self) -> bool:
        """Return whether messages were delivered since the last call that took the progress."""
        return self._has_changed

    def take(self) -> TimersAt | None:
        """Return the progress for a record that is about to be appended; None without timers."""
        is_due = self._is_running and (self._has_changed or self._recorded is not None)
        shown = self._store.timer_progress() if is_due else None
        if shown is not None:
            progress, is_whole = shown
            since = self._store.max_position
            if self._recorded is not None and not is_whole:
                since = self._recorded[3]
            self._recorded = (*progress, since)
            self._believes_file = False
            for position in self._passed:
                self._escaped.drop(position)
            self._passed.clear()
        self._has_changed = False
        return self._recorded

    def apply(self, recorded: TimersAt | None) -> None:
        """Take over the progress of a record, unless its writer had none."""
        if recorded is not None and not self._is_running:
            self._recorded = recorded
            self._store.set_timer_progress(recorded[:3])

    def forget(self) -> None:
        """Forget the progress of the log, which is read again."""
        self._recorded = None

    def follow(self) -> None:
        """Expect the progress of another broker, whatever stock left here."""
        self._believes_file = False

    def adopt(self, checkpoint: bytes) -> None:
        """Take over the progress of a stock master, from the content of its `timercheck`.

        Its copies name no message, so those since then are delivered again after a failover.
        """
        if len(checkpoint) == CHECKPOINT.size:
            read_ms, _, queue_offset, *_ = CHECKPOINT.unpack(checkpoint)
            self.apply((read_ms, 0, queue_offset, self._store.max_position))

    def take_over(self, checkpoint: bytes) -> bool:
        """Take over the progress of a replica if it is ahead of this broker's (S115)."""
        own = self._store.timer_checkpoint()
        if len(checkpoint) != CHECKPOINT.size or self._is_running:
            return False
        read_ms: int = CHECKPOINT.unpack(checkpoint)[0]
        if own is not None and read_ms <= CHECKPOINT.unpack(own)[0]:
            return False
        if self._recorded is not None and read_ms <= self._recorded[0]:
            return False
        self.adopt(checkpoint)
        return read_ms > 0

    # Deliveries.

    def start(self) -> None:
        """Begin to deliver, from where the log says that deliveries are."""
        try:
            self._lead()
        except StoreError as error:
            self._failure = str(error)
            log.error("timers_not_delivered", reason=str(error))  # noqa: TRY400 - it is complete
        else:
            self._failure = None
            self._is_running = True

    def _lead(self) -> None:
        recorded = self._recorded
        delivered: list[int] = []
        progress: Progress | None = (0, 0, 0)
        if self._believes_file:
            progress = None
        elif recorded is not None:
            progress = recorded[:3]
            delivered = self._store.copied_positions(TIMER_TOPIC, recorded[3])
        self._store.lead_timers(progress, delivered, self._clock())
        self._held_count = 0
        self._passed.clear()

    def stop(self) -> None:
        """Deliver nothing more, not even messages that are read already."""
        self._is_running = False
        self._failure = None
        # A closed store delivers nothing.
        with contextlib.suppress(StoreError):
            self._store.stop_timers()

    def deliver(self, due: DueTimers) -> bool:
        """Deliver a batch; return whether all of it is delivered, held, or void.

        Raises:
            StoreError: the batch is retried.
        """
        if not self._is_running:
            return False
        if self._escape is not None:
            return self._let_escape(due, self._escape)
        block = self._find_block()
        if block is not None:
            self._report(block)
            return False
        if self._recorded is None:
            # Only a record says where to look for the first deliveries.
            self._has_changed = True
            return False
        targets: dict[tuple[str, int], Target] = {}
        for topic, queue_id, position in due.queues:
            target = self._find_target(topic, queue_id, position)
            if target is not None:
                targets[topic, queue_id] = target
        may_hold = (
            self._held_count < HELD_COUNT_MAX
            and self._store.max_position - self._recorded[3] < HELD_BYTES_MAX
        )
        gone = self._find_gone(due)
        delivered = self._store.deliver_timers(due, targets, may_hold=may_hold, gone=gone)
        self._passed.extend(delivered.gone)
        # While messages are held, the progress of the last record stays.
        self._has_changed |= delivered.held_count == 0
        self._delivered_count += len(delivered.arrivals)
        self._arrived(delivered.arrivals)
        return self._report_on(delivered)

    def _find_gone(self, due: DueTimers) -> set[int]:
        """Return the messages that escaped while a replica acted, or that it recalled."""
        return self._escaped.of(due.positions) if self._escaped else set()

    def _let_escape(self, due: DueTimers, escape: EscapeTimed) -> bool:
        """Put a batch into the outbox; each message is held until its target has it.

        The log of this replica stays as it is. So the progress stays too, and the master that
        returns passes over what escaped.
        """
        escape(due.messages)
        may_hold = self._held_count < HELD_COUNT_MAX
        gone = self._find_gone(due)
        return self._report_on(self._store.deliver_timers(due, None, may_hold=may_hold, gone=gone))

    def _report_on(self, delivered: DeliveredTimers) -> bool:
        """Log what could not be delivered; return whether the batch is done with."""
        for position, reason in delivered.discarded:
            log.error("timer_message_discarded", log_position=position, reason=reason)
        self._note_held(delivered.held_count)
        failure = delivered.failure
        if delivered.is_stuck:
            failure = "messages wait for their queues, and no more can be held"
        self._report(failure)
        return failure is None

    # The thread.

    def begin(self) -> None:
        """Start the thread; called once, on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def end(self) -> None:
        """Write the files, and end the thread."""
        self._ending.set()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, _JOIN_TIMEOUT_S)

    def _run(self) -> None:
        flushed_s = time.monotonic()
        while not self._ending.is_set():
            self._ending.wait(self._try_turn())
            if time.monotonic() - flushed_s >= FLUSH_S:
                self._try_flush()
                flushed_s = time.monotonic()
                self._marks.append((flushed_s, self._taken_count, self._delivered_count))

    def _try_turn(self) -> float:
        try:
            pause_s = self._turn()
        except StoreError as error:
            self._report(str(error))
            return RETRY_S
        return pause_s

    def _turn(self) -> float:
        """Take new messages, deliver a batch of those that are due, and return how long to rest."""
        taken_count, left = self._store.follow_timers(FOLLOWED_COUNT_MAX)
        self._taken_count += taken_count
        now_ms = self._clock()
        due = self._store.due_timers(now_ms, BATCH_COUNT, BATCH_BYTES_MAX)
        if due is not None:
            return 0 if self._hand_over(due) else RETRY_S
        self._report(None)
        if left > 0:
            return 0
        return min(TURN_S, (self._precision_ms - now_ms % self._precision_ms) / 1000)

    def _hand_over(self, due: DueTimers) -> bool:
        """Let the loop deliver a batch, and wait for it."""
        assert self._loop is not None, "started by begin()"
        done: Future[bool] = Future()
        self._loop.call_soon_threadsafe(self._try_to_deliver, due, done)
        while not self._ending.is_set():
            try:
                return done.result(TURN_S)
            except TimeoutError:
                continue
        return False

    def _try_to_deliver(self, due: DueTimers, done: Future[bool]) -> None:
        try:
            done.set_result(self.deliver(due))
        except StoreError as error:
            self._report(str(error))
            done.set_result(False)
        except Exception:
            log.exception("timer_delivery_failed")
            done.set_result(False)

    def _try_flush(self) -> None:
        # The file of stock is replaced once the log says what it says.
        if not self._believes_file:
            try:
                self._store.flush_timers(self._clock())
            except StoreError as error:
                self._report(str(error))

    def _note_held(self, count: int) -> None:
        if count and not self._held_count and self._escape is None:
            log.warning("timer_messages_held", reason="their queues take no messages now")
        self._held_count = count

    def _report(self, failure: str | None) -> None:
        """Log once why messages are not delivered, not at every turn."""
        if failure is not None and failure != self._failure:
            log.warning("timer_delivery_refused", reason=failure)
        self._failure = failure
