"""Describe what a broker is set to, to whoever asks or wants to change it."""

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
        """Name the version of what the next start would take."""
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
    """Ask a broker of a group for its properties: the one at an address if given, else of an id.

    Raises:
        InvalidName: no cluster or group may be called so.
        InvalidAddress: no broker could be reached there.
        BrokerUnknown: the records hold no such broker.
        BrokerSilent: it does not tell.
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
        BrokerSilent: it does not tell.
    """
    try:
        return await brokers.ask(address, GetProperties())
    except NoAnswer as error:
        raise BrokerSilent(address, error.reason) from error
