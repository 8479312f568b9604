"""Report what keeps this member from its share queues to the arbiter (queue-ownership.md 4.12).

A lease heartbeat names all incidents that the member has. One that it names no more is over. An
incident of a lease is over at once, and is named until an answer has come.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec
import structlog

from backend.remoting.bodies.share_leases import (
    INCIDENT_COUNT_MAX,
    REASON_LENGTH_MAX,
    ShareIncidentBody,
)
from backend.rules.share_incident import IncidentKind

if TYPE_CHECKING:
    from workers.broker.shares.member_shares import ShareName

LASTING_COUNT_MAX: Final = 64
"""The lasting incidents that are named."""

LEFT_OUT_COUNT_MAX: Final = LASTING_COUNT_MAX - 8
"""The records of them that all members leave out. More of them wait until one of these is over.

So there is always room for what keeps this member from its share queues.
"""

log = structlog.get_logger()


@dataclass(slots=True)
class ShareIncidents:
    """The incidents of this process; belongs to the loop's thread."""

    epoch: Callable[[], int]
    """The epoch of the end of the log."""

    on_change: Callable[[], None] = lambda: None
    """Called when there is something to report."""

    _lasting: dict[tuple[IncidentKind, int], ShareIncidentBody] = field(default_factory=dict)
    _leases: deque[ShareIncidentBody] = field(
        default_factory=lambda: deque(maxlen=INCIDENT_COUNT_MAX - LASTING_COUNT_MAX)
    )
    _lost: dict[tuple[str, int], ShareIncidentBody] = field(default_factory=dict)
    """By topic and epoch."""

    _has_news: bool = False
    _reported: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_disabled(self) -> bool:
        """Return whether this member can't store or apply records, so it must own nothing."""
        return any(kind is not IncidentKind.RECORD_LEFT_OUT for kind, _ in self._lasting)

    @property
    def is_due(self) -> bool:
        """Return whether the arbiter does not know all of them yet."""
        return self._has_news

    def open(self, kind: IncidentKind, position: int, reason: str) -> None:
        """Begin an incident that lasts, about the record at a log position."""
        is_left_out = kind is IncidentKind.RECORD_LEFT_OUT
        count_max = LEFT_OUT_COUNT_MAX if is_left_out else LASTING_COUNT_MAX
        if (kind, position) in self._lasting or len(self._lasting) >= count_max:
            return
        log.error("share_incident_opened", kind=kind.value, position=position, reason=reason)
        self._lasting[kind, position] = ShareIncidentBody(
            kind=kind,
            epoch=max(0, self.epoch()),
            position=position,
            reason=reason[:REASON_LENGTH_MAX],
        )
        self._changed()

    def end(self, kind: IncidentKind, *, kept: Iterable[int] = ()) -> None:
        """End the incidents of a kind, except those about the records at some positions."""
        kept = set(kept)
        over = [key for key in self._lasting if key[0] is kind and key[1] not in kept]
        for key in over:
            log.info("share_incident_ended", kind=kind.value, position=key[1])
            del self._lasting[key]
        if over:
            self._changed()

    async def wait_reported(self, timeout_s: float) -> None:
        """Wait until the arbiter knows all of them, or for some seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self._has_news:
                    await self._reported.wait()

    def note_lease(self, kind: IncidentKind, name: "ShareName", epoch: int) -> None:
        """Note that a lease has ended before it was given back."""
        self._leases.append(
            ShareIncidentBody(
                kind=kind,
                epoch=epoch,
                topic=name.topic,
                queue_id=name.queue_id,
                consumer_group=name.group,
            )
        )
        self._changed()

    def note_lost(self, topic_name: str, epoch: int) -> None:
        """Note that the messages of a topic were lost with its former master."""
        kind = IncidentKind.MESSAGES_LOST
        self._lost[topic_name, epoch] = ShareIncidentBody(kind=kind, epoch=epoch, topic=topic_name)
        self._changed()

    def named(self) -> list[ShareIncidentBody] | msgspec.UnsetType:
        """Return all incidents for a heartbeat; UNSET if the arbiter knows them.

        Of many topics that lost their messages the next heartbeat names more.
        """
        if not self._has_news:
            return msgspec.UNSET
        named = [*self._lasting.values(), *self._leases]
        return named + list(islice(self._lost.values(), INCIDENT_COUNT_MAX - len(named)))

    def answered(self, named: list[ShareIncidentBody] | msgspec.UnsetType) -> None:
        """Note that the arbiter has what a heartbeat named."""
        if named is msgspec.UNSET:
            return
        for one in named:
            if one in self._leases:
                self._leases.remove(one)
            elif one.kind == IncidentKind.MESSAGES_LOST and one.topic is not None:
                self._lost.pop((one.topic, one.epoch), None)
        lasting = [one for one in named if one.position is not None]
        is_more = bool(self._leases or self._lost)
        self._has_news = is_more or lasting != list(self._lasting.values())
        self._reported.set()
        self._reported = asyncio.Event()

    def _changed(self) -> None:
        self._has_news = True
        self.on_change()
