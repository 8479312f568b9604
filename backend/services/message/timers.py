"""Ask masters how messages for a time stand: only they and the log know it (D21)."""

from dataclasses import dataclass, replace
from datetime import datetime

from backend.brokers.asking import Brokers
from backend.brokers.requests.timers import GetTimers
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.names import check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.timer import BrokerTimers, HeldTimers, TimerFilter
from backend.services.cluster.broker_questions import UnknownBroker, key_of, unknown_brokers

TimerKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TimerPage:
    """Hold one page of masters, and those that did not report all."""

    page: Page[BrokerTimers, TimerKey]
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def list_timers(
    chosen: TimerFilter,
    *,
    size: int,
    after: TimerKey | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> TimerPage:
    """List masters with their messages for a time; of one topic only, if one is chosen.

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
    answers = await brokers.ask_all(asked, GetTimers())
    found = [BrokerTimers(one, held) for one, held in answers.answers.items()]
    shown = sorted(filter(chosen.takes, found), key=lambda one: one.key)
    rest = [one for one in shown if after is None or one.key > after]
    page = cut_page(rest[: size + 1], size=size, key=lambda one: one.key, total_count=len(shown))
    unknown = unknown_brokers(asked, answers, _why_incomplete)
    return TimerPage(page.map(lambda one: _narrowed(one, chosen)), unknown, clock.now())


def _is_meant(broker: Broker, chosen: TimerFilter) -> bool:
    return (
        broker.is_master
        and chosen.cluster_name in (None, broker.cluster_name)
        and chosen.broker_group_name in (None, broker.broker_group_name)
        and chosen.within.includes(broker.cluster_name)
    )


def _narrowed(one: BrokerTimers, chosen: TimerFilter) -> BrokerTimers:
    if chosen.topic is None:
        return one
    topics = tuple(found for found in one.held.topics if found.topic == chosen.topic)
    return replace(one, held=replace(one.held, topics=topics))


def _why_incomplete(held: HeldTimers) -> str | None:
    count = len(held.topics)
    if count == held.topic_count:
        return None
    return f"it lists {count} of its {held.topic_count} topics with waiting messages"
