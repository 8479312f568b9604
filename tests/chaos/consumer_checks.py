"""Check committed offsets (I9) and delayed messages (I13) of a run. Pure.

An offset is guaranteed once its record in the log is confirmed: once a later message is
acknowledged. Commits of the last tick before a failover may be lost.
"""

import bisect
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

from tests.chaos.evidence import Breach, Evidence, Violation, number_of
from tests.chaos.journal import NONE_COMMITTED
from tests.chaos.stores import BrokerStore

STATE_TOPIC: Final = "rmq_sys_REGENT_STATE"
_OFFSETS_FIELD: Final = 4


@dataclass
class _Logged:
    """The offsets of one queue in the log, each with the position from which it is valid."""

    positions: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)

    def before(self, position: int) -> int:
        index = bisect.bisect_left(self.positions, position)
        return self.offsets[index - 1] if index else NONE_COMMITTED


def check_commits(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    """Compare the offsets of the log and the reported ones with the committed ones."""
    # A request without an answer may take effect late, and then lower an offset.
    in_doubt = {(c.queue, c.offset) for c in evidence.commits if c.answered_at_s is None}
    sent = {(c.queue, c.offset) for c in evidence.commits}
    logged: dict[int, _Logged] = {}
    for position, queue, offset in _offsets_in(truth, evidence):
        held = logged.setdefault(queue, _Logged())
        if (queue, offset) not in sent:
            text = f"queue {queue} has {offset} at {position}"
            yield Violation(Breach.OFFSET_INVENTED, text)
        elif held.offsets and offset < held.offsets[-1] and (queue, offset) not in in_doubt:
            text = f"queue {queue} has {offset} at {position}, and had {held.offsets[-1]}"
            yield Violation(Breach.OFFSET_BACK, text)
        held.positions.append(position)
        held.offsets.append(offset)
    yield from _check_looks(evidence, truth, logged, in_doubt)
    yield from _check_last(evidence, truth, logged)


def _offsets_in(truth: BrokerStore, evidence: Evidence) -> Iterator[tuple[int, int, int]]:
    """Yield position, queue and offset of the committer's queues in the records of state."""
    wanted = f"{evidence.topic}@{evidence.committing_group}"
    for record in truth.records:
        if record.topic == STATE_TOPIC:
            # The first byte is the version.
            for key, queues in msgspec.msgpack.decode(record.body[1:])[_OFFSETS_FIELD].items():
                if key == wanted:
                    for queue, offset in queues.items():
                        yield record.position, queue, offset


def _check_looks(
    evidence: Evidence,
    truth: BrokerStore,
    logged: dict[int, _Logged],
    in_doubt: set[tuple[int, int]],
) -> Iterator[Violation]:
    """Compare a master's report with the offsets that were confirmed at that time."""
    told = sorted(evidence.acknowledgements, key=lambda one: one.answered_at_s)
    times = [one.answered_at_s for one in told]
    confirmed = list(itertools.accumulate((one.position for one in told), max))
    for look in evidence.looks:
        before = bisect.bisect_left(times, look.asked_at_s)
        by_then = bisect.bisect_right(times, look.answered_at_s)
        if not before or look.queue not in logged:
            continue
        # A broker that was a replica may not know of it yet.
        if _master_at(confirmed[by_then - 1], evidence, truth) != look.agent:
            continue
        floor = logged[look.queue].before(confirmed[before - 1])
        if look.offset < floor and (look.queue, look.offset) not in in_doubt:
            text = f"broker {look.agent} told {look.offset} of queue {look.queue}"
            yield Violation(
                Breach.OFFSET_BACK, f"{text} at {look.answered_at_s}; {floor} was confirmed"
            )


def _check_last(
    evidence: Evidence, truth: BrokerStore, logged: dict[int, _Logged]
) -> Iterator[Violation]:
    """The commits of the last master in its last epoch are in its log, which it has written in
    order."""
    epoch_start = max((start for _, start in truth.epochs), default=0)
    of_epoch = [a.answered_at_s for a in evidence.acknowledgements if a.position >= epoch_start]
    last = {commit.queue: commit for commit in evidence.commits}
    for queue, commit in last.items():
        is_its = commit.is_taken and commit.agent == evidence.last_master
        if not is_its or not of_epoch or commit.sent_at_s < min(of_epoch):
            continue
        held = logged[queue].offsets[-1] if queue in logged else "nothing"
        if held != commit.offset:
            text = f"queue {queue} has {held} in the end; {commit.offset} was taken last"
            yield Violation(Breach.OFFSET_BACK, text)


def _master_at(position: int, evidence: Evidence, truth: BrokerStore) -> int | None:
    starts = [start for _, start in truth.epochs]
    index = bisect.bisect_right(starts, position) - 1
    return evidence.masters.get(truth.epochs[index][0]) if index >= 0 else None


def check_delays(evidence: Evidence, truth: BrokerStore) -> Iterator[Violation]:
    """Look for every acknowledged delayed message; duplicates are allowed."""
    delivered = {
        number_of(record.body) for record in truth.records if record.topic == evidence.delayed_topic
    }
    for number in evidence.deferred:
        if number not in delivered:
            yield Violation(Breach.UNDELIVERED, f"message {number}")
