"""Decide which member of a broker group owns a share queue, and until when.

The rules are those of queue-ownership.md 4.6 and 4.7. The time is passed in, and is that of the
clock of Postgres. The log of the broker group refuses records of an earlier epoch, so the time is
never the only protection.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from backend.domain.share_queue import ShareQueueName


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """Hold the durations of leases; the spec calls them `share.lease.…` (4.20)."""

    ttl: timedelta = timedelta(seconds=10)
    slice: timedelta = timedelta(seconds=2)


LEASE_TERMS: Final = LeaseTerms()


class LeaseState(StrEnum):
    """Name the states of a share queue's lease."""

    FREE = "free"
    HELD = "held"
    RELEASING = "releasing"
    """The owner must give the share queue back, and its lease is not renewed any more."""


@dataclass(frozen=True, slots=True)
class Member:
    """Name one run of a broker: its id, and a number that each start of its process changes."""

    broker_id: int
    life: int


@dataclass(frozen=True, slots=True)
class Waiter:
    """Hold a member that asks for a share queue; `until` is when its request lapses.

    `has_messages` is whether the member sees a message that its consumers could get. A waiter that
    an operator has placed is served without a request.
    """

    broker_id: int
    until: datetime
    has_messages: bool
    is_placed: bool = False


@dataclass(frozen=True, slots=True)
class ShareLease:
    """Hold the lease of one share queue, with the waiters in the order of their first request.

    The epoch is that of the last grant, and never falls. A lease is free, or has an owner and an
    end. The slice has an end only while another member waits.
    """

    epoch: int = 0
    state: LeaseState = LeaseState.FREE
    owner: Member | None = None
    slice_ends_at: datetime | None = None
    ends_at: datetime | None = None
    waiters: tuple[Waiter, ...] = ()

    def is_owned_by(self, member: Member, epoch: int) -> bool:
        """Return whether a member has the lease of an epoch."""
        return self.owner == member and self.epoch == epoch

    def freed(self) -> "ShareLease":
        """Return the lease without an owner; epoch and waiters stay."""
        return ShareLease(epoch=self.epoch, waiters=self.waiters)

    def handed_over(self, successor_id: int, until: datetime) -> "ShareLease":
        """Return the lease once its owner must give it back to a named member.

        The successor is the first of the waiters, until an instant. A lease that it has already,
        or is free, has no owner to revoke it from.
        """
        waiters = tuple(one for one in self.waiters if one.broker_id != successor_id)
        if self.owner is not None and self.owner.broker_id == successor_id:
            return replace(self, waiters=waiters)
        placed = Waiter(successor_id, until, has_messages=True, is_placed=True)
        state = LeaseState.FREE if self.owner is None else LeaseState.RELEASING
        return replace(self, state=state, slice_ends_at=None, waiters=(placed, *waiters))

    def granted(self, member: Member, epoch: int, ends_at: datetime) -> "ShareLease":
        """Return the lease of a new owner, which waits no more."""
        waiters = tuple(one for one in self.waiters if one.broker_id != member.broker_id)
        return ShareLease(epoch, LeaseState.HELD, member, ends_at=ends_at, waiters=waiters)


@dataclass(frozen=True, slots=True)
class HeldLease:
    """Hold what an owner reports of a lease: its epoch, and whether messages are left."""

    epoch: int
    has_messages: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """Hold what a member reports of a share queue that it wants.

    `known_epoch` is the last one in the lane of the share queue, as far as the member has read it.
    """

    known_epoch: int
    has_messages: bool


@dataclass(frozen=True, slots=True)
class LeaseHeartbeat:
    """Hold one heartbeat of a member: what it has, what it wants, what it gives back.

    `wanted` is complete: a share queue that it does not name is not wanted any more. A share queue
    that is given back and wanted goes to the back of the waiters.

    Attributes:
        released: The epochs of the leases that are given back, by share queue.
    """

    member: Member
    held: Mapping[ShareQueueName, HeldLease]
    wanted: Mapping[ShareQueueName, Wish]
    released: Mapping[ShareQueueName, int]

    @property
    def names(self) -> set[ShareQueueName]:
        """Return all share queues that the heartbeat names."""
        return {*self.held, *self.wanted, *self.released}


@dataclass(frozen=True, slots=True)
class Standing:
    """Hold what a member may do: own share queues (in sync), and append to the log (sequencer)."""

    is_in_sync: bool
    is_sequencer: bool


@dataclass(frozen=True, slots=True)
class Arbitration:
    """Hold what a heartbeat changes, and its answer.

    Attributes:
        changed: The leases that are other ones now.
        granted: The epochs of new leases; a repeated request gets the same epoch again.
        revoked: The share queues that the member must stop to serve, and give back.
        awaited: The share queues of the member that another member waits for.
    """

    changed: Mapping[ShareQueueName, ShareLease]
    granted: Mapping[ShareQueueName, int]
    revoked: Collection[ShareQueueName]
    awaited: Collection[ShareQueueName]


