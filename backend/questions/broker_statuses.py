"""Ask a broker for its figures and settings, and for the progress of consumer groups."""

from typing import Annotated

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.questions.question import After, BrokerId, page_size, question
from backend.services.cluster.broker_configs import describe_config
from backend.services.cluster.broker_statuses import (
    PAGE_SIZE_MAX,
    describe_status,
    list_consume_stats,
)
from backend.views.broker_configs import BrokerConfigOut
from backend.views.broker_statuses import BrokerStatusOut, ConsumeStatsOut

BROKER = "/clusters/{cluster_name}/broker-groups/{broker_group_name}/brokers/{broker_id}"
Limit = Annotated[int, page_size(PAGE_SIZE_MAX)]


@question(BROKER + "/status", field="brokerStatus", tag="brokers", refusals=(404, 502))
async def show_broker_status(
    cluster_name: str,
    broker_group_name: str,
    broker_id: BrokerId,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> BrokerStatusOut:
    """Describe a running broker by the figures that the broker reports now."""
    found = await describe_status(
        cluster_name, broker_group_name, broker_id, database=database, brokers=brokers, clock=clock
    )
    return BrokerStatusOut.of(found)


@question(BROKER + "/consume-stats", field="brokerConsumeStats", tag="brokers", refusals=(404, 502))
async def show_consume_stats(
    cluster_name: str,
    broker_group_name: str,
    broker_id: BrokerId,
    limit: Limit = 50,
    after: After[str] = None,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> ConsumeStatsOut:
    """List the progress of consumer groups on one broker, by name, as the broker reports it now."""
    found = await list_consume_stats(
        cluster_name,
        broker_group_name,
        broker_id,
        size=limit,
        after=after,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return ConsumeStatsOut.of(found)


@question(BROKER + "/config", field="brokerConfig", tag="brokers", refusals=(404, 502))
async def show_broker_config(
    cluster_name: str,
    broker_group_name: str,
    broker_id: BrokerId,
    *,
    database: Database,
    brokers: Brokers,
) -> BrokerConfigOut:
    """Describe every property of a broker, as the broker reports it now."""
    found = await describe_config(
        cluster_name, broker_group_name, broker_id, database=database, brokers=brokers
    )
    return BrokerConfigOut.of(found)
