"""Read the facts for the health of broker groups, in one statement."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from sqlalchemy import text

from backend.db.engine import Connection
from backend.domain.election import ReplicaReport
from backend.domain.topic import Permission

_GROUPS: Final = text("""
SELECT to_jsonb(found) FROM (
SELECT c.name AS cluster_name, b.name AS broker_group_name,
       g.broker_group_id IS NOT NULL AS is_controlled, b.acting_id, b.acting_since,
       g.master_id, g.sync_state_set, coalesce(g.is_master_lost, FALSE) AS is_master_lost,
       (SELECT coalesce(jsonb_agg(jsonb_build_object(
               'broker_id', r.broker_id, 'address', r.address,
               'last_heard_at', r.last_heard_at,
               'age_ms', (1000 * extract(epoch FROM clock_timestamp() - r.last_heard_at))::bigint)
               ORDER BY r.broker_id), '[]')
          FROM replicas r
         WHERE r.broker_group_id = b.id AND r.removed_at IS NULL) AS replicas,
       (SELECT coalesce(jsonb_agg(jsonb_build_object(
               'broker_id', s.broker_id, 'heard_by', s.heard_by, 'heard_at', s.heard_at,
               'age_ms', greatest(
                   0, 1000 * extract(epoch FROM clock_timestamp() - s.heard_at))::bigint,
               'timeout_ms', s.timeout_ms, 'is_verified', s.is_verified,
               'is_cordoned', s.is_cordoned, 'is_learner', s.is_learner)), '[]')
          FROM replica_reports s
         WHERE s.broker_group_id = b.id
           AND s.heard_by IS DISTINCT FROM CAST(:heard_by AS uuid)) AS reports,
       (SELECT coalesce(jsonb_agg(jsonb_build_object(
               'broker_id', o.broker_id, 'address', o.address,
               'is_online', o.state = 'online') ORDER BY o.broker_id), '[]')
          FROM brokers o WHERE o.broker_group_id = b.id) AS registrations,
       EXISTS (SELECT FROM topic_placements p WHERE p.broker_group_id = b.id) AS has_topics,
       EXISTS (SELECT FROM topic_placements p
                WHERE p.broker_group_id = b.id
                  AND p.permissions & CAST(:writable AS integer) <> 0) AS has_writable_topics
  FROM broker_groups b
  JOIN clusters c ON c.id = b.cluster_id
  LEFT JOIN replica_groups g ON g.broker_group_id = b.id
 WHERE (CAST(:cluster_name AS text) IS NULL OR c.name = :cluster_name)
   AND (CAST(:broker_group_names AS text[]) IS NULL
        OR b.name = ANY (CAST(:broker_group_names AS text[])))
 ORDER BY c.name, b.name) AS found
""")


class ReplicaRow(msgspec.Struct, frozen=True):
    """Hold a replica, and its last heartbeat at a process that no longer hears it."""

    broker_id: int
    address: str
    last_heard_at: datetime | None
    age_ms: int | None


class ReplicaReportRow(msgspec.Struct, frozen=True):
    """Hold the report of a replica at one process."""

    broker_id: int
    heard_by: UUID
    heard_at: datetime
    age_ms: int
    timeout_ms: int
    is_verified: bool
    is_cordoned: bool
    is_learner: bool

    @property
    def report(self) -> ReplicaReport:
        """Return the report in the form of the controller."""
        return ReplicaReport(
            self.age_ms,
            self.timeout_ms,
            is_verified=self.is_verified,
            is_cordoned=self.is_cordoned,
            is_learner=self.is_learner,
        )


class RegistrationRow(msgspec.Struct, frozen=True):
    """Hold the facts of the name server about a broker."""

    broker_id: int
    address: str
    is_online: bool


class GroupRow(msgspec.Struct, frozen=True):
    """Hold the facts of Postgres about one broker group."""

    cluster_name: str
    broker_group_name: str
    is_controlled: bool
    acting_id: int | None
    acting_since: datetime | None
    master_id: int | None
    sync_state_set: list[int] | None
    is_master_lost: bool
    replicas: list[ReplicaRow]
    reports: list[ReplicaReportRow]
    registrations: list[RegistrationRow]
    has_topics: bool
    has_writable_topics: bool


async def list_groups(
    connection: Connection,
    *,
    cluster_name: str | None = None,
    broker_group_names: Sequence[str] | None = None,
    heard_by: UUID | None = None,
) -> list[GroupRow]:
    """List groups by cluster and name; `heard_by` excludes the reports of this process."""
    values: Mapping[str, Any] = {
        "cluster_name": cluster_name,
        "broker_group_names": None if broker_group_names is None else list(broker_group_names),
        "heard_by": heard_by,
        "writable": int(Permission.WRITE),
    }
    rows = await connection.execute(_GROUPS, values)
    return msgspec.convert([row[0] for row in rows], list[GroupRow], strict=False)
