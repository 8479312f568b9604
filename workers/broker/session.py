"""Drive the socket of one client: pass bytes to the engine, and other requests to the dispatcher.

Reading stops while the client does not read its answers. It also stops while too many of its
requests wait outside the hot path. The same applies while a part of its bytes waits for the next
turn. This bounds the memory for one client.

All requests that a client sent before it left are served. A failed write ends the transport, but
the unread bytes in the socket are still read and served, without answers.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Final, ParamSpec, TypeVar, cast

import structlog
from regent_engine import (
    Command,
    Connection,
    Decoder,
    HotPath,
    ParkedPull,
    ProtocolError,
    PullGrant,
    Received,
    StoreError,
)

from backend.remoting.unread import read_unread
from workers.broker.broker import Broker
from workers.broker.commit_log.bulk_turns import BulkTurn, BulkTurns
from workers.broker.commit_log.late_answers import unconfirmed, without_messages
from workers.broker.dispatcher import Dispatcher
from workers.broker.errors import Refusal
from workers.broker.replication.acknowledgement import Outcome
from workers.broker.requests.caller import OPEN_COUNT_MAX

SLICE_BYTES: Final = 32 << 10
"""The bytes of a connection that one turn of the event loop serves.

Then its answers are sent, so that the client can continue, and other connections have their turn.
"""

PULL_BYTES_A_TURN: Final = 256 << 10
"""The number of pulls that the engine answers of a slice; the rest waits for the next turn."""

TURN_S: Final = 0.001
"""Requests of a connection that the dispatcher serves take turns of so long with other work."""

BULK_BYTES: Final = 64 << 10
"""A client with a larger answer takes turns with other such clients from then on."""

WRITE_BUFFER_HIGH_BYTES: Final = 1 << 20

HELD_BYTES_MAX: Final = 4 << 20
"""Answers of a connection that wait for replicas: with more its requests are not read."""

PulledOfQueue = tuple[str, str, int, int, int, int, int, int]
"""Group, topic, queue; pulls with messages and without, messages, bytes; the next offset."""

Delivered = tuple[int, int, int]
"""The number of a share queue, and the time in ms since 1970 and the tag of a delivery."""

log = structlog.get_logger()

P = ParamSpec("P")
T = TypeVar("T")


class BrokerSession(asyncio.Protocol):
    """One connected client; processors use it as the caller."""

    def __init__(
        self,
        broker: Broker,
        dispatcher: Dispatcher,
        *,
        sessions: "set[BrokerSession]",
        bulk_turns: BulkTurns,
        is_fast: bool,
    ) -> None:
        self._broker, self._dispatcher = broker, dispatcher
        self._sessions, self._bulk_turns = sessions, bulk_turns
        self.is_fast = is_fast
        self._is_paused, self._held_bytes = False, 0
        self.peer: tuple[str, int] = ("0.0.0.0", 0)  # noqa: S104 - until connected
        self.address = ""
        self.active_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._descriptor: int | None = None
        self._connection: Connection | None = None
        self._connection_id = 0
        self._chunk, self._served = b"", 0
        # This broker closed the connection, and reads nothing more from it.
        self._is_ended = False
        # This send waits for a file of its queue. All that follows it waits as well, so that the
        # order is kept.
        self._set_aside: Command | None = None
        self._next_turn: asyncio.Handle | BulkTurn | None = None
        self._takes_bulk = False
        self._waiting: deque[Command] = deque()
        self._will_serve = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_gone(self) -> bool:
        """Return whether the client has left while its last requests are still served."""
        return self._transport is None

    @property
    def connection_id(self) -> int:
        """Return the number of the connection in the engine."""
        return self._connection_id

    @property
    def tasks(self) -> frozenset[asyncio.Task[None]]:
        """Return the requests that are still being served."""
        return frozenset(self._tasks)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection."""
        # uvloop's transports have the methods, not the base class.
        transport = cast("asyncio.Transport", transport)
        self._transport = transport
        host, port = (transport.get_extra_info("peername") or self.peer)[:2]
        self.peer, self.address = (host, port), f"{host}:{port}"
        self.active_at = self._loop.time()
        self._descriptor = transport.get_extra_info("socket").fileno()
        transport.set_write_buffer_limits(high=WRITE_BUFFER_HIGH_BYTES)
        self._connection = Connection(self._broker.hot, self.peer)
        self._connection_id = self._connection.id
        self._broker.polling.add(self._connection_id, self)
        self._sessions.add(self)

    def data_received(self, data: bytes) -> None:
        """Serve received bytes slice by slice; at most one chunk waits."""
        self.active_at = self._loop.time()
        self._chunk, self._served = self._chunk[self._served :] + data, 0
        if self._next_turn is None:
            if self._takes_bulk:
                self._wait_for_turn()
            else:
                self._serve_slice()

    def eof_received(self) -> None:
        """Serve what the client sent before it left."""
        self._serve_rest()

    def pause_writing(self) -> None:
        """Stop serving a client that does not read its answers."""
        self._is_paused = True
        self._adjust_reading()

    def resume_writing(self) -> None:
        """Serve the client again after it has read its answers."""
        self._is_paused = False
        self._catch_up()

    @property
    def is_congested(self) -> bool:
        """Return whether the client waits to read its answers, or too many wait for replicas."""
        is_full = self._is_paused or self._held_bytes > HELD_BYTES_MAX
        # A client that left reads no more answers, so no request waits for that.
        return is_full and self._transport is not None

    def _catch_up(self) -> None:
        if self._transport is not None and not self.is_congested:
            self._serve_waiting()
            self._broker.polling.catch_up(self._connection_id)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client, and serve what it sent before it left."""
        self._transport = None
        self._takes_bulk = False
        if self._is_ended:
            self._serve_rest()
            self._forget_waiting()
        elif self._descriptor is not None:
            # The transport closes the socket after this call.
            self._chunk = self._chunk[self._served :] + read_unread(self._descriptor)
            self._served = 0
        self._descriptor = None
        self._broker.polling.remove(self._connection_id)
        self._broker.forget(self)
        if exc is not None:
            log.info("client_lost", client=self.address, reason=str(exc))
        self.go_on()

    def go_on(self) -> None:
        """Serve the bytes that arrived while the gate was closed, or before the client left."""
        if self._next_turn is None and self._served < len(self._chunk):
            self._serve_slice()
        self._serve_waiting()

    def send(self, frame: bytes, body: bytes = b"") -> None:
        """Write a frame, perhaps with a separate body, unless the connection is closed."""
        if self._transport is None or not frame:
            return
        self.active_at = self._loop.time()
        if body:
            self._takes_bulk = len(body) >= BULK_BYTES
            # uvloop passes both to the system without joining or copying them.
            self._transport.writelines((frame, body))
        else:
            self._transport.write(frame)

    def park(
        self,
        command: Command,
        grant: PullGrant,
        *,
        queue_id: int,
        offset: int,
        count_max: int,
        deadline_ms: int,
        global_id: int | None = None,
        adds_delta: bool = True,
    ) -> bool:
        """Have a pull wait for messages; False when there is no space."""
        assert self._connection is not None, "connected before requests arrive"
        is_parked = self._connection.park(
            command,
            grant,
            queue_id,
            offset,
            count_max,
            deadline_ms,
            global_id=global_id,
            adds_delta=adds_delta,
        )
        if is_parked:
            self._broker.polling.parked()
        return is_parked

    def pop(self, command: Command, grant: PullGrant, *, may_wait: bool) -> bool:
        """Answer a checked POP, or have it wait; False if that is not possible now."""
        assert self._connection is not None, "connected before requests arrive"
        outcome = self._run(
            self._connection.pop,
            command,
            grant,
            now_ms=self._broker.clock(),
            elapsed_ms=self._broker.elapsed_ms(),
            may_wait=may_wait,
            socket=self._free_socket(),
        )
        if outcome is None:
            return True  # The connection ends.
        is_taken, received = outcome
        self._take_in(received)
        return is_taken

    def answer_parked(self) -> None:
        """Answer parked pulls that are ready, as many as one turn answers."""
        connection = self._connection
        # A client that does not read gets its answers once it has caught up.
        if connection is None or self.is_congested or self.is_gone:
            return
        received = self._run(
            connection.answer_parked,
            bytes_max=PULL_BYTES_A_TURN,
            now_ms=self._broker.clock(),
            elapsed_ms=self._broker.elapsed_ms(),
            socket=self._free_socket(),
        )
        if received is None:
            return
        self._take_in_parked(received)
        if (pull := received.unchecked) is not None:
            self._check_again(pull)

    def close(self) -> None:
        """Close the connection after all written bytes are sent."""
        self._is_ended = True
        if self._transport is None:
            self._drop_rest()
        else:
            self._transport.close()

    def abort(self) -> None:
        """Close the connection immediately, without sending the written bytes."""
        self._is_ended = True
        if self._transport is None:
            self._drop_rest()
        else:
            self._transport.abort()

    def _drop_rest(self) -> None:
        self._served = len(self._chunk)
        self._forget_waiting()

    def _forget_waiting(self) -> None:
        self._waiting.clear()
        self._set_aside = None

    def _serve_slice(self) -> None:
        self._next_turn = None
        if not self._broker.gate.is_open:
            self._await_gate()
            return
        if self._set_aside is None:
            self._receive(SLICE_BYTES)
        if self._set_aside is not None:
            self._adjust_reading()
        elif self._served < len(self._chunk):
            self._wait_for_turn()
        elif self._transport is None:
            self._end_if_served()
        elif not self._transport.is_reading():
            self._adjust_reading()

    def _end_if_served(self) -> None:
        """End the session of a client that has left, once all its requests are served."""
        if self._served < len(self._chunk) or self._waiting or self._tasks:
            return
        self._chunk, self._served = b"", 0
        self._sessions.discard(self)
        # A heartbeat among the last requests may have registered the client again.
        self._broker.forget(self)

    def _wait_for_turn(self) -> None:
        if self._takes_bulk:
            self._next_turn = self._bulk_turns.wait(self._serve_slice)
        else:
            self._next_turn = self._loop.call_soon(self._serve_slice)
        self._adjust_reading()

    def _serve_rest(self) -> None:
        if self._next_turn is not None and self._set_aside is None:
            self._next_turn.cancel()
            self._next_turn = None
            self._receive(len(self._chunk) - self._served, takes_pulls=False)

    def _receive(self, size: int, *, takes_pulls: bool = True) -> None:
        """Pass a slice to the engine, and handle its result."""
        assert self._connection is not None, "connected before data arrives"
        start, self._served = self._served, min(self._served + size, len(self._chunk))
        # The dispatcher refuses pulls on the fast port, and serves slow readers one request at a
        # time.
        if self.is_fast or self.is_congested or self._waiting or self.is_gone:
            takes_pulls = False
        received = self._run(
            self._connection.receive,
            self._chunk,
            self._broker.clock(),
            start=start,
            size=size,
            pull_bytes_max=PULL_BYTES_A_TURN if takes_pulls else 0,
            socket=self._free_socket() if takes_pulls else None,
            elapsed_ms=self._broker.elapsed_ms() if takes_pulls else 0,
        )
        if received is not None:
            self._served -= received.left
            self._take_in(received)

    def _run(self, work: Callable[P, T], /, *args: P.args, **options: P.kwargs) -> T | None:
        """Have the engine do work for this connection; None if the connection ends by it."""
        try:
            return work(*args, **options)
        except ProtocolError as error:
            log.warning("client_broke_protocol", client=self.address, reason=str(error))
            self._served = len(self._chunk)
            self._take_in(error.received)
            self.close()
            return None
        except StoreError as error:
            # The engine is closed, has panicked, or lost its data to send: the waiting clients get
            # an error.
            self._broker.store_failed(str(error))
            self._served = len(self._chunk)
            self.abort()
            return None
        except BaseException:
            # The client may have received the beginning of an answer.
            self._served = len(self._chunk)
            self.abort()
            raise

    def _free_socket(self) -> int | None:
        """Return the descriptor of the socket if no bytes wait to be written to it."""
        transport = self._transport
        if transport is None or transport.is_closing() or transport.get_write_buffer_size():
            return None
        return self._descriptor

    def _take_in(self, received: Received) -> None:
        """Handle the result of a turn of the engine; each read of a part builds a new object."""
        if answers := received.pull_answers:
            # The socket may contain the beginning of an answer: the rest must come next.
            self.send(answers)
        if replies := received.replies:
            self.send(replies)
        if pulled := received.pulled:
            self._note_pulled(pulled)
        self._take_in_progress(received)
        self._defer(received)
        if received.has_appended:
            self._broker.appended(is_turn_due=received.is_turn_due)
        if (failure := received.store_failure) is not None:
            self._broker.store_failed(failure)
        if cold := received.cold:
            self._waiting.extend(cold)
            self._serve_waiting()
        if (send := received.set_aside) is not None:
            self._set_aside = send
            self._begin(self._make_files([send, *self._requests_ahead()]))

    def _requests_ahead(self) -> list[Command]:
        """Decode what follows a send that is set aside: other sends may lack files as well."""
        ahead = self._chunk[self._served : self._served + SLICE_BYTES]
        try:
            return Decoder().receive(ahead)
        except ProtocolError:
            return []  # The connection meets the error when it comes there.

    async def _make_files(self, requests: list[Command]) -> None:
        """Have a thread make the files that the queues of sends lack, then serve the first send."""
        make = partial(_make_queue_files, self._broker.hot, requests)
        # Where a file cannot be made, the append says why.
        with contextlib.suppress(Refusal, StoreError):
            await self._broker.file_thread.run(make)
        self._waiting.append(requests[0])
        self._serve_waiting()

    def _take_in_parked(self, received: Received) -> None:
        """Handle the answers of parked pulls."""
        if answers := received.pull_answers:
            self.send(answers)
        if replies := received.replies:
            self.send(replies)
        pulled = received.pulled
        self._count(pulled)
        for group, topic, queue_id, *_, next_offset in pulled:
            self._broker.readers.note_next(group, topic, queue_id, next_offset)
        self._take_in_progress(received)
        self._defer(received)
        if received.arrivals:
            self._broker.appended(is_turn_due=False)
        if cold := received.cold:
            # A POP that waited needs its share queues named, or the disk.
            self._waiting.extend(cold)
            self._serve_waiting()

    def _take_in_progress(self, received: Received) -> None:
        """Record committed offsets, which are valid even if an answer is lost, and new waits."""
        for group, topic, queue_id, offset in received.commits:
            self._broker.commit(group, topic, queue_id, offset=offset, address=self.address)
        if received.is_parked:
            self._broker.polling.parked()

    def _check_again(self, pull: ParkedPull) -> None:
        """Check a parked pull whose grant has changed, and answer it or have it wait again."""
        assert self._connection is not None, "connected before pulls wait"
        grant = self._dispatcher.check_again(self, pull.command)
        if isinstance(grant, bytes):
            self.send(grant)
            return
        received = self._run(
            self._connection.resume,
            pull,
            grant,
            now_ms=self._broker.clock(),
            elapsed_ms=self._broker.elapsed_ms(),
            socket=self._free_socket(),
        )
        if received is not None:
            self._take_in_parked(received)

    def _note_pulled(self, pulled: list[PulledOfQueue]) -> None:
        """Count answered pulls."""
        broker, now_ms = self._broker, self._broker.elapsed_ms()
        for group, topic, queue_id, *_, next_offset in pulled:
            broker.readers.note_pull(
                group,
                topic,
                queue_id,
                address=self.address,
                now_ms=now_ms,
                next_offset=next_offset,
            )
        self._count(pulled)
        # Some may have been parked.
        broker.polling.parked()

    def _count(self, pulled: list[PulledOfQueue]) -> None:
        bytes_out = 0
        for group, topic, _, pulls, missed, messages, size_bytes, _ in pulled:
            bytes_out += size_bytes
            self._broker.meters.pulled(
                group, topic, messages=messages, size_bytes=size_bytes, pulls=pulls, missed=missed
            )
        self._takes_bulk = bytes_out >= BULK_BYTES
        self.active_at = self._loop.time()

    def _defer(self, received: Received) -> None:
        frames, proposal = received.deferred, received.proposal
        if not frames:
            if proposal is not None:
                self._broker.member_shares.propose(proposal, None)
            return
        self._held_bytes += len(frames)
        if self.is_congested:
            self._adjust_reading()
        if proposal is not None:
            # A replica answers once its records are in the log.
            handed_out = partial(self._hand_out, frames, received.deferred_deliveries)
            self._broker.member_shares.propose(proposal, handed_out)
            return
        settle = partial(self._settle, frames, received.deferred_deliveries)
        self._broker.membership.when_safe(received.deferred_position, settle)

    def _hand_out(self, frames: bytes, deliveries: list[Delivered], *, is_recorded: bool) -> None:
        """Answer POPs whose deliveries are recorded; for others there is no message now."""
        if not is_recorded:
            self._held_bytes -= len(frames)
            frames = without_messages(frames)
            self._held_bytes += len(frames)
        self._settle(frames, deliveries)

    def _settle(
        self, frames: bytes, deliveries: list[Delivered], outcome: Outcome = Outcome.CONFIRMED
    ) -> None:
        """Answer requests whose records are stored safely, or report their outcome.

        After a failed flush there is no answer: the content of the disk is unknown. Deliveries
        without an answer do not count, since no consumer saw the messages.
        """
        was_congested = self.is_congested
        self._held_bytes -= len(frames)
        if was_congested:
            self._loop.call_soon(self._catch_up)
        if deliveries and (outcome is not Outcome.CONFIRMED or self.is_gone):
            self._broker.shares.undo(deliveries)
        if outcome is Outcome.CONFIRMED:
            self.send(frames)
        elif outcome is Outcome.FLUSH_FAILED:
            self.close()
        else:
            self.send(unconfirmed(frames, outcome))

    def _await_gate(self) -> None:
        self._broker.gate.wait(self)
        self._adjust_reading()

    def _serve_waiting(self) -> None:
        if not self._broker.gate.is_open:
            self._await_gate()
            return
        end_s = time.perf_counter() + TURN_S
        while self._waiting and not self.is_congested and len(self._tasks) < OPEN_COUNT_MAX:
            command = self._waiting.popleft()
            self._serve(command)
            if command is self._set_aside:
                self._set_aside = None
                self.go_on()
                return
            if self._waiting and time.perf_counter() >= end_s:
                self._serve_later()
                break
        if self._transport is None:
            self._end_if_served()
        else:
            self._adjust_reading()

    def _serve_later(self) -> None:
        if not self._will_serve:
            self._will_serve = True
            self._loop.call_soon(self._serve_next_turn)

    def _serve_next_turn(self) -> None:
        self._will_serve = False
        self._serve_waiting()

    def _serve(self, command: Command) -> None:
        if command.is_response:
            return
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

    def _adjust_reading(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        # The rest for the next turn must not grow, and the end of the connection must not come
        # before it.
        waits_for_turn = self._next_turn is not None
        waits = self.is_congested or self._waiting or waits_for_turn or self._set_aside
        wants_reading = not waits and self._broker.gate.is_open
        if wants_reading and not self._transport.is_reading():
            self._transport.resume_reading()
        elif not wants_reading and self._transport.is_reading():
            self._transport.pause_reading()


def _make_queue_files(hot: HotPath, requests: list[Command]) -> None:
    for request in requests:
        hot.make_queue_file(request)
