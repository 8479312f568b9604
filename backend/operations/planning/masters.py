"""Find the masters of a change, ask each of them, and write one step for each.

Topics, consumer groups and offsets are changed on masters; replicas copy them.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Final

from backend.brokers.asking import Answers
from backend.brokers.requests.properties import IsStock
from backend.db import brokers as broker_rows
from backend.db import clusters
from backend.domain.errors import BrokerGroupNotFound, InvalidName
from backend.domain.names import check_cluster_name
from backend.domain.names import check_topic_name as check_route_name
from backend.domain.plan import Check, CheckVerdict, Precondition
from backend.operations.engine.kind import OperationContext
from backend.remoting import names

NAMED_MAX: Final = 20


@dataclass(frozen=True, slots=True, order=True)
class Master:
    """Hold the master of a broker group, with its address."""

    broker_group_name: str
    address: str


@dataclass(frozen=True, slots=True)
class Masters:
    """Hold the masters of the order, and its groups without an online master."""

    found: tuple[Master, ...]
    missing: tuple[str, ...]

    @property
    def precondition(self) -> Precondition:
        """Return the masters as a fact: another master would have other values."""
        listed = ", ".join(f"{one.broker_group_name} {one.address}" for one in self.found)
        return Precondition("masters", listed or "none")

    def check(self, verdict: CheckVerdict) -> Check:
        """Name the groups that can't be changed, and the severity."""
        name = "every group has a master"
        if not self.found:
            return Check(name, CheckVerdict.BLOCK, "no broker group meant has a master online")
        if not self.missing:
            return Check(name, CheckVerdict.PASS, f"{len(self.found)} of {len(self.found)}")
        why = f"no master online, so nothing changes there: {shortened(self.missing)}"
        return Check(name, verdict, why)


def count_groups(groups: Sized) -> str:
    """Count broker groups, in words."""
    count = len(groups)
    return f"{count} broker group{'' if count == 1 else 's'}"


async def find_masters(
    cluster_name: str, chosen: Sequence[str], context: OperationContext
) -> Masters:
    """Find the masters of the named groups, or of all groups of a cluster.

    Raises:
        InvalidName: the name of the cluster is invalid.
        ClusterNotFound: the cluster does not exist.
        BrokerGroupNotFound: the cluster has no such group.
    """
    check_cluster_name(cluster_name)
    async with context.database.connect() as connection:
        await clusters.get(connection, cluster_name)
        known = await broker_rows.list_masters(connection, cluster_name)
    wanted = set(chosen) or {one.broker_group_name for one in known}
    for name in sorted(wanted - {one.broker_group_name for one in known}):
        raise BrokerGroupNotFound(cluster_name, name)
    meant = [one for one in known if one.broker_group_name in wanted]
    return Masters(
        tuple(Master(one.broker_group_name, one.address) for one in meant if one.is_online),
        tuple(one.broker_group_name for one in meant if not one.is_online),
    )


def check_answers(*answers: Answers[Master, Any]) -> Check:
    """Check whether all masters answered; the plan needs all answers."""
    name = "every master reports it"
    silent = {one: error for each in answers for one, error in each.silent.items()}
    if not silent:
        return Check(name, CheckVerdict.PASS, "all that were asked have answered")
    listed = shortened(f"{one.broker_group_name} ({error.reason})" for one, error in silent.items())
    return Check(name, CheckVerdict.BLOCK, f"no answer from {listed}")


async def check_fencing(masters: Iterable[Master], context: OperationContext) -> Check:
    """Check whether each broker itself refuses a replaced worker."""
    asked = list(masters)
    answers = (await context.brokers.ask_all(asked, IsStock())).answers
    stock = [one.broker_group_name for one in asked if answers.get(one, True)]
    name = "fencing"
    if not stock:
        return Check(name, CheckVerdict.PASS, "brokers refuse a worker that was overtaken")
    why = f"only the journal fences on {shortened(stock)}: RocketMQ brokers know no fencing numbers"
    return Check(name, CheckVerdict.WARN, why)


def check_topic(name: str) -> str:
    """Return a topic's name, if brokers accept it from a user.

    Raises:
        InvalidName: the name breaks the rules, or the topic belongs to the brokers.
    """
    check_route_name(name)
    _check("topic", name, names.check_topic_name)
    if names.is_system_topic(name):
        raise InvalidName(kind="topic", name=name, reason="belongs to the brokers")
    return name


def check_consumer_group(name: str) -> str:
    """Return a consumer group's name, if brokers accept it from a user.

    Raises:
        InvalidName: the name breaks the rules, or the group belongs to the brokers.
    """
    _check("consumer group", name, names.check_consumer_group_name)
    if name in names.BUILT_IN_GROUPS or name.startswith(names.SYSTEM_GROUP_PREFIX):
        raise InvalidName(kind="consumer group", name=name, reason="belongs to the brokers")
    return name


def shortened(parts: Iterable[str]) -> str:
    """Name the first of many, and count the rest."""
    listed = list(parts)
    rest = len(listed) - NAMED_MAX
    return ", ".join(listed[:NAMED_MAX]) + (f" and {rest} more" if rest > 0 else "")


def _check(kind: str, name: str, check: Callable[[str], None]) -> None:
    try:
        check(name)
    except names.InvalidName as error:
        reason = str(error).partition(f"{error.kind} ")[2] or str(error)
        raise InvalidName(kind=kind, name=name, reason=reason) from error
