"""The journal of the stock Java clients: what they meant, what was acknowledged, what arrived.

`SpecialTrafficScenario` of the interop programs writes it; times are milliseconds of the wall
clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Sort(StrEnum):
    """The ways to send a message that is not visible at once."""

    DELAYED = "delayed"
    TIMER = "timer"
    TRANSACTION = "transaction"


class Verdict(StrEnum):
    """The outcome of a transaction."""

    COMMIT = "commit"
    ROLLBACK = "rollback"


GROUPS: Final = ("concurrent", "orderly")
"""The consumer groups; each must receive every message."""


@dataclass(frozen=True, slots=True)
class Intention:
    """A message that a client is about to send."""

    number: int
    sort: Sort
    at_ms: int
    due_ms: int
    """No consumer may receive the message before this time."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of a transaction, which its producer reports to a broker later."""

    number: int
    verdict: Verdict
    by: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """A message that a consumer of a group has handled."""

    group: str
    consumer: str
    number: int
    topic: str
    queue: int
    offset: int
    begin_ms: int
    end_ms: int
    key: str
    """The unique key, which all copies of a message share."""


@dataclass(slots=True)
class Traffic:
    """The journal of one run."""

    intentions: dict[int, Intention] = field(default_factory=dict)
    acknowledged: dict[int, int] = field(default_factory=dict)
    """When the broker acknowledged each message."""

    decisions: list[Decision] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)

    def read(self, lines: Iterable[str]) -> None:
        """Add whole lines of the journal.

        Raises:
            ValueError: a line is none of the journal.
        """
        for line in lines:
            event, *parts = line.rstrip("\n").split("\t")
            match event:
                case "intended":
                    number, at_ms, due_ms = int(parts[0]), int(parts[2]), int(parts[3])
                    self.intentions[number] = Intention(number, Sort(parts[1]), at_ms, due_ms)
                case "acknowledged":
                    self.acknowledged[int(parts[0])] = int(parts[1])
                case "decided":
                    decision = Decision(int(parts[0]), Verdict(parts[1]), parts[2], int(parts[3]))
                    self.decisions.append(decision)
                case "received":
                    self.receipts.append(_receipt(parts))
                case _:
                    raise ValueError(f"no event of the journal: {line!r}")

    def missing(self, until_ms: int) -> set[tuple[str, int]]:
        """Return, by group, acknowledged messages that each group must still receive.

        Only those count that were acknowledged before a time. A transaction counts once its
        producer has decided to commit; one that is not decided yet also counts.
        """
        undone = {one.number for one in self.decisions if one.verdict is Verdict.ROLLBACK}
        wanted = {
            number for number, at_ms in self.acknowledged.items() if at_ms <= until_ms
        } - undone
        received = {(one.group, one.number) for one in self.receipts}
        return {(group, number) for group in GROUPS for number in wanted} - received


def _receipt(parts: Sequence[str]) -> Receipt:
    group, consumer, number, topic, queue, offset, begin_ms, end_ms, key = parts
    return Receipt(
        group,
        consumer,
        int(number),
        topic,
        int(queue),
        int(offset),
        int(begin_ms),
        int(end_ms),
        key,
    )
