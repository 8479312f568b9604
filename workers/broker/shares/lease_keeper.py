"""Keep the leases of the share queues of one member (queue-ownership.md 4.6, 4.7; ADR 23).

A heartbeat (4102) names what the member has, wants and gives back. The answer has grants and
revocations. The member stops by its own clock, whatever else it knows. The log refuses what an
owner does after its epoch, so the clock is never the only protection. Turns of members cost more
than one owner (Q69), so a topic has them by choice.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypedDict

import msgspec
import structlog
from regent_engine import StoreError

from backend.remoting.bodies.share_leases import (
    ITEM_COUNT_MAX,
    HeldShareBody,
    LeaseDecisionsBody,
    LeaseHeartbeatBody,
    ShareIncidentBody,
    ShareLeaseBody,
    ShareQueueBody,
    WantedShareBody,
)
from backend.remoting.errors import RemotingError
from backend.remoting.names import pop_retry_topic
from backend.rules.share_incident import IncidentKind
from workers.broker.errors import Refusal
from workers.broker.replication.controller_client import ControllerRefused
from workers.broker.shares.member_shares import SeenShare, ShareName, pairs_of

if TYPE_CHECKING:
    from workers.broker.shares.credit import Credit
    from workers.broker.shares.member_shares import MemberShares
    from workers.broker.shares.share_incidents import ShareIncidents

BEAT_S: Final = 1.0
LOOK_S: Final = 0.02
"""While members wait for share queues, so often is looked for what can't wait for a heartbeat."""

CALM_LOOK_S: Final = 0.1
"""As LOOK_S, while no member waits."""

FALLBACK_S: Final = 0.2
"""While no arbiter answers, the sequencer looks so often for share queues without a lease."""

BEAT_GAP_S: Final = 0.02
"""Heartbeats that can't wait are at least so far apart."""

TTL_S: Final = 10.0
"""The time of a lease before an arbiter has said it."""

GUARD_S: Final = 1.0
"""A member stops so long before the end of its lease."""

CLAIM_S: Final = 0.5
"""A share queue that has become free is asked for so long with each look.

The arbiter may not yet have the heartbeat by which its owner gives it back.
"""

LINGER_S: Final = 0.05
"""Without a consumer that could take more, a share queue is given back after this time (Q26)."""

INTEREST_S: Final = 3.0
"""After the last POP for it, a share queue is wanted so long: a consumer asks again at once."""

LEAVE_S_MAX: Final = 2.0
"""A member that stops waits so long at most for the records by which it gives back."""

_UNKNOWN: Final = SeenShare(known_epoch=0, owner=None, has_messages=True)
"""What is known of a share queue that no lane names yet: it may have messages."""

_FAULTS: Final = (OSError, RemotingError, ControllerRefused, Refusal, StoreError)

Ask = Callable[[LeaseHeartbeatBody], Awaitable[LeaseDecisionsBody]]

log = structlog.get_logger()


@dataclass(slots=True)
class _Lease:
    """One lease of this member; it serves once its OWN record is read, and until `stops_at_s`.

    A lease that the sequencer took by itself has no end while no arbiter answers.
    """

    epoch: int
    stops_at_s: float | None
    is_owned: bool = False
    is_leaving: bool = False
    owning: asyncio.Task[None] | None = None
    idle_since_s: float | None = None
    """Since when no consumer could take a message."""


@dataclass(slots=True)
class LeaseFigures:
    """Count what became of leases, since the start of the process."""

    granted: int = 0
    fenced: int = 0
    """Grants and leases that ended since the lane has a record of a higher epoch."""
    lapsed: int = 0
    given_back: int = 0
    fallen_back: int = 0
    """Share queues that the sequencer owned without a lease: the control plane was silent."""


@dataclass(slots=True)
class _Sent:
    """What a heartbeat named."""

    at_s: float
    held: dict[ShareName, _Lease]
    released: dict[ShareName, int]
    incidents: list[ShareIncidentBody] | msgspec.UnsetType


