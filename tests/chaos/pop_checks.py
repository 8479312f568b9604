"""Check what consumers received by POP (queue-ownership.md 2.2, 7). Pure.

A message that a consumer has finished is never handed out again (Q9). No message is lost: each was
finished by a consumer in the end (Q12). Within its time a message has one consumer (Q8, OI-2), and
one broker hands messages out at a time (Q18).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from backend.domain.share_mode import ShareMode
from tests.chaos.evidence import Breach, Evidence, Violation, number_of
from tests.chaos.journal import Act, Delivery, Effect, Settlement
from tests.chaos.stores import BrokerStore

CLOCK_SLACK_MS: Final = 50
"""Times of deliveries are wall time, and deadlines are of a clock that is never set."""

Place = tuple[int, int]
"""Queue and offset."""


def check_pops(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    """Find all violations of POP; without a delivery there was no consumer."""
    if not evidence.deliveries:
        return
    yield from _check_places(evidence, truth)
    yield from _check_finished(evidence)
    yield from _check_forgotten(evidence, truth)
    yield from _check_holders(evidence)
    yield from _check_owners(evidence)


def _check_places(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    """Look for each message that was handed out in the log of the end (I8)."""
    stored = _stored(evidence, truth)
    for one in evidence.deliveries:
        there = stored.get((one.queue, one.offset), "nothing")
        if there != one.number:
            yield Violation(Breach.UNREAD, f"{_named(one)}; there is {there} now")


def _check_finished(evidence: Evidence) -> Iterator[Violation]:
    finished: dict[Place, float] = {}
    for act in evidence.settlements:
        if act.act is Act.FINISH and act.effect is Effect.DONE:
            place = act.queue, act.offset
            finished[place] = min(act.answered_at_s, finished.get(place, act.answered_at_s))
    for one in evidence.deliveries:
        answered_at_s = finished.get((one.queue, one.offset))
        if answered_at_s is not None and one.asked_at_s > answered_at_s:
            text = f"{_named(one)}, finished at {answered_at_s}"
            yield Violation(Breach.FINISHED_AGAIN, text)


def _check_forgotten(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    """Look for each message of the log among those that consumers have finished."""
    settled = {
        (act.queue, act.offset)
        for act in evidence.settlements
        if act.act is Act.FINISH and act.effect is not Effect.NONE
    }
    for (queue, offset), number in _stored(evidence, truth).items():
        if (queue, offset) not in settled:
            yield Violation(Breach.FORGOTTEN, f"message {number} at {queue}/{offset}")


def _check_holders(evidence: Evidence) -> Iterator[Violation]:
    """Compare each delivery of a message with the one before it by the same owner.

    In SHARED mode each delivery is in the log, so that the next owner knows it as well (OI-2).
    """
    is_shared = evidence.share_mode is ShareMode.SHARED
    acts: dict[Place, list[Settlement]] = defaultdict(list)
    for act in evidence.settlements:
        acts[act.queue, act.offset].append(act)
    by_owner: dict[tuple[int, ...], list[Delivery]] = defaultdict(list)
    for one in evidence.deliveries:
        owner = () if is_shared else (one.agent, one.tag)
        by_owner[*owner, one.queue, one.offset].append(one)
    for group in by_owner.values():
        group.sort(key=lambda one: one.pop_time_ms)
        for former, later in pairwise(group):
            until_ms = _held_until_ms(former, later, acts[former.queue, former.offset])
            if until_ms is not None and later.pop_time_ms < until_ms - CLOCK_SLACK_MS:
                text = f"{_named(later)} at {later.pop_time_ms} ms, and {former.consumer} had it"
                yield Violation(Breach.HELD_TWICE, f"{text} until {until_ms} ms")


def _held_until_ms(former: Delivery, later: Delivery, acts: Sequence[Settlement]) -> int | None:
    """Return until when a consumer had a message; None if that is unknown, or it gave it back."""
    pop_time_ms, until_ms = former.pop_time_ms, former.pop_time_ms + former.invisible_ms
    for act in sorted(acts, key=lambda one: one.asked_at_s):
        is_of_it = (act.tag, act.pop_time_ms) == (former.tag, pop_time_ms)
        if not is_of_it or act.asked_at_s > later.answered_at_s or act.effect is Effect.NONE:
            continue
        if act.act is Act.GIVE_BACK or (act.act is Act.KEEP and act.until_ms is None):
            return None
        if act.until_ms is not None:
            until_ms = act.until_ms
    return until_ms


def _check_owners(evidence: Evidence) -> Iterator[Violation]:
    """One broker hands messages out in an epoch, and none of an earlier epoch does so later.

    In SHARED mode each queue has its own epoch, and a member may pass on what its owner answers.
    """
    is_shared = evidence.share_mode is ShareMode.SHARED
    owners: dict[int, int] = {}
    first_answers: dict[tuple[int, int], float] = {}
    for one in evidence.deliveries:
        owner = owners.setdefault(one.tag, one.agent)
        if owner != one.agent and not is_shared:
            yield Violation(Breach.TWO_OWNERS, f"{_named(one)}; its owner was broker {owner}")
        scope = one.queue if is_shared else 0
        first = first_answers.get((scope, one.tag), one.answered_at_s)
        first_answers[scope, one.tag] = min(first, one.answered_at_s)
    for one in evidence.deliveries:
        own_scope = one.queue if is_shared else 0
        for (scope, later), answered_at_s in first_answers.items():
            if scope == own_scope and later > one.tag and answered_at_s < one.asked_at_s:
                text = f"{_named(one)}; the owner of epoch {later} had answered"
                yield Violation(Breach.TWO_OWNERS, f"{text} at {answered_at_s}")
                break


def _stored(evidence: Evidence, truth: BrokerStore) -> dict[Place, int]:
    return {
        (record.queue, record.offset): number_of(record.body)
        for record in truth.records
        if record.topic == evidence.topic
    }


def _named(one: Delivery) -> str:
    return (
        f"broker {one.agent} handed message {one.number} at {one.queue}/{one.offset} out"
        f" to {one.consumer} in epoch {one.tag}, asked at {one.asked_at_s}"
    )
