"""Ask which messages wait for a time."""

from dataclasses import asdict, dataclass
from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain import timer
from backend.domain.access import Reach
from backend.domain.cluster_scope import ClusterScope
from backend.questions.question import (
    NAME_LENGTH_MAX,
    After,
    Given,
    InBrokerGroup,
    InCluster,
    Limit,
    question,
)
from backend.services.message.timers import TimerKey, list_timers
from backend.views.graph_forms import in_graph
from backend.views.timers import TimersOut

OfTopic = Annotated[
    str | None,
    Given("Only brokers with waiting messages of this topic.", length_max=NAME_LENGTH_MAX),
]


@in_graph("TimerFilter")
@dataclass(frozen=True, slots=True)
class TimerChoice:
    """Choose masters. A master must fulfil each condition that is given."""

    cluster_name: InCluster = None
    broker_group_name: InBrokerGroup = None
    topic: OfTopic = None


Chosen = Annotated[TimerChoice, Given(is_optional_in_graph=True)]


@question("/timers", field="timers", tag="messages", reach=Reach.KEPT)
async def show_timers(
    limit: Limit = 100,
    after: After[TimerKey] = None,
    chosen: Chosen = TimerChoice(),
    *,
    within: ClusterScope,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> TimersOut:
    """List the masters with the messages that wait for a time, as they report it now."""
    found = await list_timers(
        timer.TimerFilter(**asdict(chosen), within=within),
        size=limit,
        after=after,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return TimersOut.of(found)
