"""Explain in one sentence why a consumer group does not read a queue, with the facts.

Pure: its input is the reports of brokers, with `None` for a missing report. A missing report is
never treated as an answer (D21). The answer is the first cause that hides all others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from backend.domain.queue_lock import HeldLock
from backend.domain.queue_reading import OnlineGroup, QueueProgress, QueueReader
from backend.domain.topic import Permission, QueueSettings

# Clients commit every 5 s, and pull again within 30 s.
STANDSTILL_MS: Final = 20_000
SILENCE_MS: Final = 40_000


class Cause(StrEnum):
    """Name the cause why a queue is not read, or that it is read."""

    NO_MASTER = "no_master"
    BROKER_SILENT = "broker_silent"
    GATE_CLOSED = "gate_closed"
    NOT_READABLE = "not_readable"
    GROUP_DISABLED = "group_disabled"
    NO_MEMBER = "no_member"
    NOT_SUBSCRIBED = "not_subscribed"
    NOTHING_TO_DO = "nothing_to_do"
    HOLDER_GONE = "holder_gone"
    SUSPENDED = "suspended"
    NOT_LOCKED = "not_locked"
    NOT_PULLING = "not_pulling"
    BEING_READ = "being_read"
    UNKNOWN = "unknown"


RUNNING: Final = frozenset({Cause.BEING_READ, Cause.NOTHING_TO_DO})
"""With these causes a queue is not paused."""


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """Hold the known facts of one queue and one consumer group; `None` is a missing report.

    `locks` are the locks of the whole group on that broker, `None` for a RocketMQ broker. `unknown`
    has the reason for each missing report.
    """

    topic: str
    broker_group_name: str
    queue_id: int
    consumer_group_name: str
    has_master: bool = True
    address: str | None = None
    silence: str | None = None
    refusal: str | None = None
    is_gate_open: bool | None = None
    permission: int | None = None
    settings: QueueSettings | None = None
    may_consume: bool | None = None
    online: OnlineGroup | None = None
    is_online_known: bool = False
    progress: QueueProgress | None = None
    max_offset: int | None = None
    locks: Sequence[HeldLock] | None = None
    reader: QueueReader | None = None
    observed_for_ms: int | None = None
    unknown: Sequence[str] = field(default_factory=tuple)

    @property
    def queue(self) -> str:
        """Name the queue to people."""
        return f"{self.topic}/{self.queue_id} on {self.broker_group_name}"

    @property
    def lock(self) -> HeldLock | None:
        """Find the lock of the queue."""
        mine = (self.topic, self.queue_id)
        return next((one for one in self.locks or () if (one.topic, one.queue_id) == mine), None)

    @property
    def lag(self) -> int | None:
        """Count the unread messages; None if unknown, or if the broker keeps no offset."""
        if self.progress is None or self.is_broadcasting:
            return None
        return self.progress.lag

    @property
    def is_broadcasting(self) -> bool:
        """Return whether each member reads the queue and keeps its own offset."""
        return self.online is not None and self.online.is_broadcasting


@dataclass(frozen=True, slots=True)
class Explanation:
    """Hold why one queue is paused, or that it is not, with all facts."""

    facts: QueueFacts
    cause: Cause
    sentence: str
    evidence: tuple[str, ...]

    @property
    def is_paused(self) -> bool | None:
        """Return whether the queue is paused; None if unknown."""
        if self.cause is Cause.UNKNOWN:
            return None
        return self.cause not in RUNNING


def explain(facts: QueueFacts) -> Explanation:
    """Find the first cause that applies, in the order in which causes hide each other."""
    cause, why = (
        _broker_cause(facts)
        or _permission_cause(facts)
        or _group_cause(facts)
        or _reader_cause(facts)
    )
    return Explanation(facts, cause, f"{facts.queue} {why}.", _evidence(facts))


def _broker_cause(facts: QueueFacts) -> tuple[Cause, str] | None:
    if not facts.has_master:
        return Cause.NO_MASTER, "is not served: its broker group has no master"
    if facts.silence is not None:
        return Cause.BROKER_SILENT, f"is on a broker that does not answer: {facts.silence}"
    if facts.refusal is not None:
        return Cause.GATE_CLOSED, f"is on a broker that refuses all requests now: {facts.refusal}"
    if facts.is_gate_open is False:
        return Cause.GATE_CLOSED, "waits while its broker hands over to another master"
    return None


def _permission_cause(facts: QueueFacts) -> tuple[Cause, str] | None:
    if facts.permission is not None and not facts.permission & Permission.READ:
        return Cause.NOT_READABLE, (
            f"is on a broker that permits no reading (brokerPermission={facts.permission})"
        )
    settings = facts.settings
    if settings is None:
        return None
    if not settings.is_readable:
        return Cause.NOT_READABLE, f"may not be read (perm={settings.permissions} of the topic)"
    if facts.queue_id >= settings.read_queue_count:
        return Cause.NOT_READABLE, (
            f"does not exist for consumers: the topic has {settings.read_queue_count} such queues"
        )
    return None


def _group_cause(facts: QueueFacts) -> tuple[Cause, str] | None:
    group, online = facts.consumer_group_name, facts.online
    if facts.may_consume is False:
        return Cause.GROUP_DISABLED, f"is not given to {group}: consumption is switched off for it"
    if online is None or not online.members:
        if facts.is_online_known:
            return (
                Cause.NO_MEMBER,
                f"is not read: {group} has no member there{_behind(facts)}",
            )
        return None
    if facts.topic not in online.topics:
        others = ", ".join(sorted(online.topics)[:5]) or "nothing"
        return Cause.NOT_SUBSCRIBED, (
            f"is not read: the members of {group} subscribe to {others}, not to {facts.topic}"
        )
    return None


def _reader_cause(facts: QueueFacts) -> tuple[Cause, str]:
    if facts.is_broadcasting:
        return Cause.UNKNOWN, (
            f"is read by each member of {facts.consumer_group_name} for itself (broadcasting): its"
            " broker keeps none of their offsets, so their progress is unknown"
        )
    if facts.lag == 0:
        closed = ""
        if facts.permission is not None and not facts.permission & Permission.WRITE:
            closed = ", and its broker takes no new ones (it is cordoned)"
        elif facts.settings is not None and not facts.settings.is_writable:
            closed = ", and the topic there is not writable"
        return (
            Cause.NOTHING_TO_DO,
            f"holds no message that {facts.consumer_group_name} has not read{closed}",
        )
    lock = facts.lock
    if lock is not None and not lock.is_connected:
        return Cause.HOLDER_GONE, (
            f"is locked by {lock.client_id} for {facts.consumer_group_name}, which is not"
            f" connected any more; it last renewed {_seconds(lock.idle_ms)} ago, and the lock ends"
            f" in {_seconds(lock.expires_in_ms)}{_behind(facts)}"
        )
    if lock is not None:
        return _locked_cause(facts, lock)
    if facts.locks:
        return Cause.NOT_LOCKED, (
            f"is not locked, although {facts.consumer_group_name} consumes in order: its members"
            f" lock their queues at their next rebalance, within 20 s{_behind(facts)}"
        )
    return _shared_cause(facts)


def _locked_cause(facts: QueueFacts, lock: HeldLock) -> tuple[Cause, str]:
    holder, reader = f"is held by {lock.client_id}, which is connected", facts.reader
    if reader is None or facts.lag is None:
        return Cause.UNKNOWN, f"{holder}; whether it reads is unknown"
    still_ms = _still_ms(facts, reader)
    if still_ms is None or still_ms < STANDSTILL_MS:
        return (
            Cause.BEING_READ,
            f"is not paused: {lock.client_id} holds it and reads{_behind(facts)}",
        )
    if _is_recent(reader.committed_ms, STANDSTILL_MS) or _is_recent(reader.pulled_ms, SILENCE_MS):
        return Cause.SUSPENDED, (
            f"{holder} and asks for messages, but has not got past"
            f" {_committed(facts)} for {_seconds(still_ms)}: it suspends the queue after a failure,"
            f" or is still at work on that message{_behind(facts)}"
        )
    return Cause.NOT_PULLING, f"{holder} but asks for no message{_behind(facts)}"


def _shared_cause(facts: QueueFacts) -> tuple[Cause, str]:
    reader = facts.reader
    if reader is None or facts.lag is None:
        return (
            Cause.UNKNOWN,
            f"has members of {facts.consumer_group_name}; whether they read is unknown",
        )
    if reader.committed_ms is None and _is_recent(reader.pulled_ms, SILENCE_MS):
        return Cause.BEING_READ, (
            f"is not paused: {_who(facts, reader)} asks for it, and has committed nothing yet"
            f"{_behind(facts)}"
        )
    still_ms = _still_ms(facts, reader)
    if still_ms is None:
        return Cause.UNKNOWN, "is on a broker that started too recently to know"
    if still_ms < STANDSTILL_MS:
        return (
            Cause.BEING_READ,
            f"is not paused: {facts.consumer_group_name} reads it{_behind(facts)}",
        )
    if _is_recent(reader.committed_ms, STANDSTILL_MS) or _is_recent(reader.pulled_ms, SILENCE_MS):
        return Cause.SUSPENDED, (
            f"is asked for by {_who(facts, reader)}, but the group has not got past"
            f" {_committed(facts)} for {_seconds(still_ms)}: messages fail, or take that"
            f" long{_behind(facts)}"
        )
    count = 0 if facts.online is None else len(facts.online.members)
    return Cause.NOT_PULLING, (
        f"is asked for by none of the {count} members of {facts.consumer_group_name} for"
        f" {_seconds(still_ms)}: its owner may be a client that is stuck{_behind(facts)}"
    )


def _still_ms(facts: QueueFacts, reader: QueueReader) -> int | None:
    """Return how long the group has made no progress; None while it is unknown."""
    if reader.advanced_ms is not None:
        return reader.advanced_ms
    observed_ms = facts.observed_for_ms
    return observed_ms if observed_ms is not None and observed_ms >= STANDSTILL_MS else None


def _evidence(facts: QueueFacts) -> tuple[str, ...]:
    lines: list[str] = []
    if facts.address is not None:
        lines.append(f"asked at {facts.address}")
    if facts.permission is not None:
        lines.append(f"brokerPermission {facts.permission}")
    if facts.settings is not None:
        lines.append(
            f"topic: perm {facts.settings.permissions}, {facts.settings.read_queue_count} queues to"
            f" read, {facts.settings.write_queue_count} to write"
        )
    if facts.may_consume is not None:
        lines.append(f"consumption of the group is {'on' if facts.may_consume else 'off'}")
    if facts.is_online_known:
        lines.append(_members(facts))
    if facts.progress is not None:
        progress = facts.progress
        lines.append(_progress_text(facts, progress))
    elif facts.max_offset is not None:
        lines.append(f"ends at {facts.max_offset}; the group has no committed offset there")
    if facts.locks is not None:
        lines.append(_lock_text(facts))
    if facts.reader is not None:
        lines.append(_reader_text(facts, facts.reader))
    return (*lines, *(f"unknown: {one}" for one in facts.unknown))


def _progress_text(facts: QueueFacts, progress: QueueProgress) -> str:
    if facts.is_broadcasting:
        return f"ends at {progress.end}; members keep their own offsets (broadcasting)"
    lag = "unknown" if progress.lag is None else progress.lag
    text = f"ends at {progress.end}, committed {progress.committed}, lag {lag}"
    unread = progress.unread
    if unread is not None and unread.expired:
        text += f", and {unread.expired} expired unread"
    if unread is not None and unread.ahead:
        text += f": ahead of the end by {unread.ahead}"
    return text


def _members(facts: QueueFacts) -> str:
    members = () if facts.online is None else facts.online.members
    if not members:
        return "members: none"
    names = ", ".join(one.client_id for one in members[:5])
    more = f" and {len(members) - 5} more" if len(members) > 5 else ""  # noqa: PLR2004 - as above
    queue_count = None if facts.settings is None else facts.settings.read_queue_count
    few = queue_count is not None and len(members) < queue_count
    shared = f"; fewer than the {queue_count} queues: some have several" if few else ""
    return f"members: {names}{more}{shared}"


def _lock_text(facts: QueueFacts) -> str:
    lock = facts.lock
    if lock is None:
        return f"not locked; the group holds {len(facts.locks or ())} locks there"
    state = "connected" if lock.is_connected else "not connected"
    return (
        f"locked by {lock.client_id} ({state}) for {_seconds(lock.held_ms)}, renewed"
        f" {_seconds(lock.idle_ms)} ago, ends in {_seconds(lock.expires_in_ms)}"
    )


def _reader_text(facts: QueueFacts, reader: QueueReader) -> str:
    seen = {
        "pulled": reader.pulled_ms,
        "committed": reader.committed_ms,
        "advanced": reader.advanced_ms,
    }
    parts = [f"{name} {_seconds(age)} ago" for name, age in seen.items() if age is not None]
    since = "" if facts.observed_for_ms is None else f" in {_seconds(facts.observed_for_ms)}"
    return f"last seen: {', '.join(parts)}" if parts else f"last seen: never{since}"


def _who(facts: QueueFacts, reader: QueueReader) -> str:
    members = () if facts.online is None else facts.online.members
    known = next((one.client_id for one in members if one.address == reader.address), None)
    return known or reader.address or "a client"


def _behind(facts: QueueFacts) -> str:
    return "" if facts.lag is None else f"; {facts.lag} messages wait"


def _committed(facts: QueueFacts) -> str:
    return "its offset" if facts.progress is None else f"offset {facts.progress.committed}"


def _is_recent(age_ms: int | None, limit_ms: int) -> bool:
    return age_ms is not None and age_ms < limit_ms


def _seconds(age_ms: int) -> str:
    return f"{max(0, age_ms) // 1000} s"
