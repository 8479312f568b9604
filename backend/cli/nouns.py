"""Put together the commands of nouns that several modules add to."""

from backend.cli import (
    adoptions,
    broker_orders,
    broker_statuses,
    controller_settings,
    group_views,
    recorded_lags,
    replica_lags,
    topic_figures,
    topic_orders,
)
from backend.cli.broker_configs import config
from backend.cli.brokers import broker
from backend.cli.consumer_groups import group
from backend.cli.controllers import controller
from backend.cli.replicas import replica
from backend.cli.topics import topic

__all__ = ["broker", "controller", "group", "replica", "topic"]

broker_orders.register(broker)
broker_statuses.register(broker)
broker.command(config)
controller_settings.register(controller)
group_views.register(group)
recorded_lags.register(group)
adoptions.register(replica)
replica_lags.register(replica)
topic_orders.register(topic)
topic_figures.register(topic)
