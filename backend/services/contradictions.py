"""Ask brokers on schedule what the members of consumer groups say, and keep what contradicts.

An agent tells all of its members at once. A stock broker tells group by group who is connected and
what it was told last: of its groups only the connections are compared, and its answer with those of
other brokers.
"""

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from backend.clients.brokers import BrokerRefused, BrokerUnreachable
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import contradictions
from backend.db.contradictions import Told
from backend.db.engine import Database
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.membership import Membership, find_contradictions
from backend.domain.queue_reading import OnlineGroup

AT_ONCE_MAX: Final = 64
PATIENCE_S: Final = 5.0
STOCK_GROUP_COUNT_MAX: Final = 100


class MembershipSource(Protocol):
    """Speaks to brokers; each as the method of `Brokers` of that name."""

    async def memberships(
        self, address: str, consumer_group: str | None = None
    ) -> list[Membership] | None:
        """Ask an agent what members say."""
        ...

    async def groups_with_offsets(self, address: str) -> list[str]:
        """Ask which groups have committed an offset."""
        ...

    async def online_group(self, address: str, group: str) -> OnlineGroup | None:
        """Ask who of a group is connected."""
        ...


async def find_and_keep(*, database: Database, brokers: MembershipSource, clock: Clock) -> int:
    """Ask every master once, and count the contradictions that were found."""
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    masters = [one for one in online if one.broker_id == MASTER_ID]
    slots = asyncio.Semaphore(AT_ONCE_MAX)

    async def ask(master: Broker) -> Sequence[Membership] | None:
        async with slots:
            return await _ask(master.address, brokers)

    answers = await asyncio.gather(*(ask(master) for master in masters))
    names = sorted({master.cluster_name for master in masters})
    told = [
        _judge(name, [a for m, a in zip(masters, answers, strict=True) if m.cluster_name == name])
        for name in names
    ]
    async with database.begin() as connection:
        for one in told:
            await contradictions.replace(connection, one, at=clock.now())
        await contradictions.forget_clusters(connection, names)
    return sum(len(one.found) for one in told)


def _judge(cluster_name: str, answers: Sequence[Sequence[Membership] | None]) -> Told:
    known = [one for one in answers if one is not None]
    return Told(cluster_name, find_contradictions(known), is_complete=len(known) == len(answers))


async def _ask(address: str, brokers: MembershipSource) -> Sequence[Membership] | None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            told = await brokers.memberships(address)
            return await _ask_stock(address, brokers) if told is None else told
    except (BrokerUnreachable, BrokerRefused, TimeoutError):
        return None


async def _ask_stock(address: str, brokers: MembershipSource) -> list[Membership]:
    found: list[Membership] = []
    for name in (await brokers.groups_with_offsets(address))[:STOCK_GROUP_COUNT_MAX]:
        online = await brokers.online_group(address, name)
        if online is not None:
            found += of_stock(name, online)
    return found


def of_stock(consumer_group: str, online: OnlineGroup) -> list[Membership]:
    """Say of each connection what the broker was told last by any of them."""
    return [
        Membership(
            consumer_group,
            member.client_id,
            member.address,
            "BROADCASTING" if online.is_broadcasting else "CLUSTERING",
            online.consume_type,
            online.starts_from,
            {
                topic: f"{online.expression_types.get(topic, 'TAG')} {expression}"
                for topic, expression in online.subscriptions.items()
            },
        )
        for member in online.members
    ]
