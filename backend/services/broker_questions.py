"""Ask many brokers at once, within bounds, and note who did not tell.

A page is made of what is told: a broker that does not answer is named beside it, and what depends
on it is unknown, never none (D21).
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.db import brokers as broker_rows
from backend.db import clusters
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.names import check_cluster_name
from backend.domain.queue_lock import BrokerKey
from backend.services.queue_locks import key_of

CONCURRENT_COUNT_MAX: Final = 64
DEADLINE_S: Final = 10.0
NO_MASTER: Final = "no master of the group is online"

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class UnknownBroker:
    """Name a broker that did not tell all it was asked for, and say why."""

    broker: BrokerKey
    why: str


class Questions:
    """Ask brokers for one page: 64 questions at once, ten seconds for all of them.

    A broker that can't be reached is not asked again.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(CONCURRENT_COUNT_MAX)
        self._deadline = asyncio.get_running_loop().time() + DEADLINE_S
        self._whys: dict[BrokerKey, str] = {}
        self._silent: set[BrokerKey] = set()

    def follow_up(self) -> "Questions":
        """Begin further questions that ask nobody again who can't be reached."""
        further = Questions()
        further._whys, further._silent = dict(self._whys), set(self._silent)
        return further

    @property
    def unknown(self) -> tuple[UnknownBroker, ...]:
        """Name who did not tell, by broker group."""
        told = [UnknownBroker(broker, why) for broker, why in self._whys.items()]
        return tuple(sorted(told, key=lambda one: (one.broker.group_name, one.broker.broker_id)))

    def note(self, broker: BrokerKey, why: str) -> None:
        """Note that something of a broker is not known; of several reasons the first stays."""
        self._whys.setdefault(broker, why)

    async def ask(
        self, broker: BrokerKey, question: Callable[[], Awaitable[AnswerT]]
    ) -> AnswerT | None:
        """Ask a broker; None is that it did not tell, and why is noted."""
        async with self._slots:
            if broker in self._silent:
                return None
            try:
                async with asyncio.timeout_at(self._deadline):
                    return await question()
            except TimeoutError:
                self._fall_silent(broker, f"no answer within {DEADLINE_S:g} s")
            except BrokerUnreachable as error:
                self._fall_silent(broker, error.reason)
            except BrokerRefused as error:
                self.note(broker, error.reason)
        return None

    async def ask_each(
        self,
        brokers: Iterable[BrokerKey],
        question: Callable[[BrokerKey], Awaitable[AnswerT]],
    ) -> dict[BrokerKey, AnswerT]:
        """Ask brokers the same; those that did not tell are left out."""
        asked: dict[BrokerKey, asyncio.Task[AnswerT | None]] = {}
        async with asyncio.TaskGroup() as tasks:
            for broker in brokers:
                asked[broker] = tasks.create_task(self.ask(broker, partial(question, broker)))
                # Hundreds begun at once would be answered at once, and all else would wait.
                await asyncio.sleep(0)
        answers = {broker: task.result() for broker, task in asked.items()}
        return {broker: answer for broker, answer in answers.items() if answer is not None}

    def _fall_silent(self, broker: BrokerKey, why: str) -> None:
        self._silent.add(broker)
        self.note(broker, why)


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
