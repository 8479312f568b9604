"""Ask masters how messages for a time stand: only they and the log know it (D21)."""

from dataclasses import replace

from backend.brokers.asking import Brokers
from backend.brokers.requests.timers import GetTimers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.page import check_page_size
from backend.domain.timer import BrokerTimers, HeldTimers, TimerFilter
from backend.services.cluster.reported_lists import ReportedPage, collect

TimerKey = tuple[str, str, str]


async def list_timers(
    chosen: TimerFilter,
    *,
    size: int,
    after: TimerKey | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ReportedPage[BrokerTimers]:
    """List masters with their messages for a time; of one topic only, if one is chosen.

    Raises:
        InvalidName: the name of the cluster is invalid. InvalidPageSize: the page is empty or too
        large.
    """
    check_page_size(size)
    found = await collect(
        chosen,
        GetTimers(),
        items_of=lambda broker, held: [BrokerTimers(broker, held)],
        why_incomplete=_why_incomplete,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return found.page(size=size, after=after).map(lambda one: _narrowed(one, chosen))


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
