"""Write the reports of replicas to Postgres, so that every process can judge liveness."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.db import replica_reports, share_leases
from backend.db.engine import Database
from backend.db.pipeline import pipeline_of
from backend.db.replica_reports import ReplicaKey
from backend.domain.election import ReplicaReport


async def record_replica_reports(
    heard: Mapping[ReplicaKey, ReplicaReport],
    *,
    lease_asked: Mapping[ReplicaKey, ReplicaReport],
    heard_by: UUID,
    database: Database,
) -> set[ReplicaKey]:
    """Write reports, renew the requested leases, and return the replicas with a renewed lease.

    A returned lease is in Postgres: no process elects another master during it.
    """
    if not heard and not lease_asked:
        return set()
    return await replica_reports.record(
        pipeline_of(database), heard, lease_asked=lease_asked, heard_by=heard_by
    )


async def forget_replica_reports(
    keys: Sequence[ReplicaKey], *, heard_by: UUID, database: Database
) -> None:
    """Record that this process receives no more heartbeats of some replicas.

    If no other process receives some, their leases of share queues end now (Q90).
    """
    pipeline = pipeline_of(database)
    await replica_reports.forget(pipeline, keys, heard_by=heard_by)
    await share_leases.free_gone(pipeline, keys)


async def forget_old_replica_reports(*, database: Database) -> None:
    """Remove the reports of processes that ended long ago."""
    await replica_reports.forget_old(pipeline_of(database))
