"""Describe the configuration of a broker."""

from dataclasses import dataclass

from backend.brokers.asking import Brokers
from backend.brokers.errors import NoAnswer
from backend.brokers.requests.properties import GetProperties
from backend.db import brokers as broker_rows
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.broker_property import BrokerProperty
from backend.domain.names import check_address, check_broker_group_name, check_cluster_name
from backend.domain.operation_errors import BrokerSilent
from backend.domain.version import version_of


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """Hold a broker, and its properties by name."""

    broker: Broker
    properties: tuple[BrokerProperty, ...]

    @property
    def version(self) -> str:
        """Return the version of the configuration that the next start would use."""
        return version_of(sorted((one.name, one.configured) for one in self.properties))


async def describe_config(
    cluster_name: str,
    broker_group_name: str,
    broker_id: int,
    *,
    address: str | None = None,
    database: Database,
    brokers: Brokers,
) -> BrokerConfig:
    """Ask a broker of a group for its properties, by its address if given, else by its id.

    Raises:
        InvalidName: the name of the cluster or of the group is invalid. InvalidAddress: no broker
        can be reached at the address. BrokerUnknown: the records contain no such broker.
        BrokerSilent: the broker does not answer.
    """
    check_cluster_name(cluster_name)
    check_broker_group_name(broker_group_name)
    if address is not None:
        check_address(address)
    async with database.connect() as connection:
        broker = await broker_rows.get_of_group(
            connection, cluster_name, broker_group_name, broker_id, address=address
        )
    return BrokerConfig(broker, tuple(await ask_properties(broker.address, brokers)))


async def ask_properties(address: str, brokers: Brokers) -> list[BrokerProperty]:
    """Ask a broker for its properties, by name.

    Raises:
        BrokerSilent: the broker does not answer.
    """
    try:
        return await brokers.ask(address, GetProperties())
    except NoAnswer as error:
        raise BrokerSilent(address, error.reason) from error
