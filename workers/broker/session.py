"""Serve the requests of one client that the engine leaves, and hand its answers to the engine.

A thread of the engine owns the socket: it reads the requests, answers those of the hot path, and
writes all answers (ADR 24). What it leaves comes here, in the order of arrival.

The thread stops reading while the client does not read its answers, and while too many of its
requests wait here. This bounds the memory for one client.

All requests that a client sent before it left are served, without answers.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Final, ParamSpec, TypeVar

import structlog
from regent_engine import (
    Client,
    Command,
    HotPath,
    ParkedPull,
    PullGrant,
    Received,
    StoreError,
)

from workers.broker.broker import Broker
from workers.broker.commit_log.late_answers import unconfirmed, without_messages
from workers.broker.dispatcher import Dispatcher
from workers.broker.errors import Refusal
from workers.broker.replication.acknowledgement import Outcome
from workers.broker.requests.caller import OPEN_COUNT_MAX
from workers.broker.shares.member_shares import Proposal

TURN_S: Final = 0.001
"""Requests of a connection that the dispatcher serves take turns of so long with other work."""

PulledOfQueue = tuple[str, str, int, int, int, int, int, int]
"""Group, topic, queue; pulls with messages and without, messages, bytes; the next offset."""

Delivered = tuple[int, int, int]
"""The number of a share queue, and the time in ms since 1970 and the tag of a delivery."""

log = structlog.get_logger()

P = ParamSpec("P")
T = TypeVar("T")


class BrokerSession:
    """One connected client; processors use it as the caller."""

    def __init__(
        self,
        broker: Broker,
        dispatcher: Dispatcher,
        client: Client,
        *,
        on_end: "Callable[[BrokerSession], None]",
    ) -> None:
        """Take the function to call once the client has left and all its requests are served."""
        self._broker, self._dispatcher = broker, dispatcher
        self._client, self._on_end = client, on_end
        # For requests of this client that are served here.
        self._connection = client.connection()
        self.connection_id, self.is_fast = client.id, client.is_fast
        self.peer: tuple[str, int] = client.peer
        self.address = "{}:{}".format(*self.peer)
        self._loop = asyncio.get_running_loop()
        # This broker closed the connection, and serves nothing more of it.
        self._is_ended = False
        self._is_closed = False
        # This send waits for a file of its queue, and the engine serves nothing behind it.
        self._set_aside: Command | None = None
        self._waiting: deque[Command] = deque()
        self._will_serve = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_gone(self) -> bool:
        """Return whether the client has left while its last requests are still served."""
        return self._client.is_gone

    @property
    def tasks(self) -> frozenset[asyncio.Task[None]]:
        """Return the requests that are still being served."""
        return frozenset(self._tasks)

    @property
    def is_congested(self) -> bool:
        """Return whether the client waits to read its answers, or too many wait for replicas."""
        return self._client.is_congested

    @property
    def unwritten_bytes(self) -> int:
        """Return the size of the answers that the system has not taken yet."""
        return self._client.unwritten_bytes

    def send(self, frame: bytes, body: bytes = b"") -> None:
        """Write a frame, perhaps with a separate body, unless the connection is closed."""
        if frame and not self._is_closed:
            # The engine passes both to the system without joining or copying them.
            self._client.send(frame, body)

    def park(
        self,
        command: Command,
        grant: PullGrant,
        *,
        queue_id: int,
        offset: int,
        count_max: int,
        deadline_ms: int,
        wake_count: int,
        global_id: int | None = None,
        adds_delta: bool = True,
    ) -> bool:
        """Have a pull wait for messages; False when there is no space."""
        is_parked = self._connection.park(
            command,
            grant,
            queue_id,
            offset,
            count_max,
            deadline_ms,
            wake_count=wake_count,
            global_id=global_id,
            adds_delta=adds_delta,
        )
        if is_parked:
            self._broker.polling.take_turns()
        return is_parked

    def pop(self, command: Command, grant: PullGrant, *, may_wait: bool) -> bool:
        """Answer a checked POP, or have it wait; False if that is not possible now."""
        outcome = self._run(
            self._connection.pop,
            command,
            grant,
            now_ms=self._broker.clock(),
            elapsed_ms=self._broker.elapsed_ms(),
            may_wait=may_wait,
        )
        if outcome is None:
            return True  # The connection ends.
        is_taken, received = outcome
        self._take_in(received, is_asked=True)
        return is_taken

    def close(self) -> None:
        """Close the connection after all written bytes are sent."""
        self._end()
        self._client.close()

    def abort(self) -> None:
        """Close the connection immediately, without sending the written bytes."""
        self._end()
        self._client.abort()

    def _end(self) -> None:
        self._is_ended = True
        self._waiting.clear()
        self._set_aside = None

    # What the engine reports.

    def take(self, requests: list[Command]) -> None:
        """Serve requests that the engine leaves."""
        if self._is_ended:
            return
        self._waiting.extend(requests)
        self._serve_waiting()

    def set_aside(self, requests: list[Command]) -> None:
        """Serve a send once its queue has a file; other sends behind it may lack files as well."""
        if not self._is_ended:
            self._set_aside = requests[0]
            self._begin(self._make_files(requests))

    def check_again(self, pull: ParkedPull) -> None:
        """Check a parked pull whose grant has changed, and answer it or have it wait again."""
        if not self.is_gone:
            grant = self._dispatcher.check_again(self, pull.command)
            if isinstance(grant, bytes):
                self.send(grant)
            else:
                self._resume(pull, grant)
        self._client.checked()

    def defer(
        self,
        frames: bytes,
        position: int,
        deliveries: list[Delivered],
        proposal: Proposal | None,
    ) -> None:
        """Answer requests once the log up to a position is safe.

        A replica answers once the records that it proposes are in the log.
        """
        broker = self._broker
        if proposal is None:
            settle = partial(self._settle, len(frames), frames, deliveries)
            broker.membership.when_safe(position, settle)
        elif frames:
            broker.member_shares.propose(proposal, partial(self._hand_out, frames, deliveries))
        else:
            broker.member_shares.propose(proposal, None)

    def note_failure(self, reason: str) -> None:
        """Log why the store did not take a message, or does no work any more."""
        self._broker.store_failed(reason)

    def broke_protocol(self, reason: str) -> None:
        """Log that the client sent bytes that mean nothing; the engine closes the connection."""
        log.warning("client_broke_protocol", client=self.address, reason=reason)

    def go_on(self) -> None:
        """Serve the requests that waited for the gate, or for the client to read its answers."""
        self._serve_waiting()

    def closed(self, reason: str | None) -> None:
        """Forget the client, and serve what it sent before it left."""
        self._is_closed = True
        self._broker.polling.remove(self.connection_id)
        self._broker.forget(self)
        if reason is not None:
            log.info("client_lost", client=self.address, reason=reason)
        self._serve_waiting()

    def note_pulled(self, pulled: PulledOfQueue, *, is_asked: bool) -> None:
        """Count answered pulls; unless they waited, note that the client asks for the queue."""
        broker = self._broker
        group, topic, queue_id, pulls, missed, messages, size_bytes, next_offset = pulled
        if is_asked:
            broker.readers.note_pull(
                group,
                topic,
                queue_id,
                address=self.address,
                now_ms=broker.elapsed_ms(),
                next_offset=next_offset,
            )
        else:
            broker.readers.note_next(group, topic, queue_id, next_offset)
        broker.meters.pulled(
            group, topic, messages=messages, size_bytes=size_bytes, pulls=pulls, missed=missed
        )

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Record a committed offset, which is valid even if the answer to its pull is lost."""
        self._broker.commit(group, topic, queue_id, offset=offset, address=self.address)

    # What is served here.

    def _resume(self, pull: ParkedPull, grant: PullGrant) -> None:
        received = self._run(
            self._connection.resume,
            pull,
            grant,
            now_ms=self._broker.clock(),
            elapsed_ms=self._broker.elapsed_ms(),
        )
        if received is not None:
            self._take_in(received, is_asked=False)

    def _run(self, work: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T | None:
        """Have the engine do work for this connection; None if the connection ends by it."""
        try:
            return work(*args, **options)
        except StoreError as error:
            # The engine is closed or has panicked: the waiting client gets an error.
            self._broker.store_failed(str(error))
            self.abort()
            return None
        except BaseException:
            self.abort()
            raise

    def _take_in(self, received: Received, *, is_asked: bool) -> None:
        """Handle the result of work of the engine; each read of a part builds a new object."""
        broker = self._broker
        for group, topic, queue_id, offset in received.commits:
            self.commit(group, topic, queue_id, offset)
        for pulled in received.pulled:
            self.note_pulled(pulled, is_asked=is_asked)
        if answers := received.pull_answers:
            self.send(answers)
        if replies := received.replies:
            self.send(replies)
        frames, proposal = received.deferred, received.proposal
        if frames or proposal is not None:
            self._client.hold(len(frames))
            position, deliveries = received.deferred_position, received.deferred_deliveries
            self.defer(frames, position, deliveries, proposal)
        if received.has_appended:
            broker.appended(is_turn_due=received.is_turn_due)
        # A pull may wait again, with another deadline.
        broker.polling.take_turns()
        for command in received.cold:
            # A POP that waited needs its share queues named, or the disk.
            self._serve(command)

    async def _make_files(self, requests: list[Command]) -> None:
        """Have a thread make the files that the queues of sends lack, then serve the first send."""
        make = partial(_make_queue_files, self._broker.hot, requests)
        # Where a file cannot be made, the append says why.
        with contextlib.suppress(Refusal, StoreError):
            await self._broker.file_thread.run(make)
        if not self._is_ended:
            self._waiting.append(requests[0])
            self._serve_waiting()

    def _hand_out(self, frames: bytes, deliveries: list[Delivered], *, is_recorded: bool) -> None:
        """Answer POPs whose deliveries are recorded; for others there is no message now."""
        answers = frames if is_recorded else without_messages(frames)
        self._settle(len(frames), answers, deliveries, Outcome.CONFIRMED)

    def _settle(
        self, held_bytes: int, frames: bytes, deliveries: list[Delivered], outcome: Outcome
    ) -> None:
        """Answer requests whose records are stored safely, or report their outcome.

        After a failed flush there is no answer: the content of the disk is unknown. Deliveries
        without an answer do not count, since no consumer saw the messages.
        """
        if deliveries and (outcome is not Outcome.CONFIRMED or self.is_gone):
            self._broker.shares.undo(deliveries)
        if outcome is Outcome.CONFIRMED:
            self.send(frames)
        elif outcome is Outcome.FLUSH_FAILED:
            self.close()
        else:
            self.send(unconfirmed(frames, outcome))
        self._client.settled(held_bytes)

    def _serve_waiting(self) -> None:
        if self._waiting and not self._broker.gate.is_open:
            self._broker.gate.wait(self)
            return
        end_s, taken_count = time.perf_counter() + TURN_S, 0
        while self._waiting and len(self._tasks) < OPEN_COUNT_MAX:
            if self.is_congested:
                self._client.await_room()
                break
            command = self._waiting.popleft()
            taken_count += 1
            self._serve(command)
            if command is self._set_aside:
                self._set_aside = None
                self._client.go_on()
            if self._waiting and time.perf_counter() >= end_s:
                self._serve_later()
                break
        if taken_count:
            self._client.taken(taken_count)
        self._end_if_served()

    def _serve_later(self) -> None:
        if not self._will_serve:
            self._will_serve = True
            self._loop.call_soon(self._serve_next_turn)

    def _serve_next_turn(self) -> None:
        self._will_serve = False
        self._serve_waiting()

    def _end_if_served(self) -> None:
        """End the session of a client that has left, once all its requests are served."""
        if self._is_closed and not (self._waiting or self._tasks):
            self._on_end(self)
            # A heartbeat among the last requests may have registered the client again.
            self._broker.forget(self)

    def _serve(self, command: Command) -> None:
        outcome = self._dispatcher.dispatch(self, command)
        if isinstance(outcome, bytes):
            if not command.is_oneway:
                self.send(outcome)
        elif outcome is not None:
            self._begin(self._finish(command, outcome))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    async def _finish(self, command: Command, outcome: Awaitable[bytes]) -> None:
        reply = await outcome
        if not command.is_oneway:
            self.send(reply)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("session_task_failed", client=self.address, exc_info=task.exception())
        self._serve_waiting()


def _make_queue_files(hot: HotPath, requests: list[Command]) -> None:
    for request in requests:
        hot.make_queue_file(request)
