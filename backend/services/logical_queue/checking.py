"""Check all static topics on schedule, and store what differs until a scan of findings reads it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import structlog

from backend.brokers.asking import Brokers
from backend.brokers.requests.logical_queues import GetLogicalQueues
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import logical_queues, suspicions
from backend.db.engine import Database
from backend.domain.errors import DomainError
from backend.domain.finding import OF_TOPICS, Evidence, FindingCode, FindingKey
from backend.services.logical_queue.consistency import Consistency, check_consistency

TOPICS_AT_ONCE_MAX: Final = 8
NAMED_COUNT_MAX: Final = 20

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """Count the topics that were checked, those that differ, and those not compared as a whole."""

    checked_count: int = 0
    differing_count: int = 0
    partial_count: int = 0


async def check_and_keep(*, database: Database, brokers: Brokers, clock: Clock) -> CheckOutcome:
    """Check every static topic that Postgres or a master has.

    A topic that was not compared as a whole keeps its former suspicion (D21).
    """
    async with database.connect() as connection:
        names = await logical_queues.list_names(connection)
        online = await broker_rows.list_online(connection)
    masters = [one for one in online if one.is_master]
    clusters = sorted({one.cluster_name for one in masters})
    held = (await brokers.ask_all(masters, GetLogicalQueues())).answers
    wanted = {one for one in names if one[0] in clusters}
    wanted |= {(one.cluster_name, topic) for one, topics in held.items() for topic in topics}
    slots = asyncio.Semaphore(TOPICS_AT_ONCE_MAX)

    async def check(cluster_name: str, topic_name: str) -> Consistency | None:
        async with slots:
            try:
                return await check_consistency(
                    cluster_name, topic_name, database=database, brokers=brokers
                )
            except DomainError as error:
                # A broker may have a topic with a name that is invalid here.
                log.warning("static_topic_not_checked", topic=topic_name, reason=str(error))
                return None

    ordered = sorted(wanted)
    found = dict(zip(ordered, await asyncio.gather(*(check(*one) for one in ordered)), strict=True))
    differing = {key: one for key, one in found.items() if one is not None and one.differences}
    partial = {key for key, one in found.items() if one is None or not one.is_whole}
    async with database.begin() as connection:
        for name in clusters:
            spared = [topic for cluster_name, topic in partial if cluster_name == name]
            await suspicions.clear(connection, OF_TOPICS, name, spared=spared)
        await suspicions.save(connection, _suspicions(differing), at=clock.now())
        await suspicions.forget_clusters(connection, OF_TOPICS, clusters)
    return CheckOutcome(len(found), len(differing), len(partial))


def _suspicions(differing: Mapping[tuple[str, str], Consistency]) -> dict[FindingKey, Evidence]:
    return {
        FindingKey(FindingCode.STATIC_TOPIC_DIFFERS, *names): {
            "count": len(one.differences),
            "differences": [str(found) for found in one.differences[:NAMED_COUNT_MAX]],
        }
        for names, one in differing.items()
    }
