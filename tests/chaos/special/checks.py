"""Check what stock clients, a committer and two rivals for a lock have seen of a run. Pure.

The invariants (targets.md 5.2): I9 committed offsets do not go back, I11 a lock has one holder at a
time. I12 a transaction is visible if and only if it is committed. I13 delayed messages are neither
lost nor early, and their copies have one key.
"""

import bisect
import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.chaos.evidence import Breach, Violation
from tests.chaos.journal import Acknowledgement, Commit, LockEvent, Look
from tests.chaos.special.traffic import Sort, Traffic, Verdict
from workers.broker.tables.queue_locks import LOCK_LIFE_MS

TICK_S: Final = 0.25
"""How long after its answer a commit may be missing from the log: 0.05 s, and a busy machine."""

PASSING_BACK_S: Final = 3.0
"""How long after its answer a commit at an acting replica may be missing at the master: the replica
passes it back once it has heard of the master."""


@dataclass(frozen=True, slots=True)
class Observations:
    """What clients have seen."""

    traffic: Traffic
    acknowledgements: Sequence[Acknowledgement] = ()
    commits: Sequence[Commit] = ()
    looks: Sequence[Look] = ()
    locks: Sequence[LockEvent] = ()
    is_acting: bool = False
    """Whether a replica acts for an absent master, instead of an election."""


def check_special(seen: Observations) -> list[Violation]:
    """Find all violations."""
    return [
        *check_times(seen.traffic),
        *check_transactions(seen.traffic),
        *check_arrivals(seen.traffic),
        *check_turns(seen.traffic),
        *check_locks(seen.locks),
        *check_offsets(seen),
    ]


def check_times(traffic: Traffic) -> Iterator[Violation]:
    """Look for messages that came before their time, and for copies with another key (I13)."""
    keys: dict[int, str] = {}
    for one in traffic.receipts:
        intention = traffic.intentions.get(one.number)
        if intention is None:
            yield Violation(Breach.INVENTED, f"{one} was never sent")
            continue
        if one.begin_ms < intention.due_ms:
            early_ms = intention.due_ms - one.begin_ms
            yield Violation(Breach.EARLY, f"{intention}: {early_ms} ms early, as {one}")
        if keys.setdefault(one.number, one.key) != one.key:
            text = f"message {one.number} came as {keys[one.number]} and as {one.key}"
            yield Violation(Breach.ANOTHER_KEY, text)


def check_transactions(traffic: Traffic) -> Iterator[Violation]:
    """Look for messages without a commit, and for commits that are stored twice (I12)."""
    committed_ms: dict[int, int] = {}
    for decision in traffic.decisions:
        if decision.verdict is Verdict.COMMIT:
            first = committed_ms.setdefault(decision.number, decision.at_ms)
            committed_ms[decision.number] = min(first, decision.at_ms)
    places: dict[int, tuple[int, int]] = {}
    for one in traffic.receipts:
        intention = traffic.intentions.get(one.number)
        if intention is None or intention.sort is not Sort.TRANSACTION:
            continue
        at_ms = committed_ms.get(one.number)
        if at_ms is None or one.begin_ms < at_ms:
            text = f"{one}, which was " + ("never committed" if at_ms is None else f"at {at_ms}")
            yield Violation(Breach.UNCOMMITTED, text)
        place = one.queue, one.offset
        if places.setdefault(one.number, place) != place:
            text = f"message {one.number} is at {places[one.number]} and at {place}"
            yield Violation(Breach.COMMITTED_TWICE, text)


def check_arrivals(traffic: Traffic) -> Iterator[Violation]:
    """Look for acknowledged messages that a group never received (I12, I13)."""
    if not traffic.acknowledged:
        return
    for group, number in sorted(traffic.missing(max(traffic.acknowledged.values()))):
        intention = traffic.intentions[number]
        is_transaction = intention.sort is Sort.TRANSACTION
        breach = Breach.NEVER_VISIBLE if is_transaction else Breach.UNDELIVERED
        yield Violation(breach, f"{intention} at the {group} group")