class LeaseKeeper:
    """The leases of this member; all methods belong to the loop's thread."""

    def __init__(
        self,
        shares: "MemberShares",
        *,
        ask: Ask,
        is_sequencer: Callable[[], bool],
        credit: "Credit",
        incidents: "ShareIncidents",
        now_s: Callable[[], float],
    ) -> None:
        """Take what the lanes say, the arbiter, and whether consumers can take messages here.

        A member that can't store or apply records owns nothing (queue-ownership.md 4.12).

        The clock is never set.
        """
        self._shares, self._ask, self._now_s = shares, ask, now_s
        self._is_sequencer, self._credit = is_sequencer, credit
        self._incidents = incidents
        incidents.on_change = self._on_incident
        self._leases: dict[ShareName, _Lease] = {}
        self._wanted_until_s: dict[ShareName, float] = {}
        self._released: dict[ShareName, int] = {}
        self._awaited: set[ShareName] = set()
        self._reported: dict[ShareName, SeenShare] = {}
        self._looked: dict[ShareName, SeenShare] = {}
        self._freed_at_s: dict[ShareName, float] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._is_due, self._is_used = asyncio.Event(), asyncio.Event()
        self._changed = asyncio.Event()
        self._ttl_s, self._answered_at_s = TTL_S, now_s()
        self._falls_back_at_s = self._used_until_s = 0.0
        self._had_any = self._is_closed = self._leaves_out = False
        self._fault = ""
        self.figures = LeaseFigures()

    @property
    def is_silent(self) -> bool:
        """Return whether no arbiter has answered for the time of a lease."""
        return self._now_s() - self._answered_at_s >= self._ttl_s

    @property
    def wanted(self) -> frozenset[ShareName]:
        """Return the share queues that consumers of this member want, and that it has not."""
        now_s = self._now_s()
        return frozenset(
            name
            for name, until_s in self._wanted_until_s.items()
            if until_s > now_s and name not in self._leases and self._shares.is_shared(name.topic)
        )

    def want(self, names: Iterable[ShareName]) -> None:
        """Register interest: consumers of this member wait for messages of share queues.

        The first interest is reported at once (O16).
        """
        if self._is_closed or self._incidents.is_disabled:
            return
        now_s = self._now_s()
        for name in names:
            if self._wanted_until_s.get(name, 0.0) <= now_s and name not in self._leases:
                self._hurry()
            self._wanted_until_s[name] = now_s + INTEREST_S

    async def await_change(self, timeout_s: float) -> None:
        """Wait until a wanted share queue may have another owner or its first message."""
        self._is_used.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()

    async def run(self) -> None:
        """Keep the leases until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._look_again())
            tasks.create_task(self._beat_again())

    async def leave(self) -> None:
        """Give everything back, since this process stops (O30)."""
        self._is_closed = True
        self._wanted_until_s.clear()
        for name, lease in list(self._leases.items()):
            self._give_back(name, lease)
        if self._work:
            await asyncio.wait(self._work, timeout=LEAVE_S_MAX)
        if self._released:
            await self.beat()

    async def _beat_again(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BEAT_S):
                    await self._is_due.wait()
            if self.has_to_beat:
                await self.beat()
                await asyncio.sleep(BEAT_GAP_S)
            else:
                self._is_due.clear()
                self._answered_at_s = self._now_s()

    async def _look_again(self) -> None:
        while True:
            if not self.is_in_use():
                self._is_used.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(BEAT_S):
                        await self._is_used.wait()
            self.look()
            await asyncio.sleep(LOOK_S if self._awaited or self.wanted else CALM_LOOK_S)

    def is_in_use(self) -> bool:
        """Return whether the group has a shared topic in use, so that heartbeats are sent.

        Between two owners no lane names one. An operator may have named this member as the next
        one, so it goes on for the time of a lease.
        """
        return self._now_s() < self._used_until_s or self._is_used_now()

    def _is_used_now(self) -> bool:
        if self._leases or self._released or self.wanted or self._incidents.is_due:
            return True
        return self._shares.is_any_owned

    @property
    def has_to_beat(self) -> bool:
        """Return whether the arbiter gets a heartbeat: also the one that says what has ended."""
        return self.is_in_use() or self._had_any

    @property
    def is_due(self) -> bool:
        """Return whether the next heartbeat can't wait."""
        return self._is_due.is_set()

    def _hurry(self) -> None:
        self._is_due.set()
        self._is_used.set()

    async def beat(self) -> None:
        """Send one heartbeat and do what its answer says; a missing answer changes nothing."""
        self._is_due.clear()
        body, sent = self._heartbeat()
        try:
            decisions = await self._ask(body)
        except _FAULTS as error:
            if (reason := str(error)) != self._fault:
                log.warning("share_leases_unanswered", reason=reason)
                self._fault = reason
            return
        self._fault = ""
        self._take(decisions, sent)

    def _heartbeat(self) -> tuple[LeaseHeartbeatBody, _Sent]:
        seen = self._shares.seen()
        self._want_retries(seen)
        # The sequencer learns the epoch of a lease that it took with the OWN record.
        known = {name: lease for name, lease in self._leases.items() if lease.epoch}
        held = dict(list(known.items())[:ITEM_COUNT_MAX])
        wanted = sorted(self.wanted)
        self._note_left_out(len(known) + len(wanted) - ITEM_COUNT_MAX)
        wanted = wanted[: ITEM_COUNT_MAX - len(held)]
        self._reported = {name: seen.get(name, _UNKNOWN) for name in wanted}
        released = dict(list(self._released.items())[:ITEM_COUNT_MAX])
        body = LeaseHeartbeatBody(
            held=[
                HeldShareBody(
                    **_fields(name),
                    epoch=lease.epoch,
                    has_messages=self._is_busy(name, seen.get(name, _UNKNOWN)),
                )
                for name, lease in held.items()
            ],
            wanted=[
                WantedShareBody(
                    **_fields(name),
                    known_epoch=seen.get(name, _UNKNOWN).known_epoch,
                    has_messages=seen.get(name, _UNKNOWN).has_messages,
                )
                for name in wanted
            ],
            released=[ShareLeaseBody(**_fields(name), epoch=at) for name, at in released.items()],
            incidents=self._incidents.named(),
        )
        self._had_any = bool(held or wanted)
        return body, _Sent(self._now_s(), held, released, body.incidents)

    def _note_left_out(self, count: int) -> None:
        """Say that a heartbeat has no room for some share queues, when that begins."""
        if count > 0 and not self._leaves_out:
            log.warning("share_queues_left_out", count=count, named_max=ITEM_COUNT_MAX)
        self._leaves_out = count > 0

    def _want_retries(self, seen: Mapping[ShareName, SeenShare]) -> None:
        """Want the queues of retry topics whose messages the consumers here would get."""
        served = {pop_retry_topic(name.group, name.topic) for name in self._leases}
        self.want(
            name
            for name, one in seen.items()
            if name.topic in served and one.owner is None and one.has_messages
        )

    def _is_busy(self, name: ShareName, seen: SeenShare) -> bool:
        """Return whether a share queue may move: it has messages, or had some since the last time.

        Otherwise one whose consumers are fast enough would never move.
        """
        was_used = name in self._awaited and self._credit.was_used(name)
        return seen.has_messages or was_used

    def _take(self, decisions: LeaseDecisionsBody, sent: _Sent) -> None:
        self._answered_at_s, self._ttl_s = sent.at_s, decisions.ttl_ms / 1000
        self._incidents.answered(sent.incidents)
        stops_at_s = sent.at_s + self._ttl_s - GUARD_S
        for name, epoch in sent.released.items():
            if self._released.get(name) == epoch:
                del self._released[name]
        revoked = {_name(one) for one in decisions.revoked}
        for name, lease in sent.held.items():
            if name not in revoked and self._leases.get(name) is lease:
                lease.stops_at_s = stops_at_s
                self._shares.prolong(name, stops_at_s)
        for name in revoked:
            if (found := self._leases.get(name)) is not None and found is sent.held.get(name):
                self._give_back(name, found)
        for one in decisions.granted:
            self._own(_name(one), one.epoch, stops_at_s)
        self._awaited = {_name(one) for one in decisions.awaited}

    def _own(self, name: ShareName, epoch: int, stops_at_s: float) -> None:
        found = self._leases.get(name)
        if self._is_closed or self._incidents.is_disabled:
            self._released[name] = epoch
        elif found is None or (epoch > found.epoch and not found.is_leaving):
            lease = self._leases[name] = _Lease(epoch, stops_at_s)
            self.figures.granted += 1
            lease.owning = self._begin(self._append_own(name, lease))

    async def _append_own(self, name: ShareName, lease: _Lease) -> None:
        """Serve once the lane has the OWN record (Q24); a lane with a higher epoch refuses it."""
        try:
            is_owned = await self._shares.own(name, lease.epoch, ends_at_s=lease.stops_at_s)
        except _FAULTS as error:
            log.warning("share_queue_not_owned", **_fields(name), reason=str(error))
            # It is granted again with the next heartbeat, by the same epoch.
            self._shares.stop(name)
            self._forget(name, lease)
            return
        if is_owned and not lease.is_leaving and self._is_over(lease, self._now_s()):
            # The record needed longer than the lease.
            self._lapse(name, lease)
        elif is_owned:
            lease.is_owned = True
            # It may have been renewed meanwhile.
            self._shares.prolong(name, lease.stops_at_s)
            self._announce()
        else:
            self._note_fenced(name, lease)
            # A consumer that still waits wants it again, once this member has read the lane.
            self._wanted_until_s.pop(name, None)
            self._release(name, lease)

    def _give_back(self, name: ShareName, lease: _Lease) -> None:
        if not lease.is_leaving:
            lease.is_leaving = True
            self._begin(self._append_unown(name, lease))

    async def _append_unown(self, name: ShareName, lease: _Lease) -> None:
        """Give a share queue back once the lane has the UNOWN record (Q28).

        Without that record the next owner fences this one by its epoch.
        """
        if lease.owning is not None:
            await asyncio.wait([lease.owning])
        # Of a topic without turns the next owner keeps it, and POPs are forwarded there.
        may_want = not self._is_closed and self._shares.takes_turns(name.topic)
        wants_again = may_want and self._credit.has(name)
        if wants_again:
            # Given back and wanted: it goes to the back of the waiters (Q21).
            self._wanted_until_s[name] = self._now_s() + INTEREST_S
        try:
            await self._shares.give_back(name, wants_again=wants_again)
        except _FAULTS as error:
            log.warning("share_queue_not_given_back", **_fields(name), reason=str(error))
            self._shares.stop(name)
        self.figures.given_back += 1
        self._release(name, lease)

    def _release(self, name: ShareName, lease: _Lease) -> None:
        if self._forget(name, lease):
            self._released[name] = lease.epoch
            self._hurry()

    def _forget(self, name: ShareName, lease: _Lease) -> bool:
        if self._leases.get(name) is not lease:
            return False
        del self._leases[name]
        self._awaited.discard(name)
        self._credit.forget(name)
        self._announce()
        return True

    def _on_incident(self) -> None:
        """Give all leases back at once if this member can't go on; the arbiter hears of it now.

        There may be no UNOWN record: the next owner fences this member by its epoch.
        """
        if self._incidents.is_disabled:
            self._wanted_until_s.clear()
            for name, lease in list(self._leases.items()):
                self._shares.stop(name)
                self._release(name, lease)
        self._hurry()

    def look(self) -> None:
        """Do what can't wait for the next heartbeat."""
        now_s, owned = self._now_s(), self._shares.owned()
        if self._is_used_now():
            self._used_until_s = now_s + self._ttl_s
        seen = self._shares.seen_of(pairs_of(self._awaited | self._wanted_until_s.keys()))
        for name, lease in list(self._leases.items()):
            self._check(name, lease, owned.get(name), seen.get(name, _UNKNOWN), now_s)
        for name in owned.keys() - self._leases.keys():
            # Its OWN record came although the answer to it did not.
            self._shares.stop(name)
        self._wanted_until_s = {
            name: until_s for name, until_s in self._wanted_until_s.items() if until_s > now_s
        }
        falls_back = self._is_sequencer() and not self._incidents.is_disabled
        if self.is_silent and now_s >= self._falls_back_at_s and falls_back:
            self._falls_back_at_s = now_s + FALLBACK_S
            self._fall_back()
        self._look_at_wanted({name: seen.get(name, _UNKNOWN) for name in self.wanted})

    def _check(
        self, name: ShareName, lease: _Lease, owned_epoch: int | None, seen: SeenShare, now_s: float
    ) -> None:
        """Stop at the end of the lease, and give back what consumers here can't use (Q26)."""
        if lease.is_leaving or not lease.is_owned:
            return
        if not self._shares.is_shared(name.topic):
            # An operator has set the mode to PRIMARY: the sequencer owns it without a lease.
            self._give_back(name, lease)
            return
        if owned_epoch != lease.epoch:
            self._note_fenced(name, lease)
            self._forget(name, lease)
        elif self._is_over(lease, now_s):
            self._lapse(name, lease)
        elif name in self._awaited and seen.has_messages and not self._credit.has(name):
            lease.idle_since_s = lease.idle_since_s or now_s
            if now_s - lease.idle_since_s >= LINGER_S:
                self._give_back(name, lease)
        else:
            lease.idle_since_s = None

    def _note_fenced(self, name: ShareName, lease: _Lease) -> None:
        """Note that the lane refuses records of a lease: it has those of a later owner.

        What an operator has ordered is no incident: no member was late.
        """
        self.figures.fenced += 1
        if self._shares.has_ended_by_order(name, lease.epoch):
            log.info("share_lease_ended_by_order", **_fields(name), epoch=lease.epoch)
            return
        log.warning("share_queue_fenced", **_fields(name), epoch=lease.epoch)
        self._incidents.note_lease(IncidentKind.LEASE_FENCED, name, lease.epoch)

    def _lapse(self, name: ShareName, lease: _Lease) -> None:
        self.figures.lapsed += 1
        log.warning("share_lease_lapsed", **_fields(name), epoch=lease.epoch)
        self._incidents.note_lease(IncidentKind.LEASE_LAPSED, name, lease.epoch)
        self._shares.stop(name)
        self._give_back(name, lease)

    def _is_over(self, lease: _Lease, now_s: float) -> bool:
        if lease.stops_at_s is None:
            return not self._is_sequencer()
        return now_s >= lease.stops_at_s

    def _fall_back(self) -> None:
        """Own what has no living lease, since no arbiter answers: this is the sequencer (O25)."""
        seen = self._shares.seen()
        lapsed = {name for name, one in seen.items() if one.owner is not None}
        for name in (lapsed | self.wanted) - self._leases.keys():
            lease = self._leases[name] = _Lease(epoch=0, stops_at_s=None)
            lease.owning = self._begin(self._append_fallback(name, lease))

    async def _append_fallback(self, name: ShareName, lease: _Lease) -> None:
        try:
            epoch = await self._shares.own_as_sequencer(name)
        except _FAULTS as error:
            log.warning("share_queue_not_owned", **_fields(name), reason=str(error))
            epoch = None
        if epoch is None:
            self._forget(name, lease)
            return
        lease.epoch, lease.is_owned = epoch, True
        self.figures.fallen_back += 1
        log.warning("share_queue_owned_without_lease", **_fields(name), epoch=epoch)
        self._announce()

    def _look_at_wanted(self, wanted: dict[ShareName, SeenShare]) -> None:
        """Report at once that a wanted share queue has become free, or has its first message."""
        now_s, freed = self._now_s(), {}
        for name, now in wanted.items():
            if self._is_settled(name, now):
                self._wanted_until_s.pop(name)
                continue
            before = self._reported.get(name, _UNKNOWN)
            was_no_use = before.owner is not None or not before.has_messages
            if now.owner is not None or not now.has_messages:
                continue
            freed[name] = now_s if was_no_use else self._freed_at_s.get(name, 0.0)
            if now_s - freed[name] < CLAIM_S:
                self._hurry()
        self._freed_at_s = freed
        if wanted != self._looked:
            self._looked = wanted
            self._announce()

    def _is_settled(self, name: ShareName, now: SeenShare) -> bool:
        """Return whether another member has got a wanted share queue, and keeps it (Q69).

        A consumer that still waits is served there. If that member does not answer, the consumer
        wants the share queue again.
        """
        before = self._looked.get(name)
        is_granted = before is not None and now.known_epoch > before.known_epoch
        return is_granted and now.owner is not None and not self._shares.takes_turns(name.topic)

    def _announce(self) -> None:
        """Wake who waits for a change of an owner or of messages."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _begin(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("share_lease_task_failed", exc_info=error)


class _Fields(TypedDict):
    """The fields of bodies that name a share queue."""

    topic: str
    queue_id: int
    consumer_group: str


def _fields(name: ShareName) -> _Fields:
    return _Fields(topic=name.topic, queue_id=name.queue_id, consumer_group=name.group)


def _name(body: ShareQueueBody) -> ShareName:
    return ShareName(body.topic, body.queue_id, body.consumer_group)
