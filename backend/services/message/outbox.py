"""Ask brokers what escapes to other broker groups: only acting masters know it (D21)."""

from dataclasses import dataclass
from datetime import datetime

from backend.brokers.asking import Brokers
from backend.brokers.requests.outbox import GetOutbox
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.names import check_cluster_name
from backend.domain.outbox import BrokerOutboxTopic, OutboxFilter
from backend.domain.page import Page, check_page_size, cut_page
from backend.services.cluster.broker_questions import UnknownBroker, key_of, unknown_brokers

OutboxKey = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class OutboxPage:
    """Hold one page of topics with messages that escape, and brokers that did not answer."""

    page: Page[BrokerOutboxTopic, OutboxKey]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def list_outbox(
    chosen: OutboxFilter,
    *,
    size: int,
    after: OutboxKey | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> OutboxPage:
    """List the topics whose messages wait for a master of another broker group.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidPageSize: the page is empty or too
        large.
    """
    check_page_size(size)
    if chosen.cluster_name is not None:
        check_cluster_name(chosen.cluster_name)
    async with database.connect() as connection:
        online = await broker_rows.list_online(connection)
    asked = [key_of(broker) for broker in online if _is_meant(broker, chosen)]
    answers = await brokers.ask_all(asked, GetOutbox())
    found = [
        BrokerOutboxTopic(broker, one)
        for broker, topics in answers.answers.items()
        for one in topics
        if chosen.topic in (None, one.topic)
    ]
    shown = sorted(found, key=lambda one: one.key)
    rest = [one for one in shown if after is None or one.key > after]
    page = cut_page(rest[: size + 1], size=size, key=lambda one: one.key, total_count=len(shown))
    unknown = unknown_brokers(asked, answers, lambda _: None)
    return OutboxPage(page, unknown, clock.now())


def _is_meant(broker: Broker, chosen: OutboxFilter) -> bool:
    return (
        chosen.cluster_name in (None, broker.cluster_name)
        and chosen.broker_group_name in (None, broker.broker_group_name)
        and chosen.within.includes(broker.cluster_name)
    )