def check_turns(traffic: Traffic) -> Iterator[Violation]:
    """Look for two consumers that handle messages of one queue in order at one time (I11)."""
    queues = defaultdict(list)
    for one in traffic.receipts:
        if one.group == "orderly":
            queues[one.topic, one.queue].append(one)
    for turns in queues.values():
        turns.sort(key=lambda one: one.begin_ms)
        latest = turns[0]
        for one in turns[1:]:
            if one.begin_ms < latest.end_ms and one.consumer != latest.consumer:
                yield Violation(Breach.TWO_HOLDERS, f"{latest}, and {one}")
            if one.end_ms > latest.end_ms:
                latest = one


def check_locks(locks: Sequence[LockEvent]) -> Iterator[Violation]:
    """Look for a lock that was given while another client had it (I11).

    A client has a lock from the answer that gives it until it requests the release, or until the
    lock expires. The rivals ask one after the other, and renew far more often than a lock expires;
    a long recovery may prevent that.
    """
    holder: LockEvent | None = None
    expires_at_s = 0.0
    for event in locks:
        if holder is not None and event.answered_at_s >= expires_at_s:
            holder = None
        if event.is_release:
            if holder is not None and holder.client == event.client:
                holder = None
        elif event.is_given:
            if holder is not None and holder.client != event.client:
                text = f"{event.client} from broker {event.agent} at {event.answered_at_s}"
                since = f"{holder.client} has had it since {holder.answered_at_s}"
                yield Violation(Breach.TWO_HOLDERS, f"{text}, and {since} from {holder.agent}")
            if holder is None or holder.client != event.client:
                holder = event
            expires_at_s = event.asked_at_s + LOCK_LIFE_MS / 1000


def check_offsets(seen: Observations) -> Iterator[Violation]:
    """Look for reports of a committed offset that are below what a failover must keep (I9).

    That is an offset whose commit was answered, if a message that was sent later to the same master
    was acknowledged before the question. A replica that acts takes no messages: it passes its
    offsets to the master, whose later message decides.
    """
    kept = _kept_offsets(seen)
    in_doubt = {(c.queue, c.offset) for c in seen.commits if c.answered_at_s is None}
    for look in seen.looks:
        times, offsets = kept.get(look.queue, ([], []))
        index = bisect.bisect_left(times, look.asked_at_s)
        if not index or look.offset >= offsets[index - 1]:
            continue
        if (look.queue, look.offset) not in in_doubt:
            text = f"broker {look.agent} told {look.offset} of queue {look.queue}"
            yield Violation(
                Breach.OFFSET_BACK, f"{text} at {look.answered_at_s}; {offsets[index - 1]} was kept"
            )


def _kept_offsets(seen: Observations) -> dict[int, tuple[list[float], list[int]]]:
    """Return by queue, in the order of time, from when on which offset must be kept."""
    told = sorted(seen.acknowledgements, key=lambda one: one.sent_at_s)
    sent = [one.sent_at_s for one in told]
    # The earliest answer to any message that was sent at some time or later.
    answers = list(itertools.accumulate((one.answered_at_s for one in reversed(told)), min))[::-1]
    kept: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for commit in seen.commits:
        if not commit.is_taken or commit.answered_at_s is None:
            continue
        before = bisect.bisect_right(sent, commit.answered_at_s)
        # A broker that has acknowledged just before is the master.
        is_master = not seen.is_acting or (before > 0 and told[before - 1].agent == commit.agent)
        grace_s = TICK_S if is_master else PASSING_BACK_S
        index = bisect.bisect_left(sent, commit.answered_at_s + grace_s)
        if index == len(answers):
            continue
        if not is_master:
            kept[commit.queue].append((answers[index], commit.offset))
        elif all(one.agent == commit.agent for one in told[before : index + 1]):
            # The log of this master has the commit before the message, so replicas have both.
            kept[commit.queue].append((told[index].answered_at_s, commit.offset))
    floors = {}
    for queue, points in kept.items():
        points.sort()
        offsets = list(itertools.accumulate((offset for _, offset in points), max))
        floors[queue] = [at_s for at_s, _ in points], offsets
    return floors
