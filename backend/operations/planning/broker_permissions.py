"""Allow or forbid writes to a broker: the common part of the kinds about brokers.

The kinds change the broker's own permission, as stock tools do. The broker then registers its
topics without the write bit, so all routes change, and name servers need no further request.
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
    """Hold the record of a broker and its permission; None if it could not be read."""

    broker: Broker
    permission: int | None
    why_unknown: str | None

    @property
    def preconditions(self) -> tuple[Precondition, ...]:
        """Return the facts of a plan for the broker."""
        return (
            Precondition("address", self.broker.address),
            Precondition("permission", permission_text(self.permission)),
        )

    @property
    def check(self) -> Check:
        """Check whether the broker answers requests."""
        if self.permission is None:
            why = f"{self.broker.address} does not report its permission: {self.why_unknown}"
            return Check("the broker answers", CheckVerdict.BLOCK, why)
        return Check("the broker answers", CheckVerdict.PASS, f"at {self.broker.address}")

    @property
    def without_write(self) -> int | None:
        """Return its permission without the write bit."""
        return None if self.permission is None else self.permission & ~int(Permission.WRITE)

    @property
    def with_write(self) -> int | None:
        """Return its permission with the write bit."""
        return None if self.permission is None else self.permission | int(Permission.WRITE)

    def difference(self, permission: int | None) -> Difference:
        """Describe the change of its permission."""
        return Difference(
            f"brokerPermission of {self.broker.address}",
            permission_text(self.permission),
            permission_text(permission),
        )


async def find_broker(order: BrokerOrder, context: OperationContext) -> Broker:
    """Find the named broker, registered or lost.

    Raises:
        InvalidName: the name is invalid for a cluster or a group.
        InvalidAddress: the address of the broker is invalid.
        BrokerUnknown: the records hold no such broker.
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
    """Replace the word for the master in an order by the own id of the present master.

    Raises:
        BrokerUnknown: the records hold no master of the group.
    """
    if order.address is not None or order.broker_id != MASTER_ID:
        return order
    return replace(order, broker_id=(await find_broker(order, context)).own_id)


async def read_present(order: BrokerOrder, context: OperationContext) -> Present:
    """Find the named broker, and ask it for its permission.

    Raises:
        BrokerUnknown: the records hold no such broker.
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
    """Count the topics whose routes send producers to a broker; none for a replica."""
    async with context.database.connect() as connection:
        master = await broker_rows.find(connection, cluster_name, broker_group_name, broker_id=0)
        if master is None or master.address != address or not master.is_online:
            return 0
        return await topics.count_writable_of_group(connection, cluster_name, broker_group_name)


async def read_facts(order: BrokerOrder, context: OperationContext) -> Facts[Present]:
    """Find the named broker and its permission, as facts of a plan.

    Raises:
        BrokerUnknown: the records hold no such broker.
    """
    present = await read_present(order, context)
    return Facts(present, present.preconditions, (present.check,))


async def check_fencing(present: Present, context: OperationContext) -> Check:
    """Check whether the broker itself refuses a replaced worker."""
    broker = present.broker
    return await masters.check_fencing([Master(broker.broker_group_name, broker.address)], context)


async def check_other_queues(order: BrokerOrder, context: OperationContext) -> Check:
    """Warn of topics without any writable broker."""
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
    """Read back the permission of a broker."""
    found = await context.brokers.find(address, GetPermission())
    permission = None if found is None else permission_text(found)
    return groups.compare(f"brokerPermission of {address}", permission_text(intended), permission)


def permission_text(permission: int | None) -> str:
    """Write a permission for people; an unknown one is named as unknown."""
    if permission is None:
        return "unknown"
    names = {Permission.READ: "read", Permission.WRITE: "write"}
    rights = [name for one, name in names.items() if permission & one]
    return f"{permission} ({' and '.join(rights) or 'nothing'})"
