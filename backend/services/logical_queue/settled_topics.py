"""Look at the static topics that no change is under way of, one after another.

Upkeep sends mappings and drops segments in this way. A topic that fails keeps no other one waiting.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import structlog

from backend.brokers.errors import NoAnswer
from backend.db import brokers as broker_rows
from backend.db import logical_queues
from backend.db.engine import Database
from backend.db.logical_queues import StoredTopic
from backend.domain.broker import Broker
from backend.domain.errors import DomainError

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SettledTopic:
    """Hold a topic without an unfinished change, and the masters of its cluster that are online.

    `masters` are by the name of their broker group.
    """

    stored: StoredTopic
    masters: Mapping[str, Broker]


class Look(Protocol):
    """A look at one topic."""

    @property
    def topic_name(self) -> str:
        """Return the name of the topic."""
        ...


LookT = TypeVar("LookT", bound=Look)


async def list_settled(database: Database) -> list[SettledTopic]:
    """Return all static topics without an unfinished change."""
    async with database.connect() as connection:
        topics = await logical_queues.list_all(connection)
        online = await broker_rows.list_online(connection) if topics else []
    masters: dict[str, dict[str, Broker]] = defaultdict(dict)
    for one in online:
        if one.is_master:
            masters[one.cluster_name][one.broker_group_name] = one
    return [
        SettledTopic(topic, masters[topic.cluster_name])
        for topic in topics
        if topic.unfinished is None
    ]


async def look_at_each(
    looks: Iterable[LookT], take: Callable[[LookT], Awaitable[None]], *, failed_event: str
) -> int:
    """Take one look after another, and return how many failed; upkeep repeats these later.

    A broker that does not answer, or a rule that refuses, fails a look. The log says so by
    `failed_event`.
    """
    failed_count = 0
    for look in looks:
        try:
            await take(look)
        except (NoAnswer, DomainError) as error:
            log.warning(failed_event, topic=look.topic_name, reason=str(error))
            failed_count += 1
    return failed_count
