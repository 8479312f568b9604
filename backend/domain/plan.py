"""Describe the plan of an operation, and the values that were read back after it.

Plain values: kinds of operations make plans, people read them, and the engine carries them out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from backend.domain.operation_errors import PreconditionMoved


class Risk(StrEnum):
    """Name the risk class of an operation (console-and-cli.md 1.2)."""

    SMALL = "R1"
    SERVICE = "R2"
    LOSS = "R3"


_RISK_WORDS: Final[Mapping[Risk, str]] = {
    Risk.SMALL: "small",
    Risk.SERVICE: "affects service",
    Risk.LOSS: "may lose data",
}

NO_UNDO: Final = "None"


@dataclass(frozen=True, slots=True)
class ConfirmationGate:
    """Hold what a confirmation needs, and how long the operation can be cancelled before it begins.

    If the name must be typed, a reason is required too.
    """

    needs_name: bool
    needs_loss_accepted: bool
    hold: timedelta

    @property
    def hold_ms(self) -> int:
        """Return this time in milliseconds."""
        return self.hold // timedelta(milliseconds=1)


GATES: Final[Mapping[Risk, ConfirmationGate]] = {
    Risk.SMALL: ConfirmationGate(needs_name=False, needs_loss_accepted=False, hold=timedelta()),
    Risk.SERVICE: ConfirmationGate(needs_name=True, needs_loss_accepted=False, hold=timedelta()),
    Risk.LOSS: ConfirmationGate(
        needs_name=True, needs_loss_accepted=True, hold=timedelta(seconds=10)
    ),
}


class CheckVerdict(StrEnum):
    """Name the result of a check; a blocked plan can't be confirmed."""

    PASS = "pass"  # noqa: S105 - no password
    WARN = "warn"
    BLOCK = "block"


class Agreement(StrEnum):
    """Say whether the value that was read back is the intended one."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Precondition:
    """Hold a fact of a plan; the plan expires if the fact changes."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Check:
    """Hold a check and its reason; `stock_code` is the response code of RocketMQ, if any."""

    name: str
    verdict: CheckVerdict
    why: str
    stock_code: int | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Hold one value that changes; None means absent."""

    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """Hold the name of a step, and its effect as a sentence.

    `action` is the action of the step, with its parameters; earlier versions wrote none.
    """

    name: str
    title: str
    action: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Hold the effect, the changes, the impact, the checks and the undo of an operation.

    `loss` describes the possible loss in words; only a plan of risk R3 has one. `facts` are further
    facts of the kind, such as the candidates of an election.

    Doors show all texts unchanged, since names are case-sensitive. `summary`, titles, `impact` and
    `way_back` are sentences without a full stop. They begin with a capital letter, and not with a
    name. All other texts are phrases in small letters, for use in errors and tables.
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
        """Return what its confirmation needs."""
        return GATES[self.risk]

    @property
    def is_reversible(self) -> bool:
        """Return whether the plan names an undo; only `no_undo` writes that there is none."""
        return bool(self.way_back) and self.way_back.partition(":")[0] != NO_UNDO

    @property
    def risk_label(self) -> str:
        """Return the meaning of the risk class for this plan.

        It agrees with `way_back`. That text says what can be restored after a loss, so the label of
        R3 promises nothing.
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
    """Hold one value that was read back after the last step."""

    what: str
    intended: str
    observed: str | None
    agreement: Agreement


def no_undo(why: str) -> str:
    """Write that a plan can't be undone, and why."""
    return f"{NO_UNDO}: {why}"


def find_block(checks: Sequence[Check]) -> Check | None:
    """Find the first check that forbids a plan."""
    return next((one for one in checks if one.verdict is CheckVerdict.BLOCK), None)


def find_moved(
    planned: Sequence[Precondition], now: Sequence[Precondition]
) -> PreconditionMoved | None:
    """Find the first precondition that has changed since the plan was made."""
    found = {one.name: one.value for one in now}
    for one in planned:
        if found.get(one.name) != one.value:
            return PreconditionMoved(one.name, expected=one.value, found=found.get(one.name))
    return None


def find_new_block(planned: Plan, now: Sequence[Check]) -> PreconditionMoved | None:
    """Find a check that forbids a plan now, and did not when the plan was made."""
    block = find_block(now)
    if block is None or planned.block is not None:
        return None
    return PreconditionMoved(
        f"check {block.name!r}", expected="not in the way", found=f"in the way ({block.why})"
    )
