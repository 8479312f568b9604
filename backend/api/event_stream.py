"""Write batches of events as server-sent events, and give a reason at the end.

Each event is a message whose id is its number; a heartbeat is an id alone, so that a filter that
lets little pass does not leave the cursor behind. `event: end` says why the stream ends.

A library for such responses ends them by replacing the signal handler of the server, and leaves a
task behind. Here the feed ends the streams, and each stream ends its tasks.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any, Final

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from backend.api.answers import UNAVAILABLE, error_facts
from backend.domain.errors import DomainError
from backend.domain.event import Event
from backend.services.upkeep.event_feed import EventBatch

SEND_DEADLINE_S: Final = 10.0
"""After this time without reading, a peer is disconnected; it can resume where it was."""
RETRY_MS: Final = 1_000

Present = Callable[[Event], Mapping[str, Any]]


class EventStreamResponse(StreamingResponse):
    """Send a first batch, then the following batches, and close their source at the end.

    The source is closed in every case: at its end, if the peer leaves, or if the server stops.
    """

    media_type = "text/event-stream"

    def __init__(
        self, first: EventBatch, batches: AsyncGenerator[EventBatch, None], present: Present
    ) -> None:
        self._batches = batches
        super().__init__(_write(first, batches, present), headers={"X-Accel-Buffering": "no"})

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the source ends or the peer leaves."""

        async def send_in_time(message: Any) -> None:
            async with asyncio.timeout(SEND_DEADLINE_S):
                await send(message)

        async with aclosing(self._batches):
            sending = asyncio.create_task(self._send(send_in_time), name="event_stream")
            leaving = asyncio.create_task(self.listen_for_disconnect(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (sending, leaving):
                    task.cancel()
                outcomes = await asyncio.gather(sending, leaving, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception) and not isinstance(outcome, OSError):
                raise outcome

    async def _send(self, send: Send) -> None:
        async with aclosing(self.body_iterator):  # type: ignore[type-var]
            await self.stream_response(send)


async def _write(
    first: EventBatch, batches: AsyncGenerator[EventBatch, None], present: Present
) -> AsyncGenerator[bytes, None]:
    yield b"retry: %d\n\n" % RETRY_MS + _batch(first, present)
    try:
        async for batch in batches:
            yield _batch(batch, present)
    except DomainError as error:
        yield _end(error.code, str(error), error_facts(error))
    except UNAVAILABLE:
        yield _end("unavailable", "a store behind the control plane does not answer; resume")
    else:
        yield _end("server_stopping", "this server is stopping; resume")


def _batch(batch: EventBatch, present: Present) -> bytes:
    parts = [
        b"id: %d\ndata: %b\n\n" % (event.number, msgspec.json.encode(present(event)))
        for event in batch.events
    ]
    if not batch.events or batch.events[-1].number != batch.position:
        parts.append(b"id: %d\n\n" % batch.position)
    return b"".join(parts)


def _end(code: str, message: str, details: Mapping[str, Any] | None = None) -> bytes:
    end = {"code": code, "message": message, "details": details or None}
    return b"event: end\ndata: %b\n\n" % msgspec.json.encode(end)
