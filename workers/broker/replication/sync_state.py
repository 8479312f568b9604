"""Track the replicas of a master, and the confirmed position (storage-and-ha.md 9.5 and 9.7).

Plain values and rules, without sockets or a clock; times are milliseconds and only compared with
one another. The confirmed position is the part of the log that every member has (D7). While a
request to change the set is open, the members of both the old and the proposed set are needed (D8,
I15): it is unknown which set the controller uses.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SyncStateSet:
    """The brokers that hold every acknowledged message, as the controller committed it."""

    broker_ids: frozenset[int]
    epoch: int


@dataclass(slots=True)
class _Replica:
    """One broker that has been connected in this term."""

    is_learner: bool
    is_connected: bool = True
    held_position: int = 0
    caught_up_at_ms: int | None = None
    """The last time when it had the whole log."""

    sent_end: int = 0
    sent_at_ms: int = 0
    """The log's end, and the time, of a transfer to it. Another one is noted once the replica has
    that part: under a high append rate, a replica is never exactly at the end, although it has not
    fallen behind."""


@dataclass(slots=True)
class SyncState:
    """The SyncStateSet of a master during one epoch, and the progress of its replicas."""

    own_id: int
    current: SyncStateSet
    term_start: int
    """Log position at which this broker began to serve as master: all earlier data may have been
    acknowledged, also by itself before a restart in the same epoch."""

    confirmed_position: int
    lag_ms_max: int
    """`haMaxTimeSlaveNotCatchup`: a member that is behind for longer leaves the set."""

    proposed: frozenset[int] | None = None
    own_position: int = 0
    """The end of the safe log of this broker when positions were last compared."""

    _replicas: dict[int, _Replica] = field(default_factory=dict)

    @property
    def counted(self) -> frozenset[int]:
        """Return the needed members: those of the set and of the proposed set."""
        return self.current.broker_ids | (self.proposed or frozenset())

    @property
    def size(self) -> int:
        """Return the size to compare with `minInSyncReplicas` (storage-and-ha.md 9.6)."""
        return max(len(self.current.broker_ids), len(self.proposed or ()))

    def install(self, committed: SyncStateSet) -> bool:
        """Use a set that the controller has committed; an older set changes nothing.

        Only a newer epoch ends a proposal: until then it may have been committed.
        """
        if committed.epoch <= self.current.epoch:
            return False
        self.current = committed
        self.proposed = None
        return True

    def propose(self, broker_ids: frozenset[int]) -> None:
        """Record that a request for this set is open.

        A second proposal adds to the first, which may still arrive.
        """
        self.proposed = (self.proposed or frozenset()) | broker_ids | {self.own_id}

    def withdraw(self) -> None:
        """Remove a proposal: it was refused, and no other proposal can arrive any more."""
        self.proposed = None

    def connected(self, broker_id: int, *, is_learner: bool) -> None:
        """Called when a replica has identified itself."""
        known = self._replicas.get(broker_id)
        if known is None:
            self._replicas[broker_id] = _Replica(is_learner)
            return
        known.is_learner, known.is_connected = is_learner, True
        # Only its later reports are valid: it may have lost its disk.
        known.held_position = known.sent_end = 0

    def disconnected(self, broker_id: int) -> None:
        """Called when the connection of a replica has ended."""
        replica = self._replicas.get(broker_id)
        if replica is not None:
            replica.is_connected = False

    def sent(self, broker_id: int, log_end: int, now_ms: int) -> None:
        """Called when a part of the log was sent to a replica while the log ended at `log_end`."""
        replica = self._replicas[broker_id]
        if replica.held_position >= replica.sent_end:
            replica.sent_end, replica.sent_at_ms = log_end, now_ms

    def held(self, broker_id: int, position: int, log_end: int, now_ms: int) -> None:
        """Called when a replica has reported the end of its log."""
        replica = self._replicas[broker_id]
        replica.held_position = position
        if position >= log_end:
            replica.caught_up_at_ms = now_ms
        elif position >= replica.sent_end > 0:
            last = replica.caught_up_at_ms
            replica.caught_up_at_ms = max(replica.sent_at_ms, last or replica.sent_at_ms)

    def advance(self, log_end: int) -> int:
        """Move the confirmed position to the part that every needed member has, and return it.

        Sends are answered by it, and readers see no more (Q7, Q15).

        It never decreases during an epoch (I6). A disconnected member blocks it: its last report
        may be outdated, and it is about to leave the set.
        """
        lowest = self.own_position = log_end
        for broker_id in self.counted - {self.own_id}:
            replica = self._replicas.get(broker_id)
            if replica is None or not replica.is_connected:
                return self.confirmed_position
            lowest = min(lowest, replica.held_position)
        self.confirmed_position = max(self.confirmed_position, lowest)
        return self.confirmed_position

    def held_by(self, count: int) -> int:
        """Return the position that this number of members has, with this broker; 0 if impossible.

        Unlike in RocketMQ, a replica that is not certainly a member is not counted
        (storage-and-ha.md 9.6): it could not be elected.
        """
        certain = self.current.broker_ids & (self.proposed or self.current.broker_ids)
        held = (self._replicas.get(i) for i in certain - {self.own_id})
        others = sorted((r.held_position for r in held if r and r.is_connected), reverse=True)
        needed = others[: count - 1]
        return min([self.own_position, *needed]) if len(needed) == count - 1 else 0

    def joining(self, broker_id: int) -> bool:
        """Return whether a replica has all confirmed data, and may become a member.

        It must also have all data from before the term: then its history equals that of this
        master, and no message that was acknowledged in an earlier term can be missing.
        """
        replica = self._replicas.get(broker_id)
        return (
            replica is not None
            and replica.is_connected
            and not replica.is_learner
            and broker_id not in self.counted
            and replica.held_position
            >= max(self.confirmed_position, self.term_start, replica.sent_end)
        )

    def holds_confirmed(self, broker_id: int) -> bool:
        """Return whether a proposed replica still has what it needed to join.

        It may have lost its disk since it was proposed.
        """
        replica = self._replicas.get(broker_id)
        return (
            replica is not None
            and replica.is_connected
            and not replica.is_learner
            and replica.held_position >= max(self.confirmed_position, self.term_start)
        )

    def approaching(self, broker_id: int, *, distance_max: int) -> bool:
        """Return whether a replica would soon have all confirmed data if confirmation stopped.

        A proposed replica is needed, so no data that it lacks is confirmed any more. Otherwise it
        would never catch up under load.
        """
        replica = self._replicas.get(broker_id)
        return (
            replica is not None
            and replica.is_connected
            and not replica.is_learner
            and broker_id not in self.counted
            and replica.held_position >= self.term_start
            and replica.held_position + distance_max >= self.confirmed_position
        )

    def leaving(self, now_ms: int, *, term_started_at_ms: int) -> frozenset[int]:
        """Return the members that are lost, or behind for too long.

        So a member that fails to store what the others have leaves the set (Q39), and no client
        waits for it any longer (Q40).

        A member that never connected has the same time from the beginning of the term.
        """
        gone = set()
        for broker_id in self.current.broker_ids - {self.own_id}:
            replica = self._replicas.get(broker_id)
            if replica is not None and not replica.is_connected:
                gone.add(broker_id)
                continue
            caught_up_at_ms = replica.caught_up_at_ms if replica else None
            since_ms = term_started_at_ms if caught_up_at_ms is None else caught_up_at_ms
            if now_ms - since_ms > self.lag_ms_max:
                gone.add(broker_id)
        return frozenset(gone)

    def held_position(self, broker_id: int) -> int | None:
        """Return the end of the log of a replica; None if it never connected in this term."""
        replica = self._replicas.get(broker_id)
        return replica.held_position if replica else None

    def is_connected(self, broker_id: int) -> bool:
        """Return whether a replica is connected."""
        replica = self._replicas.get(broker_id)
        return replica is not None and replica.is_connected