def arbitrate(
    leases: Mapping[ShareQueueName, ShareLease],
    heartbeat: LeaseHeartbeat,
    standing: Standing,
    *,
    now: datetime,
    terms: LeaseTerms = LEASE_TERMS,
) -> Arbitration:
    """Decide about all share queues of a heartbeat.

    `leases` are those that it names, and those of which the member is owner or waiter. A share
    queue without a lease was never granted.
    """
    changed, granted, revoked, awaited = {}, {}, [], []
    for name in sorted(heartbeat.names | set(leases)):
        before = leases.get(name, ShareLease())
        turn = _Turn(before, heartbeat.member, standing, now, terms)
        held, wish = heartbeat.held.get(name), heartbeat.wanted.get(name)
        after = turn.decide(held, wish, heartbeat.released.get(name))
        if after != before:
            changed[name] = after
        is_served = after.owner == heartbeat.member and after.state is LeaseState.HELD
        is_new = after.owner != before.owner
        if is_served and (held or wish or is_new) and (held is None or held.epoch != after.epoch):
            granted[name] = after.epoch
        elif held is not None and not is_served:
            revoked.append(name)
        if is_served and after.waiters:
            awaited.append(name)
    return Arbitration(changed, granted, revoked, awaited)


@dataclass(frozen=True, slots=True)
class _Turn:
    """Decide about one share queue of a heartbeat."""

    lease: ShareLease
    member: Member
    standing: Standing
    now: datetime
    terms: LeaseTerms

    def decide(
        self, held: HeldLease | None, wish: Wish | None, released_epoch: int | None
    ) -> ShareLease:
        lease = self._without_lapsed(self.lease)
        if released_epoch is not None and lease.is_owned_by(self.member, released_epoch):
            lease = lease.freed()
        lease = self._fenced(lease, held, wish)
        lease = self._renewed(lease, held, wish)
        lease = self._waited(lease, wish)
        return self._sliced(lease)

    @property
    def _ends_at(self) -> datetime:
        return self.now + self.terms.ttl

    def _without_lapsed(self, lease: ShareLease) -> ShareLease:
        """End a lease whose time is over or whose process is gone, and drop silent waiters."""
        owner = lease.owner
        is_over = lease.ends_at is not None and lease.ends_at <= self.now
        is_own = owner is not None and owner.broker_id == self.member.broker_id
        waiters = tuple(one for one in lease.waiters if one.until > self.now)
        lease = replace(lease, waiters=waiters)
        return lease.freed() if is_over or (is_own and owner != self.member) else lease

    def _fenced(self, lease: ShareLease, held: HeldLease | None, wish: Wish | None) -> ShareLease:
        """Adopt a higher epoch of the lane: a sequencer without a control plane has appended it.

        That sequencer keeps the share queue. Its epoch may equal one that was granted meanwhile.
        Then its record was first in the lane, and it gets the next epoch.
        """
        if held is not None and self.standing.is_sequencer and self.standing.is_in_sync:
            if held.epoch > lease.epoch:
                return lease.granted(self.member, held.epoch, self._ends_at)
            if held.epoch == lease.epoch and lease.owner not in (None, self.member):
                return lease.granted(self.member, lease.epoch + 1, self._ends_at)
        if not self.standing.is_in_sync:
            # Its log may have an end that no other member has.
            return lease
        known = max(held.epoch if held else 0, wish.known_epoch if wish else 0)
        return replace(lease.freed(), epoch=known) if known > lease.epoch else lease

    def _renewed(self, lease: ShareLease, held: HeldLease | None, wish: Wish | None) -> ShareLease:
        """Renew the lease of the member, or revoke it; a lost answer is given again."""
        is_asked = held is not None or wish is not None
        if lease.owner != self.member or lease.state is not LeaseState.HELD or not is_asked:
            return lease
        is_slice_over = lease.slice_ends_at is not None and lease.slice_ends_at <= self.now
        has_messages = held is not None and held.has_messages
        if not self.standing.is_in_sync or (is_slice_over and has_messages and lease.waiters):
            return replace(lease, state=LeaseState.RELEASING)
        return replace(lease, ends_at=self._ends_at)

    def _waited(self, lease: ShareLease, wish: Wish | None) -> ShareLease:
        """Keep the place of a waiter, or add it at the back, and grant if it is its turn."""
        if lease.owner == self.member:
            return lease
        lease = replace(lease, waiters=tuple(self._waiters(lease.waiters, wish)))
        able = (one.broker_id for one in lease.waiters if one.has_messages)
        if lease.state is not LeaseState.FREE or next(able, None) != self.member.broker_id:
            return lease
        return lease.granted(self.member, lease.epoch + 1, self._ends_at)

    def _waiters(self, waiters: Iterable[Waiter], wish: Wish | None) -> Iterable[Waiter]:
        own = None
        if wish is not None and self.standing.is_in_sync:
            own = Waiter(self.member.broker_id, self._ends_at, wish.has_messages)
        is_placed = False
        for one in waiters:
            if one.broker_id != self.member.broker_id:
                yield one
            elif one.is_placed and self.standing.is_in_sync:
                is_placed = True
                yield one
            elif own is not None:
                is_placed = True
                yield own
        if own is not None and not is_placed:
            yield own

    def _sliced(self, lease: ShareLease) -> ShareLease:
        """Limit the time of an owner while another member waits (Q21, Q27)."""
        if not lease.waiters:
            return replace(lease, slice_ends_at=None)
        if lease.state is not LeaseState.HELD:
            return lease
        return replace(lease, slice_ends_at=lease.slice_ends_at or self.now + self.terms.slice)
