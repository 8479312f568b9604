"""Take what the engine's thread reports of the clients of one broker (D23).

The thread reports in batches, at once where a client or another broker waits for it, else after
some milliseconds. Within a batch, the commits of pulls come before the requests that the engine
leaves. So a request sees the commits of all pulls that were answered before it.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Concatenate, Final, ParamSpec

import structlog
from regent_engine import ClientBatch, ClientEvent, Clients

from workers.broker.broker import Broker
from workers.broker.dispatcher import Dispatcher
from workers.broker.session import BrokerSession

IDLE_S_MAX: Final = 120.0
_POLL_S: Final = 0.005

log = structlog.get_logger()

P = ParamSpec("P")


class BrokerSessions:
    """The sessions of one broker; all methods belong to the loop's thread."""

    def __init__(self, broker: Broker, dispatcher: Dispatcher) -> None:
        """Start the thread; it serves clients after `listen`.

        Raises:
            OSError: the system gives no descriptor, or no thread.
        """
        self._broker, self._dispatcher = broker, dispatcher
        self._by_id: dict[int, BrokerSession] = {}
        self._clients = Clients(broker.hot)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._clients.descriptor, self._take)
        broker.polling.serve_by(self._clients.take_turns)
        broker.engine_links.serve_by(self._clients)
        broker.gate.watch(self._on_gate)
        broker.take_progress, broker.alone = self.take_progress, self._alone

    @property
    def all(self) -> list[BrokerSession]:
        """Return the session of each client that is connected, or still served."""
        return list(self._by_id.values())

    def listen(self, listener: socket.socket, *, is_fast: bool) -> None:
        """Accept clients.

        Raises:
            OSError: the process has no descriptor left.
        """
        self._clients.listen(listener.fileno(), is_fast=is_fast)

    def stop_listening(self) -> None:
        """Accept no more clients."""
        self._clients.stop_listening()

    def close_idle(self) -> None:
        """Close the connections on which nothing has happened for too long."""
        self._clients.close_idle(round(IDLE_S_MAX * 1000))

    def take_progress(self) -> None:
        """Record the commits of all pulls that were answered until now."""
        batch = self._clients.take_progress()
        # The thread has answered clients of which the loop has not heard.
        self._open(batch)
        self._note_progress(batch)

    async def drain(self, timeout_s: float) -> None:
        """Answer held pulls and let open requests finish, until the deadline."""
        self._broker.polling.release_all()
        self._broker.shared_pops.close()
        self._broker.engine_links.close()
        for _ in range(round(timeout_s / _POLL_S)):
            if not len(self._broker.polling) and not self._clients.forwarded_count:
                break
            await asyncio.sleep(_POLL_S)
        tasks = {task for session in self.all for task in session.tasks}
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)

    def close(self) -> None:
        """Close all connections after all written bytes are sent."""
        # From now on no pull is answered whose commit would come too late.
        self._clients.open_gate(is_open=False)
        for session in self.all:
            session.close()
        self.take_progress()

    def stop(self) -> None:
        """Close all connections at once, and end the thread; a second call does nothing."""
        self._loop.remove_reader(self._clients.descriptor)
        self._clients.stop()
        self.take_progress()
        self._by_id.clear()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        self._clients.pause()
        try:
            yield
        finally:
            self._clients.resume()

    def _take(self) -> None:
        batch = self._clients.take()
        self._open(batch)
        self._note_progress(batch)
        for event in batch.events:
            # They wait for the data that is sent to replicas next.
            if event.deferred is not None:
                self._have(event.client_id, BrokerSession.defer, *event.deferred)
        self._broker.meters.passed_on_count += batch.passed_on_count
        if batch.has_appended:
            self._broker.appended(is_turn_due=False)
        for event in batch.events:
            self._use_links(event)
            self._have(event.client_id, _report, event)
        self._clients.hear_appends(self._broker.membership.hears_appends)

    def _open(self, batch: ClientBatch) -> None:
        for event in batch.events:
            if (client := event.opened) is not None:
                session = BrokerSession(self._broker, self._dispatcher, client, on_end=self._on_end)
                self._by_id[client.id] = session
                self._broker.polling.add(client.id)

    def _on_end(self, session: BrokerSession) -> None:
        self._by_id.pop(session.connection_id, None)

    def _note_progress(self, batch: ClientBatch) -> None:
        for client_id, group, topic, queue_id, offset in batch.commits:
            self._have(client_id, BrokerSession.commit, group, topic, queue_id, offset)
        for client_id, is_asked, pulled in batch.pulled:
            self._have(client_id, BrokerSession.note_pulled, pulled, is_asked=is_asked)

    def _use_links(self, event: ClientEvent) -> None:
        """Handle what concerns other members of the broker group, and no client."""
        if event.lacks_link is not None:
            self._broker.engine_links.want(event.lacks_link)
        elif event.lost_link is not None:
            self._broker.engine_links.lost(*event.lost_link)
        elif event.unclaimed is not None:
            self._broker.shared_pops.give_back(*event.unclaimed)

    def _have(
        self,
        client_id: int,
        work: Callable[Concatenate[BrokerSession, P], None],
        /,
        *args: P.args,
        **options: P.kwargs,
    ) -> None:
        """Have a session do work; after an error it ends, and all others are served as before."""
        session = self._by_id.get(client_id)
        if session is None:
            return
        try:
            work(session, *args, **options)
        except Exception:
            log.exception("session_failed", client=session.address)
            session.abort()

    def _on_gate(self, *, is_open: bool) -> None:
        self._clients.open_gate(is_open)
        if not is_open:
            self.take_progress()


def _report(session: BrokerSession, event: ClientEvent) -> None:
    if event.requests is not None:
        session.take(event.requests)
    elif event.set_aside is not None:
        session.set_aside(event.set_aside)
    elif event.unchecked is not None:
        session.check_again(event.unchecked)
    elif event.store_failure is not None:
        session.note_failure(event.store_failure)
    elif event.broken_protocol is not None:
        session.broke_protocol(event.broken_protocol)
    elif event.has_room:
        session.go_on()
    elif event.is_closed:
        session.closed(event.reason)
