"""Note in Postgres who was heard, so that every process of the control plane can judge liveness."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.db import replica_sightings
from backend.db.engine import Database
from backend.db.replica_sightings import ReplicaKey
from backend.domain.election import Sighting


async def record_sightings(
    heard: Mapping[ReplicaKey, Sighting],
    *,
    lease_asked: Mapping[ReplicaKey, Sighting],
    heard_by: UUID,
    database: Database,
) -> set[ReplicaKey]:
    """Note who was heard, renew the leases that were asked for, and return whose were renewed.

    A lease that is returned here is in Postgres: no process elects against it from now on.
    """
    async with database.begin() as connection:
        if heard:
            await replica_sightings.save(connection, heard, heard_by=heard_by)
        if not lease_asked:
            return set()
        return await replica_sightings.renew_leases(connection, lease_asked)


async def forget_sightings(
    keys: Sequence[ReplicaKey], *, heard_by: UUID, database: Database
) -> None:
    """Note that this process no longer hears some replicas."""
    async with database.begin() as connection:
        await replica_sightings.forget(connection, keys, heard_by=heard_by)


async def forget_old_sightings(*, database: Database) -> None:
    """Remove what processes noted that are long gone."""
    async with database.begin() as connection:
        await replica_sightings.forget_old(connection)
