"""Store brokers and their last registrations."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    case,
    delete,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    true,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from backend.db.engine import Connection
from backend.db.tables import (
    broker_groups,
    brokers,
    clusters,
    replica_groups,
    replica_reports,
    replicas,
)
from backend.domain.broker import (
    HEARTBEAT_TIMEOUT_DEFAULT_MS,
    MASTER_ID,
    NOTHING_LEFT_OUT,
    Broker,
    BrokerState,
    DataVersion,
    LeftOutItems,
)
from backend.domain.broker_name import BrokerName
from backend.domain.operation_errors import BrokerUnknown

_STATE_AT: Final = 8
_IDS_OF_GROUP: Final = 2**20


@dataclass(frozen=True, slots=True)
class BrokerRegistration:
    """Hold the fields of the registration of a broker."""

    broker_id: int
    address: str
    ha_address: str | None
    heartbeat_timeout_ms: int
    data_version: DataVersion
    left_out: LeftOutItems = NOTHING_LEFT_OUT


async def save(
    connection: Connection, broker_group_id: int, registration: BrokerRegistration, *, at: datetime
) -> bool:
    """Store a registration; return whether it changes the routes of clients."""
    key = (brokers.c.broker_group_id == broker_group_id) & (
        brokers.c.broker_id == registration.broker_id
    )
    before = (
        await connection.execute(
            select(brokers.c.address, brokers.c.ha_address, brokers.c.state)
            .where(key)
            .with_for_update()
        )
    ).first()
    values = {
        "address": registration.address,
        "ha_address": registration.ha_address,
        "state": BrokerState.ONLINE,
        "last_registered_at": at,
        "heartbeat_timeout_ms": registration.heartbeat_timeout_ms,
        "data_version_counter": registration.data_version.counter,
        "data_version_timestamp_ms": registration.data_version.timestamp_ms,
        "data_version_state": registration.data_version.state_version,
        "left_out": asdict(registration.left_out) if registration.left_out.count else None,
    }
    await connection.execute(
        insert(brokers)
        .values(
            broker_group_id=broker_group_id,
            broker_id=registration.broker_id,
            registered_at=at,
            **values,
        )
        .on_conflict_do_update(
            index_elements=[brokers.c.broker_group_id, brokers.c.broker_id], set_=values
        )
    )
    reported = (registration.address, registration.ha_address, BrokerState.ONLINE)
    return before is None or tuple(before) != reported


async def remove_namesakes(
    connection: Connection, broker_group_id: int, *, broker_id: int, address: str
) -> int:
    """Remove rows of the same address with another id: the broker has changed its role."""
    statement = delete(brokers).where(
        brokers.c.broker_group_id == broker_group_id,
        brokers.c.address == address,
        brokers.c.broker_id != broker_id,
    )
    return (await connection.execute(statement)).rowcount


async def mark_offline(
    connection: Connection, broker_group_id: int, *, broker_id: int, address: str | None
) -> bool:
    """Mark a broker offline; return whether it was online until now."""
    statement = (
        update(brokers)
        .where(
            brokers.c.broker_group_id == broker_group_id,
            brokers.c.broker_id == broker_id,
            brokers.c.state == BrokerState.ONLINE,
        )
        .values(state=BrokerState.OFFLINE)
    )
    if address is not None:
        statement = statement.where(brokers.c.address == address)
    return (await connection.execute(statement)).rowcount > 0


async def find(
    connection: Connection,
    cluster_name: str,
    broker_group_name: str,
    *,
    broker_id: int | None = None,
    address: str | None = None,
) -> Broker | None:
    """Find a registered broker of a group by its own id or by its address; 0 is the master."""
    statement = _select().where(
        clusters.c.name == cluster_name, broker_groups.c.name == broker_group_name
    )
    if broker_id == MASTER_ID:
        statement = statement.where(brokers.c.broker_id == MASTER_ID)
    elif broker_id is not None:
        statement = statement.where(own_id() == broker_id)
    if address is not None:
        statement = statement.where(brokers.c.address == address)
    newest = statement.order_by(brokers.c.last_registered_at.desc())
    row = (await connection.execute(newest)).first()
    return None if row is None else _broker(row)


async def get(connection: Connection, cluster_name: str, name: BrokerName) -> Broker:
    """Return a broker by its name, also a broker that only a controller still knows.

    Under a controller no broker has the own id 0: it means the present master of the group.

    Raises:
        BrokerUnknown: the records of the cluster contain no broker of that name.
    """
    group_name = name.broker_group_name
    found = await find_known(connection, cluster_name, group_name, own_id=name.own_id)
    if found is None:
        raise BrokerUnknown(cluster_name, group_name, name.own_id)
    return found


async def find_known(
    connection: Connection,
    cluster_name: str,
    broker_group_name: str,
    *,
    own_id: int | None = None,
    address: str | None = None,
) -> Broker | None:
    """Find a broker by its own id or its address, also one that only a controller still knows.

    The id 0 is the master.
    """
    group = and_(clusters.c.name == cluster_name, broker_groups.c.name == broker_group_name)
    known = _select_known(group)
    statement = select(known)
    if own_id is not None:
        column = known.c.broker_id if own_id == MASTER_ID else known.c.own_id
        statement = statement.where(column == own_id)
    if address is not None:
        statement = statement.where(known.c.address == address)
    # A broker with a new address may have left the row of its former role and address.
    row = (await connection.execute(statement.order_by(known.c.last_registered_at.desc()))).first()
    return None if row is None else _broker(row)


async def remove(
    connection: Connection, cluster_name: str, broker_group_name: str, *, address: str
) -> int | None:
    """Remove an offline broker; return the id of its group, or None if there is no such broker."""
    group = (
        select(broker_groups.c.id)
        .select_from(broker_groups.join(clusters))
        .where(clusters.c.name == cluster_name, broker_groups.c.name == broker_group_name)
        .scalar_subquery()
    )
    statement = delete(brokers).where(
        brokers.c.broker_group_id == group,
        brokers.c.address == address,
        brokers.c.state == BrokerState.OFFLINE,
    )
    removed = await connection.execute(statement.returning(brokers.c.broker_group_id))
    return removed.scalar()


async def list_of_groups(
    connection: Connection, group_ids: Collection[int]
) -> dict[int, list[Broker]]:
    """List the registered brokers of each group by id, all groups in one statement."""
    statement = (
        _select()
        .where(brokers.c.broker_group_id.in_(group_ids))
        .order_by(brokers.c.broker_group_id, brokers.c.broker_id)
    )
    found: dict[int, list[Broker]] = {group_id: [] for group_id in group_ids}
    for row in await connection.execute(statement):
        found[row.broker_group_id].append(_broker(row))
    return found


async def list_all_of_groups(
    connection: Connection, group_ids: Collection[int]
) -> dict[int, list[Broker]]:
    """List the brokers of each group by id, also brokers that only a controller still knows."""
    known = _select_known(broker_groups.c.id.in_(group_ids))
    statement = select(known).order_by(known.c.broker_group_id, known.c.own_id)
    found: dict[int, list[Broker]] = {group_id: [] for group_id in group_ids}
    for row in await connection.execute(statement):
        found[row.broker_group_id].append(_broker(row))
    return found


async def list_of_cluster(
    connection: Connection, cluster_id: int, *, after: tuple[str, int] | None, limit: int
) -> list[Broker]:
    """List a cluster's brokers by name, from the first past `after`.

    The list includes brokers that only a controller still knows.
    """
    known = _select_known(broker_groups.c.cluster_id == cluster_id)
    statement = select(known).order_by(known.c.broker_group_name, known.c.own_id).limit(limit)
    if after is not None:
        statement = statement.where(tuple_(known.c.broker_group_name, known.c.own_id) > after)
    return [_broker(row) for row in await connection.execute(statement)]


async def count_of_cluster(connection: Connection, cluster_id: int) -> int:
    """Count the brokers of a cluster, including brokers that only a controller still knows."""
    known = _select_known(broker_groups.c.cluster_id == cluster_id)
    statement = select(func.count()).select_from(known)
    return int(await connection.scalar(statement) or 0)


async def list_masters(
    connection: Connection, cluster_name: str, broker_group_names: Collection[str] | None = None
) -> list[Broker]:
    """List the brokers of a cluster, or of some groups, that registered as masters, by group."""
    statement = (
        _select()
        .where(clusters.c.name == cluster_name, brokers.c.broker_id == MASTER_ID)
        .order_by(broker_groups.c.name)
    )
    if broker_group_names is not None:
        statement = statement.where(broker_groups.c.name.in_(broker_group_names))
    return [_broker(row) for row in await connection.execute(statement)]


async def list_of_name(connection: Connection, cluster_name: str) -> list[Broker]:
    """List the brokers of a cluster, online or not, by group and id."""
    statement = (
        _select()
        .where(clusters.c.name == cluster_name)
        .order_by(broker_groups.c.name, brokers.c.broker_id)
    )
    return [_broker(row) for row in await connection.execute(statement)]


async def list_beside(connection: Connection, cluster_name: str, address: str) -> list[Broker]:
    """List the brokers of the groups that have one at an address, by group and id."""
    there = (
        select(brokers.c.broker_group_id)
        .select_from(brokers.join(broker_groups).join(clusters))
        .where(clusters.c.name == cluster_name, brokers.c.address == address)
    )
    statement = (
        _select()
        .where(brokers.c.broker_group_id.in_(there))
        .order_by(broker_groups.c.name, brokers.c.broker_id)
    )
    return [_broker(row) for row in await connection.execute(statement)]


async def get_of_group(
    connection: Connection,
    cluster_name: str,
    broker_group_name: str,
    broker_id: int,
    *,
    address: str | None = None,
) -> Broker:
    """Return the broker of a group at an address if one is given, else under an id.

    Raises:
        BrokerUnknown: the group has no such broker.
    """
    key = {"broker_id": broker_id} if address is None else {"address": address}
    found = await find(connection, cluster_name, broker_group_name, **key)
    if found is None:
        raise BrokerUnknown(cluster_name, broker_group_name, address or broker_id)
    return found


async def list_online(connection: Connection) -> list[Broker]:
    """List the online brokers of all clusters, by cluster, broker group and id."""
    statement = (
        _select()
        .where(brokers.c.state == BrokerState.ONLINE)
        .order_by(clusters.c.name, broker_groups.c.name, brokers.c.broker_id)
    )
    return [_broker(row) for row in await connection.execute(statement)]


def _select() -> Select[Any]:
    """Select the columns of a broker, in the order of its fields."""
    return select(
        brokers.c.id,
        brokers.c.broker_group_id,
        clusters.c.name.label("cluster_name"),
        broker_groups.c.name.label("broker_group_name"),
        brokers.c.broker_id,
        own_id(),
        brokers.c.address,
        brokers.c.ha_address,
        brokers.c.state,
        brokers.c.registered_at,
        brokers.c.last_registered_at,
        brokers.c.heartbeat_timeout_ms,
    ).select_from(brokers.join(broker_groups).join(clusters))


def own_id() -> ColumnElement[int]:
    """Return the own id of a registered broker: a master registers the id of its role instead.

    The controller identifies a master by its address. If several replicas had this address, the
    recorded master is meant, otherwise the newest replica that is not forgotten.
    """
    is_recorded = replicas.c.broker_id == func.coalesce(replica_groups.c.master_id, MASTER_ID)
    of_controller = (
        select(replicas.c.broker_id)
        .select_from(replicas.join(replica_groups))
        .where(
            replicas.c.broker_group_id == brokers.c.broker_group_id,
            replicas.c.address == brokers.c.address,
        )
        .order_by(replicas.c.removed_at.is_(None).desc(), is_recorded.desc())
        .order_by(replicas.c.broker_id.desc())
        .limit(1)
        .correlate(brokers)
        .scalar_subquery()
    )
    is_own = brokers.c.broker_id != MASTER_ID
    kept = case((is_own, brokers.c.broker_id), else_=func.coalesce(of_controller, MASTER_ID))
    return kept.label("own_id")


def is_unregistered() -> ColumnElement[bool]:
    """Choose the replicas of a controller that have no record of a name server.

    A killed master is one of them: the new master has taken its registered id.
    """
    is_same = or_(
        brokers.c.address == replicas.c.address, brokers.c.broker_id == replicas.c.broker_id
    )
    of_group = brokers.c.broker_group_id == replicas.c.broker_group_id
    return and_(replicas.c.removed_at.is_(None), ~exists().where(of_group, is_same))


def _select_known(where: ColumnElement[bool]) -> Any:
    """Select registered brokers, and replicas that only a controller knows."""
    heard_at = (
        select(func.max(replica_reports.c.heard_at))
        .where(
            replica_reports.c.broker_group_id == replicas.c.broker_group_id,
            replica_reports.c.broker_id == replicas.c.broker_id,
        )
        .scalar_subquery()
    )
    registered = _select().add_columns(null().label("last_heard_at"), true().label("is_registered"))
    unregistered = (
        select(
            # No row has an id below zero, so pages can distinguish these rows.
            -(replicas.c.broker_group_id * _IDS_OF_GROUP + replicas.c.broker_id),
            replicas.c.broker_group_id,
            clusters.c.name,
            broker_groups.c.name,
            replicas.c.broker_id,
            replicas.c.broker_id,
            replicas.c.address,
            null(),
            literal(BrokerState.OFFLINE.value),
            replicas.c.applied_at,
            replicas.c.applied_at,
            literal(HEARTBEAT_TIMEOUT_DEFAULT_MS),
            func.greatest(replicas.c.last_heard_at, heard_at),
            literal(value=False),
        )
        .select_from(
            replicas.join(broker_groups, broker_groups.c.id == replicas.c.broker_group_id).join(
                clusters
            )
        )
        .where(is_unregistered(), where)
    )
    return union_all(registered.where(where), unregistered).subquery("known")


def _broker(row: Sequence[Any]) -> Broker:
    # Pages make hundreds of them: reading by position takes half as long as by column names.
    values = list(row)
    values[_STATE_AT] = BrokerState(values[_STATE_AT])
    return Broker(*values)
