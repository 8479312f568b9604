"""The commands of `regent broker`."""

from backend.cli import broker_statuses
from backend.cli.broker_configs import config
from backend.cli.brokers import broker

__all__ = ["broker"]

broker.command("backend.cli.broker_orders:cordon", name="cordon")
broker.command("backend.cli.broker_orders:uncordon", name="uncordon")
broker.command("backend.cli.broker_orders:drain", name="drain")
broker.command("backend.cli.broker_orders:forget", name="forget")
broker.command("backend.cli.broker_members:list_members", name="members")
broker_statuses.register(broker)
broker.command("backend.cli.outbox:list_outbox", name="outbox")
broker.command(config)
config.command("backend.cli.broker_orders:set_config", name="set")
broker.command("backend.cli.protection_orders:protect_broker", name="protect")
broker.command("backend.cli.protection_orders:unprotect_broker", name="unprotect")
