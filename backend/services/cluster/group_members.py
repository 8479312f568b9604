"""Describe the brokers of a group: who serves, who acts for an absent master, who waits for what.

Rows say who is registered. The brokers are asked, also those that are not registered: a broker
answers before it is online.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from redis.asyncio import Redis

from backend.brokers.asking import Brokers, Round
from backend.brokers.requests.figures import GetMemberReport
from backend.clients.clock import Clock
from backend.clients.losable import read_losable
from backend.db import broker_groups
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.group_member import GroupMembers, judge_members
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.services.cluster.broker_questions import DEADLINE_S
from backend.services.controller.heartbeats import list_heartbeats
from backend.services.controller.liveness import key_of


@dataclass(frozen=True, slots=True)
class ObservedMembers:
    """Hold the members of a broker group, and when they were asked."""

    found: GroupMembers
    observed_at: datetime


async def describe_members(
    cluster_name: str,
    broker_group_name: str,
    *,
    database: Database,
    redis: Redis,
    brokers: Brokers,
    clock: Clock,
) -> ObservedMembers:
    """Ask every known broker of a group what it does.

    Raises:
        InvalidName: the name of the cluster or of the group is invalid. BrokerGroupNotFound: the
        cluster has no such group.
    """
    check_cluster_name(cluster_name)
    check_broker_group_name(broker_group_name)
    async with database.connect() as connection:
        group = await broker_groups.get(connection, cluster_name, broker_group_name)
        known = (await broker_rows.list_all_of_groups(connection, [group.id]))[group.id]
    answers = await Round(brokers, patience_s=DEADLINE_S).ask_all(known, GetMemberReport())
    heard = await read_losable(list_heartbeats(redis, list(map(key_of, known))), unknown={})
    found = judge_members(
        group,
        known,
        answers.answers,
        {one: error.reason for one, error in answers.silent.items()},
        {one: _heard_at(one, heard.get(key_of(one))) for one in known},
    )
    return ObservedMembers(found, clock.now())


def _heard_at(broker: Broker, heard_at_ms: int | None) -> datetime | None:
    """Return when a broker was heard; a registration is a sign of life as well."""
    if not broker.is_registered:
        return broker.last_heard_at
    if heard_at_ms is None:
        return broker.last_registered_at
    return datetime.fromtimestamp(heard_at_ms / 1000, UTC)
