"""Decide transactions as the master, and ask producers about those that stay pending.

Each decision is one unit of the log: the record that replaces the half message, and an op record
(storage-and-ha.md 7.3 to 7.5). RocketMQ writes op records later. So a new master here asks no
producer about a decided transaction. A repeated end of a transaction changes nothing.

The hot path of the engine stores half messages, and decides ordinary ones. All else comes here. The
table of the engine has what is pending.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final, Protocol, TypeVar

import structlog
from regent_engine import (
    Appended,
    Pending,
    PendingTransactions,
    ProtocolError,
    Record,
    StoreError,
)

from backend.remoting.names import (
    HALF_OPERATION_TOPIC,
    HALF_TOPIC,
    TRANSACTION_CHECK_TOPIC,
    TRANSACTION_GROUP,
)
from backend.remoting.response_code import ResponseCode
from workers.broker.commit_log.message import UNIQUE_KEY, Message
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.errors import Refusal
from workers.broker.tables.consumer_offsets import ConsumerOffsets
from workers.broker.tables.escaped import EscapedMessages
from workers.broker.transactions.checking import HalfPlace, Place
from workers.broker.transactions.half_message import (
    QUEUE_ID,
    check_count_of,
    checked_again,
    first_offset_of,
    given_up,
    immunity_ms_of,
    operation,
    renewed,
)
from workers.broker.transactions.pending import (
    Escaped,
    Progress,
    TransactionStore,
    find_escaped,
    first_position_of,
    load_pending,
    read_or_report,
    read_record,
)

RETRY_S: Final = 1.0
TURN_S: Final = 1.0
TURN_COUNT: Final = 64
"""The checks of one turn of the event loop."""

Found = TypeVar("Found")

log = structlog.get_logger()


class Host(Protocol):
    """What a broker does for its transactions."""

    @property
    def settings(self) -> BrokerSettings:
        """Return the present settings."""

    @property
    def offsets(self) -> ConsumerOffsets:
        """Return the table of committed offsets, which has the progress."""

    @property
    def is_writable(self) -> bool:
        """Return whether messages are accepted."""

    @property
    def escaped(self) -> EscapedMessages:
        """Return which messages a replica let escape while it acted."""

    def alone(self) -> AbstractContextManager[None]:
        """Let the engine decide no transaction during some steps without a wait."""

    def asks_for_master(self, log_position: int) -> bool:
        """Return whether this broker asks about a half message for its absent master.

        The log position is that of its first record.
        """

    def append_unit(self, messages: Sequence[Message]) -> list[Appended]:
        """Store messages as one unit."""

    def create_topic_of_transactions(self, name: str) -> None:
        """Create a topic of transactions, if it is missing."""


class OnThread(Protocol):
    """Runs work on a thread."""

    def __call__(self, work: Callable[[], Found], /) -> Awaitable[Found]:
        """Return what the work returns."""


class Transactions:
    """The transactions of one broker; it works from `start` to `stop`, as the master."""

    def __init__(
        self,
        host: Host,
        store: TransactionStore,
        table: PendingTransactions,
        *,
        on_thread: OnThread,
        ask: Callable[[Record, Place], None],
        clock: Callable[[], int],
    ) -> None:
        """Do nothing before `start`; `ask` sends a check to a producer, if one is connected."""
        self._host, self._store, self._ask, self._clock = host, store, ask, clock
        self._table, self._on_thread = table, on_thread
        self._loaded = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._end_of_last_pass = 0

    def start(self) -> None:
        """Find out what is pending, and begin to ask; called on the running loop."""
        self._loaded, self._end_of_last_pass = asyncio.Event(), 0
        self._task = asyncio.get_running_loop().create_task(self._run(), name="transactions")

    def stop(self) -> None:
        """Ask no more, and forget what is pending."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._table.clear()
        # Requests that wait are refused.
        self._loaded.set()

    async def pending(self) -> PendingTransactions:
        """Return the pending transactions, once they are known.

        Raises:
            Refusal: this broker is not the master, or not any more.
        """
        if not self._table.is_known and self._task is not None:
            await self._loaded.wait()
        if not self._table.is_known:
            reason = "only the master of the group knows the pending transactions"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)
        return self._table

    def create_topics(self) -> None:
        """Create the topics of half messages and op records, if they are missing.

        Raises:
            Refusal: they can't be created now.
        """
        for name in (HALF_TOPIC, HALF_OPERATION_TOPIC):
            self._host.create_topic_of_transactions(name)

    def begin(self, half: Message) -> Appended:
        """Store a half message whose checks start again.

        Raises:
            StoreError: the store refused. Refusal: the properties are too long.
        """
        self.create_topics()
        (appended,) = self._host.append_unit([half])
        timeout_ms = self._host.settings.transaction_timeout_ms
        due_ms = self._clock() + immunity_ms_of(half.properties, timeout_ms)
        pending = Pending(
            appended.queue_offset, appended.log_position, due_ms, half.properties[UNIQUE_KEY]
        )
        self._table.put(appended.queue_offset, pending)
        return appended

    async def find(self, half: Record) -> tuple[Pending, Record] | None:
        """Return the newest record of a half message, if the transaction is pending.

        Raises:
            StoreError: the log can't be read. Refusal: this broker is not the master any more.
        """
        pending = (await self.pending()).find(first_offset_of(half))
        if pending is None:
            return None
        if pending.log_position == half.log_position:
            return pending, half
        newest = read_record(self._store, pending.log_position)
        return None if newest is None else (pending, newest)

    def decide(self, half: Record, pending: Pending, instead: Sequence[Message] = ()) -> Appended:
        """Store what replaces a half message, with the op record, which is returned.

        Raises:
            StoreError: the store refused, and the transaction stays pending.
            Refusal: the engine has decided the transaction just now.
        """
        first_offset = first_offset_of(half)
        with self._host.alone():
            if self._table.find(first_offset) != pending:
                raise Refusal(ResponseCode.SYSTEM_BUSY, "the transaction was decided just now")
            *_, last = self._append(pending, instead)
            self._table.decide(first_offset)
        return last

    def _append(self, pending: Pending, instead: Sequence[Message]) -> Sequence[Appended]:
        self.create_topics()
        op = operation(pending.offset, pending.transaction_id, self._clock())
        appended = self._host.append_unit([*instead, op])
        self._table.note_operation(appended[-1].queue_offset, pending.offset)
        return appended

    async def _run(self) -> None:
        while True:
            try:
                await self._load()
                break
            except (StoreError, ProtocolError, Refusal) as error:
                log.warning("transactions_not_read", reason=str(error))
            except Exception:
                log.exception("transactions_not_read")
            await asyncio.sleep(RETRY_S)
        checked_s = time.monotonic()
        while True:
            # The interval may change during the wait.
            interval_s = self._host.settings.transaction_check_interval_ms / 1000
            rest_s = checked_s + interval_s - time.monotonic()
            if rest_s > 0:
                await asyncio.sleep(min(rest_s, TURN_S))
                continue
            checked_s = time.monotonic()
            try:
                await self.check()
            except (StoreError, Refusal) as error:
                log.warning("transactions_not_checked", reason=str(error))
            except Exception:
                log.exception("transactions_not_checked")

    async def _load(self) -> None:
        timeout_ms = self._host.settings.transaction_timeout_ms
        load = partial(load_pending, self._store, self._recorded(), timeout_ms=timeout_ms)
        loaded = await self._on_thread(load)
        escaped = await self._find_escaped(loaded.pending)
        self._table.load(loaded.pending, loaded.operations)
        # From now on transactions are decided: a second load would bring them back.
        self._loaded.set()
        try:
            # No producer may end one of these before.
            for one in escaped:
                self._decide_escaped(*one)
        except (StoreError, Refusal) as error:
            # The next check decides the rest.
            log.warning("escaped_transactions_not_decided", reason=str(error))

    async def _find_escaped(self, known: Iterable[tuple[int, Pending]]) -> list[Escaped]:
        """Return those of some half messages that a replica let escape while it acted (D17)."""
        escaped = frozenset(self._host.escaped.all)
        if not escaped or not self._host.is_writable:
            return []
        return await self._on_thread(partial(find_escaped, self._store, known, escaped))

    def _decide_escaped(self, first_offset: int, pending: Pending, first_position: int) -> None:
        """Write the op record of a message that has escaped, if its transaction is still pending.

        Raises:
            StoreError: the store refused, and the transaction stays pending.
        """
        with self._host.alone():
            if self._host.is_writable and self._table.find(first_offset) == pending:
                self._append(pending, ())
                self._table.decide(first_offset)
                self._host.escaped.drop(first_position)

    def _recorded(self) -> Progress:
        find = self._host.offsets.find
        half_offset = find(TRANSACTION_GROUP, HALF_TOPIC, QUEUE_ID)
        operation_offset = find(TRANSACTION_GROUP, HALF_OPERATION_TOPIC, QUEUE_ID)
        return Progress(half_offset or 0, operation_offset or 0)

    async def check(self) -> None:
        """Ask about each transaction that is pending for long enough; then record the progress.

        One that must not be asked about yet is stored again at the second pass: a new master reads
        the log from the oldest record on.

        Raises:
            StoreError: the store refused; the rest waits for the next pass.
        """
        table = await self.pending()
        for count, one in enumerate(await self._find_escaped(table), start=1):
            if count % TURN_COUNT == 0:
                await asyncio.sleep(0)
            self._decide_escaped(*one)
        now_ms, before = self._clock(), self._end_of_last_pass
        self._end_of_last_pass = self._end_of(HALF_TOPIC)
        for count, (first_offset, pending) in enumerate(table, start=1):
            if count % TURN_COUNT == 0:
                await asyncio.sleep(0)
            is_due = pending.due_ms <= now_ms
            if is_due or pending.offset < before:
                with self._host.alone():
                    self._check_known(first_offset, pending, is_due=is_due)
        with self._host.alone():
            self._record()

    def _check_known(self, first_offset: int, pending: Pending, *, is_due: bool) -> None:
        if self._table.find(first_offset) != pending:
            return
        if self._host.is_writable:
            self._check_one(first_offset, pending, is_due=is_due)
        elif is_due:
            self._ask_for_master(pending)

    def _check_one(self, first_offset: int, pending: Pending, *, is_due: bool) -> None:
        half = read_or_report(self._store, pending.log_position)
        if half is None:
            log.error("half_message_lost", queue_offset=pending.offset)
            self._table.decide(first_offset)
        elif not is_due:
            self._replace(first_offset, pending, renewed(half))
        elif check_count_of(half.properties) >= self._host.settings.transaction_check_count_max:
            self._host.create_topic_of_transactions(TRANSACTION_CHECK_TOPIC)
            self.decide(half, pending, [given_up(half)])
            log.warning("transaction_given_up", queue_offset=pending.offset)
        else:
            self._ask(half, self._replace(first_offset, pending, checked_again(half)))

    def _ask_for_master(self, pending: Pending) -> None:
        """Ask about a half message in the log of a master, which counts no such check."""
        half = read_or_report(self._store, pending.log_position)
        if half is None or not self._host.asks_for_master(first_position_of(self._store, half)):
            return
        self._ask(half, HalfPlace.of(half))

    def _replace(self, first_offset: int, pending: Pending, message: Message) -> Appended:
        copy, _ = self._append(pending, [message])
        place = copy.queue_offset, copy.log_position
        newest = Pending(*place, pending.due_ms, pending.transaction_id)
        self._table.put(first_offset, newest)
        return copy

    def _end_of(self, topic: str) -> int:
        return (self._store.held_offsets(topic, QUEUE_ID) or (0, 0))[1]

    def _record(self) -> None:
        """Commit the progress as the offsets of stock's group, which replicas have as well."""
        ends = [self._end_of(topic) for topic in (HALF_TOPIC, HALF_OPERATION_TOPIC)]
        progress = Progress(*self._table.progress(*ends))
        commit = partial(self._host.offsets.commit, TRANSACTION_GROUP, queue_id=QUEUE_ID)
        if any(ends):
            commit(HALF_TOPIC, offset=progress.half_offset)
            commit(HALF_OPERATION_TOPIC, offset=progress.operation_offset)
