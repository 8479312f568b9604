"""Store protections: rows by name, whether an object of the name is registered or not."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, and_, delete, select, tuple_
from sqlalchemy.dialects.postgresql import insert

from backend.db.engine import Connection
from backend.db.operation_tables import protections
from backend.domain.protection import Protection, Resource, ResourceKind

_KEY = (protections.c.cluster_name, protections.c.kind, protections.c.name)


async def find(connection: Connection, resource: Resource) -> Protection | None:
    """Return the protection of a resource, if it has one."""
    return (await find_of(connection, [resource])).get(resource)


async def find_of(
    connection: Connection, resources: Collection[Resource]
) -> dict[Resource, Protection]:
    """Return the protections of some objects in one statement; absent ones are not protected."""
    wanted = [(one.cluster_name, one.kind.value, one.name) for one in resources]
    return await _list(connection, tuple_(*_KEY).in_(wanted)) if wanted else {}


async def list_of_broker_group(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> dict[Resource, Protection]:
    """Return the protections of the brokers of a group."""
    condition = and_(
        protections.c.cluster_name == cluster_name,
        protections.c.kind == ResourceKind.BROKER,
        protections.c.name.startswith(f"{broker_group_name}/", autoescape=True),
    )
    return await _list(connection, condition)


async def add(connection: Connection, protection: Protection) -> None:
    """Protect an object; an existing protection does not change."""
    resource = protection.resource
    statement = insert(protections).values(
        cluster_name=resource.cluster_name,
        kind=resource.kind,
        name=resource.name,
        protected_by=protection.protected_by,
        protected_at=protection.protected_at,
        reason=protection.reason,
    )
    await connection.execute(statement.on_conflict_do_nothing())


async def remove(connection: Connection, resource: Resource) -> None:
    """Remove the protection of an object, if it has one."""
    key = (resource.cluster_name, resource.kind.value, resource.name)
    await connection.execute(delete(protections).where(tuple_(*_KEY) == key))


async def _list(
    connection: Connection, condition: ColumnElement[bool]
) -> dict[Resource, Protection]:
    found: dict[Resource, Protection] = {}
    for row in await connection.execute(select(protections).where(condition)):
        resource = Resource(row.cluster_name, ResourceKind(row.kind), row.name)
        found[resource] = Protection(resource, row.protected_by, row.protected_at, row.reason)
    return found
