"""Keep when each process of the control plane last heard which replica, and masters' leases.

Ages go in and come out; instants are of Postgres's clock alone, so that the clocks of two
processes of the control plane never meet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from backend.db.engine import Connection
from backend.domain.election import Sighting

# (cluster, broker group, broker id)
ReplicaKey = tuple[str, str, int]

_TOLD: Final = """
unnest(CAST(:clusters AS text[]), CAST(:groups AS text[]), CAST(:broker_ids AS bigint[]),
       CAST(:ages AS bigint[]), CAST(:timeouts AS bigint[]), CAST(:epochs AS integer[]),
       CAST(:max_offsets AS bigint[]), CAST(:confirm_offsets AS bigint[]),
       CAST(:priorities AS integer[]), CAST(:verified AS boolean[]))
  AS told (cluster_name, group_name, broker_id, age_ms, timeout_ms, epoch, max_offset,
           confirm_offset, priority, is_verified)
  JOIN clusters c ON c.name = told.cluster_name
  JOIN broker_groups b ON b.cluster_id = c.id AND b.name = told.group_name
"""

_SAVE: Final = text(f"""
INSERT INTO replica_sightings (
    broker_group_id, broker_id, heard_by, heard_at, timeout_ms, epoch, max_offset,
    confirm_offset, priority, is_verified)
SELECT b.id, told.broker_id, :heard_by,
       clock_timestamp() - make_interval(secs => told.age_ms / 1000.0),
       told.timeout_ms, told.epoch, told.max_offset, told.confirm_offset, told.priority,
       told.is_verified
  FROM {_TOLD}
  JOIN replicas r
    ON r.broker_group_id = b.id AND r.broker_id = told.broker_id AND r.removed_at IS NULL
 ORDER BY b.id, told.broker_id
    ON CONFLICT (broker_group_id, broker_id, heard_by) DO UPDATE
   SET heard_at = EXCLUDED.heard_at, timeout_ms = EXCLUDED.timeout_ms, epoch = EXCLUDED.epoch,
       max_offset = EXCLUDED.max_offset, confirm_offset = EXCLUDED.confirm_offset,
       priority = EXCLUDED.priority, is_verified = EXCLUDED.is_verified
""")  # noqa: S608 - both parts are ours

# A lease is never shortened but by the master itself, who gives it back with a timeout of 0.
_RENEW: Final = text(f"""
WITH asked AS (
    SELECT g.broker_group_id, c.name AS cluster_name, b.name AS group_name, told.broker_id,
           told.age_ms, told.timeout_ms
      FROM {_TOLD}
      JOIN replica_groups g
        ON g.broker_group_id = b.id AND g.master_id = told.broker_id
       AND g.master_epoch = told.epoch
     ORDER BY g.broker_group_id
       FOR NO KEY UPDATE OF g)
UPDATE replica_groups
   SET lease_expires_at = CASE
       WHEN asked.timeout_ms <= 0 THEN clock_timestamp()
       ELSE greatest(lease_expires_at, clock_timestamp()
            + make_interval(secs => (asked.timeout_ms - asked.age_ms) / 1000.0)) END
  FROM asked
 WHERE replica_groups.broker_group_id = asked.broker_group_id
RETURNING asked.cluster_name, asked.group_name, asked.broker_id
""")  # noqa: S608 - both parts are ours

_FORGET: Final = text("""
DELETE FROM replica_sightings
 USING unnest(CAST(:clusters AS text[]), CAST(:groups AS text[]), CAST(:broker_ids AS bigint[]))
       AS gone (cluster_name, group_name, broker_id)
  JOIN clusters c ON c.name = gone.cluster_name
  JOIN broker_groups b ON b.cluster_id = c.id AND b.name = gone.group_name
 WHERE replica_sightings.broker_group_id = b.id
   AND replica_sightings.broker_id = gone.broker_id
   AND replica_sightings.heard_by = :heard_by
""")

_FORGET_OLD: Final = text(
    "DELETE FROM replica_sightings WHERE heard_at < clock_timestamp() - interval '1 day'"
)

_LIST_MASTERLESS: Final = text("""
SELECT c.name AS cluster_name, b.name AS group_name
  FROM replica_groups g
  JOIN broker_groups b ON b.id = g.broker_group_id
  JOIN clusters c ON c.id = b.cluster_id
 CROSS JOIN LATERAL (
       SELECT coalesce(bool_or(s.broker_id = g.master_id AND s.is_verified), FALSE) AS has_master,
              coalesce(bool_or(s.broker_id = ANY (g.sync_state_set)), FALSE) AS has_member,
              max(s.timeout_ms) AS timeout_ms
         FROM replica_sightings s
        WHERE s.broker_group_id = g.broker_group_id
          AND s.heard_at + make_interval(secs => s.timeout_ms / 1000.0) >= clock_timestamp()
       ) AS alive
 WHERE g.master_epoch > 0 AND NOT alive.has_master
   AND (alive.has_member OR (:takes_unclean AND alive.timeout_ms IS NOT NULL))
   AND alive.timeout_ms <= :listened_ms
 ORDER BY g.broker_group_id
 LIMIT :limit
""")


@dataclass(frozen=True, slots=True)
class MasterlessGroup:
    """Name a group whose master is not heard by anybody while another replica is."""

    cluster_name: str
    group_name: str


async def save(
    connection: Connection, heard: Mapping[ReplicaKey, Sighting], *, heard_by: UUID
) -> None:
    """Note who was heard; a broker that has no id in its group is left out."""
    await connection.execute(_SAVE, _columns(heard) | {"heard_by": heard_by})


async def renew_leases(
    connection: Connection, asked: Mapping[ReplicaKey, Sighting]
) -> set[ReplicaKey]:
    """Renew leases of those who are master in the epoch they speak of; return whose were."""
    rows = await connection.execute(_RENEW, _columns(asked))
    return {(row.cluster_name, row.group_name, row.broker_id) for row in rows}


async def forget(connection: Connection, keys: Sequence[ReplicaKey], *, heard_by: UUID) -> None:
    """Note that a process hears some replicas no longer."""
    await connection.execute(_FORGET, _names(keys) | {"heard_by": heard_by})


async def forget_old(connection: Connection) -> None:
    """Remove what processes noted that are long gone."""
    await connection.execute(_FORGET_OLD)


async def list_masterless(
    connection: Connection, *, listened_ms: int, takes_unclean: bool, limit: int
) -> list[MasterlessGroup]:
    """List groups without a living master in which somebody could be elected.

    Those whose replicas ask to be waited for longer than anybody listens yet are left out: a
    master may only not have spoken again since a control plane came back.
    """
    values = {"listened_ms": listened_ms, "takes_unclean": takes_unclean, "limit": limit}
    rows = await connection.execute(_LIST_MASTERLESS, values)
    return [MasterlessGroup(row.cluster_name, row.group_name) for row in rows]


def _names(keys: Sequence[ReplicaKey]) -> dict[str, Any]:
    return {
        "clusters": [key[0] for key in keys],
        "groups": [key[1] for key in keys],
        "broker_ids": [key[2] for key in keys],
    }


def _columns(heard: Mapping[ReplicaKey, Sighting]) -> dict[str, Any]:
    told = list(heard.values())
    return _names(list(heard)) | {
        "ages": [s.age_ms for s in told],
        "timeouts": [s.timeout_ms for s in told],
        "epochs": [s.epoch for s in told],
        "max_offsets": [s.max_offset for s in told],
        "confirm_offsets": [s.confirm_offset for s in told],
        "priorities": [s.priority for s in told],
        "verified": [s.is_verified for s in told],
    }
