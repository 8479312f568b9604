"""Ask brokers periodically for the reports of members, and store their contradictions.

An agent reports all of its members in one answer. A RocketMQ broker reports the connections and the
last subscription group by group. Of its groups only the connections are compared, and its answer is
compared with those of other brokers.
"""

from collections.abc import Sequence
from typing import Final

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.consumer_groups import GetMemberships, GetOnlineGroup
from backend.brokers.requests.offsets import GetGroupsWithOffsets
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import contradictions
from backend.db.contradictions import FoundContradictions
from backend.db.engine import Database
from backend.domain.broker import MASTER_ID
from backend.domain.membership import Membership, find_contradictions
from backend.domain.queue_reading import OnlineGroup

STOCK_GROUP_COUNT_MAX: Final = 100


async def find_and_keep(*, database: Database, brokers: Brokers, clock: Clock) -> int:
    """Ask every master once, and count the contradictions that were found."""
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    masters = [one for one in online if one.broker_id == MASTER_ID]
    answers = (await brokers.ask_all(masters, CollectMemberships())).answers
    names = sorted({master.cluster_name for master in masters})
    memberships = [
        _judge(name, [answers.get(one) for one in masters if one.cluster_name == name])
        for name in names
    ]
    async with database.begin() as connection:
        for one in memberships:
            await contradictions.replace(connection, one, at=clock.now())
        await contradictions.forget_clusters(connection, names)
    return sum(len(one.found) for one in memberships)


def _judge(
    cluster_name: str, answers: Sequence[Sequence[Membership] | None]
) -> FoundContradictions:
    known = [one for one in answers if one is not None]
    return FoundContradictions(
        cluster_name, find_contradictions(known), is_complete=len(known) == len(answers)
    )


class CollectMemberships(Inquiry[Sequence[Membership]]):
    """Ask a broker what the members of all its consumer groups say."""

    patience_s = 5.0

    async def put(self, brokers: Brokers, address: str) -> Sequence[Membership]:
        """Ask as an agent is asked, then a stock broker group by group."""
        answer = await brokers.ask(address, GetMemberships())
        if answer is not None:
            return answer
        found: list[Membership] = []
        names = await brokers.ask(address, GetGroupsWithOffsets())
        for name in names[:STOCK_GROUP_COUNT_MAX]:
            online = await brokers.ask(address, GetOnlineGroup(name))
            if online is not None:
                found += of_stock(name, online)
        return found


def of_stock(consumer_group_name: str, online: OnlineGroup) -> list[Membership]:
    """Return for each connection the last subscription that any of them sent."""
    return [
        Membership(
            consumer_group_name,
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
