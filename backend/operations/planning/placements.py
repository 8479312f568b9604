"""Read each master's layout of a topic or group, and describe the change there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from backend.brokers.asking import Answers, Inquiry
from backend.brokers.errors import NoAnswer
from backend.domain.errors import DomainError
from backend.domain.plan import Check, CheckVerdict, Precondition
from backend.operations.actions.placed import Held, held_text
from backend.operations.engine.kind import OperationContext
from backend.operations.planning import masters
from backend.operations.planning.masters import Master, Masters

HeldT = TypeVar("HeldT", bound=Held)


@dataclass(frozen=True, slots=True)
class Placements(Generic[HeldT]):
    """Hold the masters of the order, and each one's topic or consumer group.

    `noun` is the word for the object, and `is_chosen` means that the order names the broker groups.
    """

    noun: str
    meant: Masters
    answers: Answers[Master, HeldT | None]
    is_chosen: bool

    @property
    def held(self) -> dict[Master, HeldT]:
        """Return the objects of the masters that have one."""
        return {one: value for one, value in self.answers.answers.items() if value is not None}

    @property
    def preconditions(self) -> tuple[Precondition, ...]:
        """Return the masters and their objects as facts."""
        return (self.meant.precondition, *self.answer_facts)

    @property
    def answer_facts(self) -> tuple[Precondition, ...]:
        """Return each master's object as a fact."""
        outcomes = {**self.answers.answers, **self.answers.silent}
        return tuple(
            Precondition(f"{self.noun} on {one.broker_group_name}", answer_text(outcomes[one]))
            for one in sorted(outcomes)
        )

    @property
    def masters_check(self) -> Check:
        """Check whether every broker group of the order has a master."""
        return self.meant.check(CheckVerdict.BLOCK if self.is_chosen else CheckVerdict.WARN)

    @property
    def answers_check(self) -> Check:
        """Check whether all masters answered."""
        return masters.check_answers(self.answers)

    @property
    def absence_check(self) -> Check:
        """Check whether no master has the object yet."""
        name = f"the {self.noun} is new"
        if not self.held:
            verb = "holds a topic" if self.noun == "topic" else "knows a group"
            return Check(name, CheckVerdict.PASS, f"no master asked {verb} of the name")
        where = masters.shortened(one.broker_group_name for one in self.held)
        why = f"it is there already on {where}: change it, or leave them out"
        return Check(name, CheckVerdict.BLOCK, why)

    def effect_check(self, changed: Sequence[Any], same: str) -> Check:
        """Check whether anything changes; `same` is the text if nothing does."""
        name = "something changes"
        if changed:
            return Check(name, CheckVerdict.PASS, f"on {masters.count_groups(changed)}")
        return Check(name, CheckVerdict.BLOCK, same)

    def check_known(self, absent: DomainError) -> None:
        """Refuse an object that no master has, if all have answered.

        Raises:
            DomainError: the given error.
        """
        if not self.held and not self.answers.silent:
            raise absent


def answer_text(answer: Held | NoAnswer | None) -> str:
    """Write the answer of a master."""
    if isinstance(answer, NoAnswer):
        return f"unknown: {answer.reason}"
    return held_text(answer)


async def read_placements(
    noun: str,
    cluster_name: str,
    chosen: Sequence[str],
    inquiry: Inquiry[HeldT | None],
    context: OperationContext,
) -> Placements[HeldT]:
    """Ask the masters of an order for an object.

    Raises:
        InvalidName: the name of the cluster is invalid.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: a named broker group does not exist.
    """
    meant = await masters.find_masters(cluster_name, chosen, context)
    answers = await context.brokers.ask_all(meant.found, inquiry)
    return Placements(noun, meant, answers, bool(chosen))


def listed(places: Sequence[Master]) -> list[dict[str, str]]:
    """Name masters for programs."""
    return [{"broker_group_name": one.broker_group_name, "address": one.address} for one in places]
