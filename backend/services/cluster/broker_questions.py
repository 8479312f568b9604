"""Ask many brokers at once, within bounds, and note who did not tell.

A page is made of what is told: a broker that does not answer is named beside it, and what depends
on it is unknown, never none (D21).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from backend.brokers.asking import Brokers, Inquiry, Round
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
    """Name a broker that did not tell all it was asked for, and say why."""

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
        """Begin further questions, which ask no broker again that can't be reached."""
        further = Questions(brokers)
        further._whys.update(self._whys)
        further._round.unreachable.update(self._round.unreachable)
        return further

    @property
    def unknown(self) -> tuple[UnknownBroker, ...]:
        """Name who did not tell, by broker group."""
        listed = [UnknownBroker(broker, why) for broker, why in self._whys.items()]
        return tuple(sorted(listed, key=lambda one: one.broker.name))

    def note(self, broker: BrokerKey, why: str) -> None:
        """Note that something of a broker is not known; of several reasons the first stays."""
        self._whys.setdefault(broker, why)

    async def ask(self, broker: BrokerKey, inquiry: Inquiry[AnswerT]) -> AnswerT | None:
        """Ask a broker; None is that it did not tell, and why is noted."""
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
        """Ask brokers the same, or each its own; those that did not tell are noted."""
        answers = await self._round.ask_all(brokers, inquiry)
        for broker, why in answers.silent.items():
            self.note(broker, why.reason)
        return answers.answers


def key_of(broker: Broker) -> BrokerKey:
    """Name a broker where it is asked."""
    return BrokerKey(
        broker.cluster_name,
        broker.broker_group_name,
        broker.broker_id,
        broker.address,
        broker.own_id,
    )


async def find_masters(
    cluster_name: str,
    questions: Questions,
    *,
    database: Database,
    holding: Collection[str] | None = None,
) -> Sequence[BrokerKey]:
    """Find the masters of a cluster; groups without one online are noted as not known.

    Only the broker groups named in `holding` are meant, or all.

    Raises:
        InvalidName: no cluster may be called so.
        ClusterNotFound: none is.
    """
    check_cluster_name(cluster_name)
    async with database.connect() as connection:
        await clusters.get(connection, cluster_name)
        known = await broker_rows.list_masters(connection, cluster_name, holding)
    return _online_masters(known, questions)


async def find_brokers(
    cluster_name: str, questions: Questions, *, database: Database
) -> Sequence[BrokerKey]:
    """Find all brokers of a cluster that are counted on; groups without a master are noted.

    Raises:
        InvalidName: no cluster may be called so.
        ClusterNotFound: none is.
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
