"""Follow the numbered events of a server; after a lost connection, resume without a gap."""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import httpx
from httpx_sse import ServerSentEvent

from backend.cli.errors import CommandError, ExitCode
from backend.cli.reader import print_note
from backend.cli.rest import RestClient

RETRY_DELAY_S: float = 1.0
_ENDS_FOR_GOOD: Final = {"unauthenticated": ExitCode.NOT_ALLOWED}

Event = Mapping[str, Any]


def newest_number(client: RestClient) -> int:
    """Return the position from which a stream contains only new events."""
    number: int = client.get("/events", limit=1)["newest_number"]
    return number


def follow(
    client: RestClient, after: int, chosen: Mapping[str, Any], *, until: float | None = None
) -> Iterator[Event | None]:
    """Yield each event after a number; a keep-alive of the server yields no event.

    Ends when the monotonic clock shows `until`.

    Raises:
        CommandError: the server refuses, or has ended the stream for good.
    """
    position, was_lost = after, False
    while until is None or time.monotonic() < until:
        try:
            with client.stream("/events", after=position, **chosen) as events:
                for number, event in _messages(client, events):
                    position, was_lost = number, False
                    yield event
                    if until is not None and time.monotonic() >= until:
                        return
        except httpx.HTTPError as error:
            if not was_lost:
                print_note(f"connection lost ({error or type(error).__name__}), resuming")
            was_lost = True
        time.sleep(RETRY_DELAY_S)


def _messages(
    client: RestClient, events: Iterator[ServerSentEvent]
) -> Iterator[tuple[int, Event | None]]:
    """Yield each number with its event; a number alone is a heartbeat.

    Raises:
        CommandError: the stream has ended for good.
    """
    for one in events:
        if one.event == "end":
            _note_end(client, one.json())
            return
        if one.id:
            yield int(one.id), one.json() if one.data else None


def _note_end(client: RestClient, end: Mapping[str, Any]) -> None:
    exit_code = _ENDS_FOR_GOOD.get(end["code"])
    if exit_code is not None and not client.signs_in_itself:
        raise CommandError(
            "the stream has ended",
            why=end["message"],
            next_step="regent login",
            exit_code=exit_code,
        )
    print_note(f"{end['message']}, resuming")
