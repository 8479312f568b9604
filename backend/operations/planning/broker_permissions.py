"""Let producers come to a broker or keep them away: what the kinds about brokers share.

The means is the broker's own permission, as stock tools set it: the broker registers its topics
without the write bit, so that routes change everywhere and no name server is told otherwise.
"""

from dataclasses import dataclass, replace
from typing import Final, TypeVar

from backend.brokers.errors import NoAnswer
from backend.brokers.requests.properties import GetPermission
from backend.db import brokers as broker_rows
from backend.db import topics
from backend.domain.broker import MASTER_ID, Broker
from backend.domain.names import check_address, check_broker_group_name, check_cluster_name
from backend.domain.orders.broker import BrokerOrder
from backend.domain.plan import Check, CheckVerdict, Difference, Precondition, ReadBack
from backend.domain.topic import Permission
from backend.operations.engine.kind import Facts, OperationContext
from backend.operations.planning import groups, masters
from backend.operations.planning.masters import Master

NAMED_COUNT_MAX: Final = 20

OrderT = TypeVar("OrderT", bound=BrokerOrder)


@dataclass(frozen=True, slots=True)
class Present:
    """Hold a broker as it is recorded, and its permission; None is one that could not be read."""

    broker: Broker
    permission: int | None
    why_unknown: str | None

    @property
    def preconditions(self) -> tuple[Precondition, ...]:
        """Name the facts that a plan for it is made from."""
        return (
            Precondition("address", self.broker.address),
            Precondition("permission", permission_text(self.permission)),
        )

    @property
    def check(self) -> Check:
        """Say whether the broker can be told anything."""
        if self.permission is None:
            why = f"{self.broker.address} does not report its permission: {self.why_unknown}"
            return Check("the broker answers", CheckVerdict.BLOCK, why)
        return Check("the broker answers", CheckVerdict.PASS, f"at {self.broker.address}")

    @property
    def without_write(self) -> int | None:
        """Return its permission without the right to write."""
        return None if self.permission is None else self.permission & ~int(Permission.WRITE)

    @property
    def with_write(self) -> int | None:
        """Return its permission with the right to write."""
        return None if self.permission is None else self.permission | int(Permission.WRITE)

    def difference(self, permission: int | None) -> Difference:
        """Say what becomes of its permission."""
        return Difference(
            f"brokerPermission of {self.broker.address}",
            permission_text(self.permission),
            permission_text(permission),
        )


async def find_broker(order: BrokerOrder, context: OperationContext) -> Broker:
    """Find the broker that is meant, counted on or not.

    Raises:
        InvalidName: no cluster or group may be called so.
        InvalidAddress: no broker could be reached there.
        BrokerUnknown: the records hold none so.
    """
    check_cluster_name(order.cluster_name)
    check_broker_group_name(order.broker_group_name)
    if order.address is not None:
        check_address(order.address)
    async with context.database.connect() as connection:
        return await broker_rows.get_of_group(
            connection,
            order.cluster_name,
            order.broker_group_name,
            order.broker_id,
            address=order.address,
        )


async def settle(order: OrderT, context: OperationContext) -> OrderT:
    """Put the own id of the present master into an order that names the master.

    Raises:
        BrokerUnknown: the records hold no master of the group.
    """
    if order.address is not None or order.broker_id != MASTER_ID:
        return order
    return replace(order, broker_id=(await find_broker(order, context)).own_id)


async def read_present(order: BrokerOrder, context: OperationContext) -> Present:
    """Find the broker that is meant and ask it for its permission.

    Raises:
        BrokerUnknown: the records hold none so.
    """
    broker = await find_broker(order, context)
    try:
        permission = await context.brokers.ask(broker.address, GetPermission())
    except NoAnswer as error:
        return Present(broker, None, error.reason)
    return Present(broker, permission, None)


async def count_writable(
    cluster_name: str, broker_group_name: str, address: str, context: OperationContext
) -> int:
    """Count the topics that producers are sent to a broker for; to a replica, for none."""
    async with context.database.connect() as connection:
        master = await broker_rows.find(connection, cluster_name, broker_group_name, broker_id=0)
        if master is None or master.address != address or not master.is_online:
            return 0
        return await topics.count_writable_of_group(connection, cluster_name, broker_group_name)


async def read_facts(order: BrokerOrder, context: OperationContext) -> Facts[Present]:
    """Find the broker that is meant and what it permits, as facts of a plan.

    Raises:
        BrokerUnknown: the records hold none so.
    """
    present = await read_present(order, context)
    return Facts(present, present.preconditions, (present.check,))


async def check_fencing(present: Present, context: OperationContext) -> Check:
    """Say whether the broker itself refuses a worker that was overtaken."""
    broker = present.broker
    return await masters.check_fencing([Master(broker.broker_group_name, broker.address)], context)


async def check_other_queues(order: BrokerOrder, context: OperationContext) -> Check:
    """Say which topics could be written nowhere."""
    async with context.database.connect() as connection:
        names = await topics.list_writable_only_on(
            connection, order.cluster_name, order.broker_group_name, limit=NAMED_COUNT_MAX + 1
        )
    if not names:
        why = "every topic can be written on another group"
        return Check("queues to write elsewhere", CheckVerdict.PASS, why)
    more = " and more" if len(names) > NAMED_COUNT_MAX else ""
    why = f"no other group takes sends to {', '.join(names[:NAMED_COUNT_MAX])}{more}"
    return Check("queues to write elsewhere", CheckVerdict.WARN, why)


async def read_back(address: str, intended: int, context: OperationContext) -> ReadBack:
    """Read back what a broker permits."""
    found = await context.brokers.find(address, GetPermission())
    permission = None if found is None else permission_text(found)
    return groups.compare(f"brokerPermission of {address}", permission_text(intended), permission)


def permission_text(permission: int | None) -> str:
    """Write a permission for people; what is not known is said so."""
    if permission is None:
        return "unknown"
    names = {Permission.READ: "read", Permission.WRITE: "write"}
    rights = [name for one, name in names.items() if permission & one]
    return f"{permission} ({' and '.join(rights) or 'nothing'})"
