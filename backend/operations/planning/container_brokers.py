"""Find the broker that a container is to stop: in the records, and in the list of its container.

A broker that never registered, or that its controller does not know, is in that list only.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.containers import CONTAINER_FIGURE, GetContainer
from backend.brokers.requests.figures import GetRuntimeInfo
from backend.db import brokers as broker_rows
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.broker_name import BrokerName
from backend.domain.container import ContainerReport, InnerBroker
from backend.domain.names import check_address, check_broker_group_name, check_cluster_name
from backend.domain.operation_errors import BrokerSilent, BrokerUnknown, InvalidParameters
from backend.domain.orders.container import RemoveBroker
from backend.operations.engine.kind import OperationContext
from backend.operations.planning import broker_permissions, groups
from backend.services.controller.group_changes import GroupView, find_group


@dataclass(frozen=True, slots=True)
class Present:
    """Hold a broker, its container, and its group if that is under a controller.

    `broker` is its record; None if neither a name server nor a controller knows it. `listed` is
    the broker in the list of its container; None if the container does not list it.
    """

    order: RemoveBroker
    broker: Broker | None
    listed: InnerBroker | None
    container_address: str
    report: ContainerReport
    view: GroupView | None

    @property
    def own_id(self) -> int | None:
        """Return the own id of the broker; None if it has none yet."""
        if self.broker is not None:
            return self.broker.own_id
        return None if self.listed is None else self.listed.own_id

    @property
    def address(self) -> str | None:
        """Return where the broker listens; None if no one says it."""
        if self.broker is not None:
            return self.broker.address
        known = "" if self.listed is None else self.listed.address
        return known or self.order.address

    @property
    def name(self) -> str:
        """Name the broker by its group and its own id, or by its file."""
        group = self.order.broker_group_name
        if self.own_id is None:
            return f"{group} of {self.path or self.order.config_path}"
        return str(BrokerName(group, self.own_id))

    @property
    def id_in_file(self) -> int:
        """Return the id that the file of the broker has.

        A container that does not report it is of an earlier version, or of RocketMQ. A file of a
        broker under a controller has 0 there.
        """
        if self.listed is not None and self.listed.id_in_file is not None:
            return self.listed.id_in_file
        if self.view is not None:
            return MASTER_ID
        return self.order.broker_id if self.own_id is None else self.own_id

    @property
    def id_in_container(self) -> int:
        """Return the id by which the container finds the broker."""
        listed = self.listed
        if listed is None or listed.id_in_file is not None or listed.own_id is None:
            return self.id_in_file
        return listed.own_id

    @property
    def path(self) -> str | None:
        """Return the file of the broker, None if the container does not report it."""
        return None if self.listed is None else self.listed.path

    @property
    def is_other(self) -> bool:
        """Return whether the file that the order names is that of another broker."""
        broker, listed = self.broker, self.listed
        if broker is None or listed is None:
            return False
        if listed.own_id is None:
            return listed.address not in {"", broker.address}
        return listed.own_id != broker.own_id


async def settle(order: RemoveBroker, context: OperationContext) -> RemoveBroker:
    """Replace the word for the master by its own id, unless a file names the broker.

    Raises:
        BrokerUnknown: the records hold no master of the group.
    """
    if order.config_path is not None:
        return order
    return await broker_permissions.settle(order, context)


async def read_present(order: RemoveBroker, context: OperationContext) -> Present:
    """Find the broker in the records and in its container.

    Raises:
        InvalidParameters: the broker reports no container, and the order names none.
        BrokerUnknown: the records hold no such broker, and the order names no file.
        BrokerSilent: the container does not answer, or the broker to find it.
    """
    check_cluster_name(order.cluster_name)
    name = groups.checked(order.cluster_name, check_broker_group_name(order.broker_group_name))
    if order.address is not None:
        check_address(order.address)
    broker = None if order.names_file_only else await _find_ordered(order, context)
    address = await _find_container(order, broker, context)
    try:
        report = await context.brokers.ask(address, GetContainer())
    except NoAnswer as error:
        raise BrokerSilent(address, error.reason) from error
    view = await find_group(name, context.controller)
    listed = _find_listed(order, broker, report)
    if broker is None and listed is not None:
        broker = await _find_record(listed, context)
    elif order.names_file_only and report.brokers is None and view is None:
        # A RocketMQ container names no broker of a file.
        broker = await _find_ordered(order, context)
    return Present(order, broker, listed, address, report, view)


async def _find_ordered(order: RemoveBroker, context: OperationContext) -> Broker | None:
    async with context.database.connect() as connection:
        found = await broker_rows.find_known(
            connection,
            order.cluster_name,
            order.broker_group_name,
            own_id=order.broker_id if order.address is None else None,
            address=order.address,
        )
    if found is None and order.config_path is None:
        meant = order.address or order.broker_id
        raise BrokerUnknown(order.cluster_name, order.broker_group_name, meant)
    return found


async def _find_container(
    order: RemoveBroker, broker: Broker | None, context: OperationContext
) -> str:
    if order.container_address is not None:
        return check_address(order.container_address)
    figures: Mapping[str, str] = {}
    if broker is not None:
        figures = await context.brokers.find(broker.address, GetRuntimeInfo()) or {}
    if address := figures.get(CONTAINER_FIGURE):
        return address
    reason = f"broker {order.target} reports no container: name it with --container"
    raise InvalidParameters("remove_broker", reason)


def _find_listed(
    order: RemoveBroker, broker: Broker | None, report: ContainerReport
) -> InnerBroker | None:
    of_group = order.cluster_name, order.broker_group_name
    if order.config_path is not None:
        return report.find_file(*of_group, order.config_path)
    return None if broker is None else report.find(*of_group, broker.own_id, broker.address)


async def _find_record(listed: InnerBroker, context: OperationContext) -> Broker | None:
    """Find the record of a broker by what its container says of it."""
    of_group = listed.cluster_name, listed.broker_group_name
    async with context.database.connect() as connection:
        if listed.own_id:
            return await broker_rows.find_known(connection, *of_group, own_id=listed.own_id)
        if not listed.address:
            return None
        return await broker_rows.find_known(connection, *of_group, address=listed.address)
