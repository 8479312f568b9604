"""Put a group into Postgres in a state that it would take many requests to bring about."""

from datetime import timedelta

from sqlalchemy import insert

from backend.clients.clock import SystemClock
from backend.db import broker_groups, clusters
from backend.db.tables import replica_groups, replicas
from backend.rules.group_mode import GroupMode


async def write_group(database, group, *, lease_left_ms=0):
    """Write a group's rows, with a lease of its master that runs for so long."""
    now = SystemClock().now()
    async with database.begin() as connection:
        cluster_id = await clusters.find_or_add(connection, group.cluster_name, at=now)
        group_id = await broker_groups.find_or_add(
            connection, cluster_id, group.name, mode=GroupMode.CONTROLLER, at=now
        )
        await connection.execute(
            insert(replica_groups).values(
                broker_group_id=group_id,
                revision=0,
                master_id=group.master_id,
                master_epoch=group.master_epoch,
                sync_state_set=sorted(group.sync_state_set.members),
                sync_state_set_epoch=group.sync_state_set.epoch,
                is_master_lost=group.is_master_lost,
                lease_policy=group.lease_policy,
                lease_expires_at=now + timedelta(milliseconds=lease_left_ms)
                if lease_left_ms
                else None,
                preferred_id=group.preferred_id,
            )
        )
        await connection.execute(
            insert(replicas),
            [
                {
                    "broker_group_id": group_id,
                    "broker_id": one.broker_id,
                    "address": one.address,
                    "register_code": one.register_code,
                    "applied_at": now,
                }
                for one in group.replicas.values()
            ],
        )
