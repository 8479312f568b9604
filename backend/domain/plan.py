"""Describe what an operation is about to do, and what was read back when it had done it.

Plain values: kinds of operations make plans, people read them, and the engine carries them out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from backend.domain.operation_errors import PreconditionMoved


class Risk(StrEnum):
    """Class what an operation puts at risk (console-and-cli.md 1.2)."""

    SMALL = "R1"
    SERVICE = "R2"
    LOSS = "R3"


_RISK_WORDS: Final[Mapping[Risk, str]] = {
    Risk.SMALL: "small",
    Risk.SERVICE: "affects service",
    Risk.LOSS: "may lose data",
}

NO_WAY_BACK: Final = "None"


@dataclass(frozen=True, slots=True)
class ConfirmationGate:
    """Hold what a confirmation must bring, and how long it can be taken back before it acts.

    Where the name is to be typed, a reason is to be given too.
    """

    needs_name: bool
    needs_loss_accepted: bool
    hold: timedelta

    @property
    def hold_ms(self) -> int:
        """Return that time as it travels."""
        return self.hold // timedelta(milliseconds=1)


GATES: Final[Mapping[Risk, ConfirmationGate]] = {
    Risk.SMALL: ConfirmationGate(needs_name=False, needs_loss_accepted=False, hold=timedelta()),
    Risk.SERVICE: ConfirmationGate(needs_name=True, needs_loss_accepted=False, hold=timedelta()),
    Risk.LOSS: ConfirmationGate(
        needs_name=True, needs_loss_accepted=True, hold=timedelta(seconds=10)
    ),
}


class CheckVerdict(StrEnum):
    """Say what a check of a plan found; a blocked plan can't be confirmed."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    BLOCK = "block"


class Agreement(StrEnum):
    """Say whether what was read back is what was intended."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Precondition:
    """Hold a fact that a plan was made from; the plan is void once it is another."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Check:
    """Hold what could go wrong, and why; `stock_code` is stock's response code for it, if any."""

    name: str
    verdict: CheckVerdict
    why: str
    stock_code: int | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Hold one thing that changes; None is what is not there."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """Name a step, and say in a sentence what it does.

    `action` is what a worker carries out, with its parameters; earlier versions wrote none.
    """

    name: str
    title: str
    action: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold what will happen, what changes, who feels it, what could go wrong and how to get back.

    `loss` states what may be lost, in words; only a plan of risk R3 has one. `facts` is what the
    kind of operation shows besides, such as the candidates of an election.

    Doors show all texts as they are, since names tell capitals apart. `summary`, titles, `impact`
    and `way_back` are sentences without a full stop, which begin with a capital and with no name;
    everything else is a phrase in small letters, which an error or a table takes up.
    """

    summary: str
    risk: Risk
    steps: tuple[PlannedStep, ...]
    preconditions: tuple[Precondition, ...] = ()
    changes: tuple[Difference, ...] = ()
    impact: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    way_back: str = ""
    loss: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gate(self) -> ConfirmationGate:
        """Return what its confirmation must bring."""
        return GATES[self.risk]

    @property
    def is_reversible(self) -> bool:
        """Tell whether the plan names a way back; only `no_way_back` writes that there is none."""
        return bool(self.way_back) and self.way_back.partition(":")[0] != NO_WAY_BACK

    @property
    def risk_label(self) -> str:
        """Say what the class means for this plan: it follows the way back, which it never denies.

        What data loss leaves to restore is for the way back to say, so R3 promises nothing.
        """
        words = _RISK_WORDS[self.risk]
        if not self.is_reversible:
            return f"{words}, can't be undone"
        return words if self.risk is Risk.LOSS else f"{words}, reversible"

    @property
    def block(self) -> Check | None:
        """Find the first check that forbids it."""
        return find_block(self.checks)


@dataclass(frozen=True, slots=True)
class ReadBack:
    """Hold one thing that was read back after the last step."""

    what: str
    intended: str
    observed: str | None
    agreement: Agreement


def no_way_back(why: str) -> str:
    """Say that nothing takes a plan back, and why."""
    return f"{NO_WAY_BACK}: {why}"


def find_block(checks: Sequence[Check]) -> Check | None:
    """Find the first check that forbids a plan."""
    return next((one for one in checks if one.verdict is CheckVerdict.BLOCK), None)


def find_moved(
    planned: Sequence[Precondition], now: Sequence[Precondition]
) -> PreconditionMoved | None:
    """Find the first precondition that is not what it was when the plan was made."""
    found = {one.name: one.value for one in now}
    for one in planned:
        if found.get(one.name) != one.value:
            return PreconditionMoved(one.name, expected=one.value, found=found.get(one.name))
    return None


def find_new_block(planned: Plan, now: Sequence[Check]) -> PreconditionMoved | None:
    """Find what forbids a plan by now; what was forbidden from the start has not moved."""
    block = find_block(now)
    if block is None or planned.block is not None:
        return None
    return PreconditionMoved(
        f"check {block.name!r}", expected="not in the way", found=f"in the way ({block.why})"
    )
