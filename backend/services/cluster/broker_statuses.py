"""Describe a running broker by its figures and its readers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.brokers.asking import Brokers
from backend.brokers.errors import NoAnswer
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.figures import GetRuntimeInfo
from backend.brokers.requests.offsets import GetGroupsWithOffsets, GetProgress
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.domain.operation_errors import BrokerSilent
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.queue_reading import QueueProgress, add_lags
from backend.services.cluster.broker_questions import Questions, UnknownBroker, key_of

PAGE_SIZE_MAX = 100


@dataclass(frozen=True, slots=True)
class BrokerStatus:
    """Hold the figures of a broker under RocketMQ's names, as the broker writes them."""

    broker: Broker
    figures: Mapping[str, str]
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class GroupStats:
    """Hold the progress of a consumer group in its queues on one broker."""

    consumer_group_name: str
    queues: tuple[QueueProgress, ...]
    is_broadcasting: bool = False

    @property
    def lag(self) -> int | None:
        """Count the unread messages there.

        None if unknown, or for a broadcasting group, whose members keep their own offsets.
        """
        return None if self.is_broadcasting else add_lags(self.queues)

    @property
    def expired_count(self) -> int:
        """Count the messages that were deleted before the group read them."""
        return 0 if self.is_broadcasting else sum(one.expired_count for one in self.queues)


@dataclass(frozen=True, slots=True)
class ConsumeStats:
    """Hold one page of groups by name; the broker is named if its answer is incomplete."""

    page: Page[GroupStats, str]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def describe_status(
    cluster_name: str,
    broker_group_name: str,
    broker_id: int,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> BrokerStatus:
    """Ask the broker of a group with an id for its figures.

    Raises:
        InvalidName: the name of the cluster or of the group is invalid. BrokerUnknown: the records
        contain no such broker. BrokerSilent: the broker does not answer.
    """
    broker = await _find(cluster_name, broker_group_name, broker_id, database=database)
    try:
        figures = await brokers.ask(broker.address, GetRuntimeInfo())
    except NoAnswer as error:
        raise BrokerSilent(broker.address, error.reason) from error
    return BrokerStatus(broker, dict(sorted(figures.items())), clock.now())


async def list_consume_stats(
    cluster_name: str,
    broker_group_name: str,
    broker_id: int,
    *,
    size: int,
    after: str | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ConsumeStats:
    """Ask a broker for the progress of the groups that have committed an offset there, by name.

    Only the groups of the page are asked for. A group without an answer is left out, and the broker
    is named as unknown.

    Raises:
        InvalidName: the name of the cluster or of the group is invalid. InvalidPageSize: the page
        is empty or too large. BrokerUnknown: the records contain no such broker. BrokerSilent: the
        broker does not list its groups.
    """
    check_page_size(size, size_max=PAGE_SIZE_MAX)
    broker = await _find(cluster_name, broker_group_name, broker_id, database=database)
    key, questions = key_of(broker), Questions(brokers)
    names = await questions.ask(key, GetGroupsWithOffsets())
    if names is None:
        raise BrokerSilent(broker.address, questions.unknown[0].why)
    wanted = [name for name in sorted(names) if after is None or name > after][: size + 1]

    async def ask(name: str) -> GroupStats | None:
        answer = await questions.ask(key, GetProgress(name))
        if answer is None:
            return None
        online = await questions.ask(key, GetOnlineGroup(name))
        is_broadcasting = online is not None and online.is_broadcasting
        return GroupStats(name, _sorted(answer), is_broadcasting)

    page = cut_page(wanted, size=size, key=lambda name: name, total_count=len(names))
    found = await asyncio.gather(*(ask(name) for name in page.items))
    answered = tuple(one for one in found if one is not None)
    return ConsumeStats(
        Page(answered, page.next_key, page.total_count), questions.unknown, clock.now()
    )


def _sorted(queues: Sequence[QueueProgress]) -> tuple[QueueProgress, ...]:
    return tuple(sorted(queues, key=lambda one: (one.topic, one.queue_id)))


async def _find(
    cluster_name: str, broker_group_name: str, broker_id: int, *, database: Database
) -> Broker:
    check_cluster_name(cluster_name)
    check_broker_group_name(broker_group_name)
    async with database.connect() as connection:
        return await broker_rows.get_of_group(
            connection, cluster_name, broker_group_name, broker_id
        )
