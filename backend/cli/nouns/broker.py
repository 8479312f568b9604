"""The commands of `regent broker`."""

from backend.cli import broker_orders, broker_statuses, protections
from backend.cli.broker_configs import config
from backend.cli.brokers import broker

__all__ = ["broker"]

broker_orders.register(broker)
broker_statuses.register(broker)
broker.command(config)
protections.register_broker(broker)
