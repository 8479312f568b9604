"""Ask many brokers in parallel, within bounds, and record missing answers.

A page contains the answers. A broker that does not answer is named beside it, and all facts of this
broker are unknown, never absent (D21).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from backend.brokers.asking import Answers, Brokers, Inquiry, Round
from backend.brokers.errors import NoAnswer
from backend.db import brokers as broker_rows
from backend.db import clusters
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.names import check_cluster_name
from backend.domain.queue_lock import BrokerKey

DEADLINE_S: Final = 10.0
NO_MASTER: Final = "no master of the group is online"

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class UnknownBroker:
    """Hold a broker whose answer is missing or incomplete, and why."""

    broker: BrokerKey
    why: str


class Questions:
    """Ask brokers for one page: 64 of them at once, ten seconds for all.

    A broker that can't be reached is not asked again.
    """

    def __init__(self, brokers: Brokers) -> None:
        self._round = Round(brokers, patience_s=DEADLINE_S)
        self._whys: dict[BrokerKey, str] = {}

    def follow_up(self, brokers: Brokers) -> "Questions":
        """Begin further questions, which do not ask an unreachable broker again."""
        further = Questions(brokers)
        further._whys.update(self._whys)
        further._round.unreachable.update(self._round.unreachable)
        return further

    @property
    def unknown(self) -> tuple[UnknownBroker, ...]:
        """Return the brokers with missing or incomplete answers, by broker group."""
        listed = [UnknownBroker(broker, why) for broker, why in self._whys.items()]
        return tuple(sorted(listed, key=lambda one: one.broker.name))

    def note(self, broker: BrokerKey, why: str) -> None:
        """Record that facts of a broker are unknown; of several reasons the first is kept."""
        self._whys.setdefault(broker, why)

    async def ask(self, broker: BrokerKey, inquiry: Inquiry[AnswerT]) -> AnswerT | None:
        """Ask a broker; None means that it did not answer, and the reason is recorded."""
        answer = await self._round.ask(broker, inquiry)
        if isinstance(answer, NoAnswer):
            self.note(broker, answer.reason)
            return None
        return answer

    async def ask_all(
        self,
        brokers: Iterable[BrokerKey],
        inquiry: Inquiry[AnswerT] | Callable[[BrokerKey], Inquiry[AnswerT]],
    ) -> Mapping[BrokerKey, AnswerT]:
        """Ask brokers the same question, or each its own; missing answers are recorded."""
        answers = await self._round.ask_all(brokers, inquiry)
        for broker, why in answers.silent.items():
            self.note(broker, why.reason)
        return answers.answers


def key_of(broker: Broker) -> BrokerKey:
    """Return the key of a broker with its address."""
    return BrokerKey(
        broker.cluster_name,
        broker.broker_group_name,
        broker.broker_id,
        broker.address,
        broker.own_id,
    )


def unknown_brokers(
    asked: Iterable[BrokerKey],
    answers: Answers[BrokerKey, AnswerT],
    why_incomplete: Callable[[AnswerT], str | None],
) -> tuple[UnknownBroker, ...]:
    """Return the brokers that did not answer, or not with all, in the order of asking."""
    whys = {one: why_incomplete(answer) for one, answer in answers.answers.items()} | {
        one: error.reason for one, error in answers.silent.items()
    }
    return tuple(UnknownBroker(one, why) for one in asked if (why := whys[one]) is not None)


async def find_masters(
    cluster_name: str,
    questions: Questions,
    *,
    database: Database,
    holding: Collection[str] | None = None,
) -> Sequence[BrokerKey]:
    """Find the masters of a cluster; groups without an online master are recorded as unknown.

    Only the broker groups in `holding` are used, or all.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
    """
    check_cluster_name(cluster_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        known = await broker_rows.list_masters(connection, cluster_name, holding)
    return _online_masters(known, questions)


async def find_brokers(
    cluster_name: str, questions: Questions, *, database: Database
) -> Sequence[BrokerKey]:
    """Find the online brokers of a cluster; groups without a master are recorded as unknown.

    Raises:
        InvalidName: the name of the cluster is invalid. ClusterNotFound: there is no such cluster.
    """
    check_cluster_name(cluster_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        known = await broker_rows.list_of_name(connection, cluster_name)
    masters = _online_masters([one for one in known if one.is_master], questions)
    replicas = [key_of(one) for one in known if one.is_online and not one.is_master]
    return [*masters, *replicas]


def _online_masters(masters: Iterable[Broker], questions: Questions) -> list[BrokerKey]:
    online = []
    for broker in masters:
        if broker.is_online:
            online.append(key_of(broker))
        else:
            questions.note(key_of(broker), NO_MASTER)
    return online
