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
from backend.db import suspicions
from backend.db.engine import Database
from backend.domain.broker import MASTER_ID
from backend.domain.finding import OF_CONSUMER_GROUPS, Evidence, FindingKey
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
    found: dict[FindingKey, Evidence] = {}
    silent = {one.cluster_name for one in masters if one not in answers}
    for name in names:
        known = [answer for one, answer in answers.items() if one.cluster_name == name]
        found |= {
            FindingKey(one.code, name, one.consumer_group_name): one.evidence
            for one in find_contradictions(known)
        }
    async with database.begin() as connection:
        # While a broker does not answer, none ends: its members may be part of one (D21).
        for name in sorted(set(names) - silent):
            await suspicions.clear(connection, OF_CONSUMER_GROUPS, name)
        await suspicions.save(connection, found, at=clock.now())
        await suspicions.forget_clusters(connection, OF_CONSUMER_GROUPS, names)
    return len(found)


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
