"""Store the last report of each replica at each process of the control plane, and the leases.

Callers pass and receive ages. All instants are of the clock of Postgres, so the clocks of two
processes of the control plane are never compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from backend.db.pipeline import Pipeline, Statement
from backend.db.tables import replica_reports
from backend.domain.election import REPORTED, ReplicaReport

# (cluster, broker group, broker id)
ReplicaKey = tuple[str, str, int]

# The names and types from which each list of report columns in SQL is made.
_COLUMNS: Final[Mapping[str, str]] = {name: str(replica_reports.c[name].type) for name in REPORTED}
_NAMES: Final = ", ".join(_COLUMNS)


def replica_report_json(row: str) -> str:
    """Write the SQL that gives a row of `replica_reports` as `read_replica_report` reads it."""
    fields = ", ".join(f"{row}.{column}" for column in _COLUMNS)
    return f"""jsonb_build_array({row}.broker_id,
               greatest(0, 1000 * extract(epoch FROM clock_timestamp() - {row}.heard_at))::bigint,
               {fields})"""


def read_replica_report(values: Sequence[Any]) -> tuple[int, ReplicaReport]:
    """Read the id and the report of a replica from the form of `replica_report_json`."""
    broker_id, age_ms, *fields = values
    return broker_id, ReplicaReport(age_ms=age_ms, **dict(zip(_COLUMNS, fields, strict=True)))


def _values_of(prefix: str) -> str:
    arrays = ", ".join(f"CAST(:{prefix}_{name} AS {kind}[])" for name, kind in _COLUMNS.items())
    # A separate query: with a join by broker ids, each of hundreds of rows would be compared with
    # all.
    return f"""
{prefix} AS MATERIALIZED (
SELECT b.id AS broker_group_id, told.*
  FROM unnest(CAST(:{prefix}_clusters AS text[]), CAST(:{prefix}_groups AS text[]),
       CAST(:{prefix}_broker_ids AS bigint[]), CAST(:{prefix}_ages AS bigint[]),
       {arrays})
  AS told (cluster_name, broker_group_name, broker_id, age_ms, {_NAMES})
  JOIN clusters c ON c.name = told.cluster_name
  JOIN broker_groups b ON b.cluster_id = c.id AND b.name = told.broker_group_name)
"""  # noqa: S608 - the prefix is ours


# One statement, so one commit. A lease is never shortened but by the master itself, who gives it
# back with a timeout of 0. A master that was lost may give it back, but has it renewed no more: it
# would keep off its own successor, who has to await its end (D9). What the master has confirmed is
# noted with its lease, and only rises (D27): who asks for no lease may call confirmed what a member
# of the set lacks, as stock does.
_RECORD: Final = Statement(
    "record_replica_reports",
    f"""
WITH {_values_of("heard")}, {_values_of("asked")},
saved AS (
INSERT INTO replica_reports (
    broker_group_id, broker_id, heard_by, heard_at, {_NAMES})
SELECT told.broker_group_id, told.broker_id, CAST(:heard_by AS uuid),
       clock_timestamp() - make_interval(secs => told.age_ms / 1000.0),
       {", ".join(f"told.{name}" for name in _COLUMNS)}
  FROM heard AS told
  JOIN replicas r
    ON r.broker_group_id = told.broker_group_id AND r.broker_id = told.broker_id
   AND r.removed_at IS NULL
 ORDER BY told.broker_group_id, told.broker_id
    ON CONFLICT (broker_group_id, broker_id, heard_by) DO UPDATE
   SET heard_at = EXCLUDED.heard_at, {", ".join(f"{n} = EXCLUDED.{n}" for n in _COLUMNS)}),
due AS (
    SELECT told.*
      FROM asked AS told
      JOIN replica_groups g
        ON g.broker_group_id = told.broker_group_id AND g.master_id = told.broker_id
       AND g.master_epoch = told.epoch AND (NOT g.is_master_lost OR told.timeout_ms <= 0)
     ORDER BY g.broker_group_id
       FOR NO KEY UPDATE OF g)
UPDATE replica_groups
   SET lease_expires_at = CASE
       WHEN due.timeout_ms <= 0 THEN clock_timestamp()
       ELSE least(clock_timestamp() + make_interval(secs => due.timeout_ms / 1000.0),
                  greatest(lease_expires_at, clock_timestamp()
                  + make_interval(secs => (due.timeout_ms - due.age_ms) / 1000.0))) END,
       confirmed_epoch = CASE WHEN due.confirm_offset > confirmed_position
                              THEN due.confirm_epoch ELSE confirmed_epoch END,
       confirmed_position = greatest(confirmed_position, due.confirm_offset)
  FROM due
 WHERE replica_groups.broker_group_id = due.broker_group_id
RETURNING due.cluster_name, due.broker_group_name, due.broker_id
""",  # noqa: S608 - all parts are ours
    is_replanned=True,
)

# The last heartbeat of a replica is kept longer than its process: it shows since when it is gone.
_KEEP_LAST: Final = """
last AS (
    SELECT broker_group_id, broker_id, max(heard_at) AS heard_at
      FROM forgotten GROUP BY broker_group_id, broker_id),
due AS (
    SELECT r.broker_group_id, r.broker_id, last.heard_at
      FROM replicas r JOIN last USING (broker_group_id, broker_id)
     ORDER BY r.broker_group_id, r.broker_id
       FOR NO KEY UPDATE OF r)
UPDATE replicas
   SET last_heard_at = greatest(replicas.last_heard_at, due.heard_at)
  FROM due
 WHERE replicas.broker_group_id = due.broker_group_id AND replicas.broker_id = due.broker_id
"""

_FORGET: Final = Statement(
    "forget_replica_reports",
    f"""
WITH forgotten AS (
DELETE FROM replica_reports
 USING unnest(CAST(:gone_clusters AS text[]), CAST(:gone_groups AS text[]),
              CAST(:gone_broker_ids AS bigint[]))
       AS gone (cluster_name, broker_group_name, broker_id)
  JOIN clusters c ON c.name = gone.cluster_name
  JOIN broker_groups b ON b.cluster_id = c.id AND b.name = gone.broker_group_name
 WHERE replica_reports.broker_group_id = b.id
   AND replica_reports.broker_id = gone.broker_id
   AND replica_reports.heard_by = CAST(:heard_by AS uuid)
RETURNING replica_reports.broker_group_id, replica_reports.broker_id, heard_at),
{_KEEP_LAST}""",  # noqa: S608 - all parts are ours
    is_replanned=True,
)

_FORGET_OLD: Final = Statement(
    "forget_old_replica_reports",
    f"""
WITH forgotten AS (
DELETE FROM replica_reports WHERE heard_at < clock_timestamp() - interval '1 day'
RETURNING broker_group_id, broker_id, heard_at),
{_KEEP_LAST}""",  # noqa: S608 - all parts are ours
)

# A process removes the report of a replica that it treats as lost. So an outdated row of another
# process means that the process is paused or dead. Its silence is no evidence about the master: the
# master has one more lease to reach a running process (D28).
_LIST_MASTERLESS: Final = Statement(
    "list_masterless_groups",
    """
SELECT c.name AS cluster_name, b.name AS broker_group_name
  FROM replica_groups g
  JOIN broker_groups b ON b.id = g.broker_group_id
  JOIN clusters c ON c.id = b.cluster_id
 CROSS JOIN LATERAL (
       SELECT coalesce(bool_or(
                  s.broker_id = g.master_id AND s.is_verified
                  AND ((s.life <> 0 AND s.life = g.member_lives[array_position(
                           g.sync_state_set, g.master_id)])
                       OR (s.max_offset >= g.confirmed_position AND s.epoch >= g.confirmed_epoch))
              ), FALSE) AS has_master,
              coalesce(bool_or(s.broker_id = ANY (g.sync_state_set) AND NOT s.is_late),
                       FALSE) AS has_member,
              max(s.timeout_ms) FILTER (WHERE NOT s.is_late) AS timeout_ms
         FROM (SELECT r.broker_id, r.is_verified, r.timeout_ms, r.life, r.max_offset, r.epoch,
                      clock_timestamp() - r.heard_at
                      > make_interval(secs => r.timeout_ms / 1000.0) AS is_late
                 FROM replica_reports r
                WHERE r.broker_group_id = g.broker_group_id
                  AND clock_timestamp() - r.heard_at <= make_interval(secs => r.timeout_ms
                      * CASE WHEN r.heard_by = CAST(:heard_by AS uuid) THEN 1 ELSE 2 END / 1000.0)
              ) AS s
       ) AS alive
 WHERE g.master_epoch > 0 AND NOT alive.has_master
   AND (alive.has_member OR (CAST(:takes_unclean AS boolean) AND alive.timeout_ms IS NOT NULL))
   AND (g.is_master_lost OR alive.timeout_ms <= CAST(:listened_ms AS bigint))
 ORDER BY g.broker_group_id
 LIMIT CAST(:limit AS bigint)
""",
    is_replanned=True,
)


@dataclass(frozen=True, slots=True)
class MasterlessGroup:
    """Hold a group whose master sends no heartbeats to any process while another replica does."""

    cluster_name: str
    broker_group_name: str


async def record(
    pipeline: Pipeline,
    heard: Mapping[ReplicaKey, ReplicaReport],
    *,
    lease_asked: Mapping[ReplicaKey, ReplicaReport],
    heard_by: UUID,
) -> set[ReplicaKey]:
    """Store reports, except of brokers without an id in their group, and renew leases.

    A lease is renewed if the broker is master in the reported epoch, and was not lost since. The
    replicas with a renewed lease are returned.
    """
    values = _columns("heard", heard) | _columns("asked", lease_asked) | {"heard_by": heard_by}
    rows = await pipeline.fetch(_RECORD, values)
    return {(row[0], row[1], int(row[2])) for row in rows}


async def forget(pipeline: Pipeline, keys: Sequence[ReplicaKey], *, heard_by: UUID) -> None:
    """Remove the reports of replicas at a process, and keep the time of their last heartbeat."""
    await pipeline.fetch(_FORGET, _names("gone", keys) | {"heard_by": heard_by})


async def forget_old(pipeline: Pipeline) -> None:
    """Remove the reports of processes that ended long ago, except the times of last heartbeats."""
    await pipeline.fetch(_FORGET_OLD, {})


async def list_masterless(
    pipeline: Pipeline, *, heard_by: UUID, listened_ms: int, takes_unclean: bool, limit: int
) -> list[MasterlessGroup]:
    """List groups without a living master in which a replica could be elected.

    Groups whose heartbeat timeout is longer than any process has listened are left out: after a
    restart of the control plane a master may just not have sent a heartbeat yet. A master that was
    recorded as lost is not waited for again.
    """
    values = {
        "heard_by": heard_by,
        "listened_ms": listened_ms,
        "takes_unclean": takes_unclean,
        "limit": limit,
    }
    rows = await pipeline.fetch(_LIST_MASTERLESS, values)
    return [MasterlessGroup(row[0], row[1]) for row in rows]


def _names(prefix: str, keys: Sequence[ReplicaKey]) -> dict[str, Any]:
    return {
        f"{prefix}_clusters": [key[0] for key in keys],
        f"{prefix}_groups": [key[1] for key in keys],
        f"{prefix}_broker_ids": [key[2] for key in keys],
    }


def _columns(prefix: str, reports: Mapping[ReplicaKey, ReplicaReport]) -> dict[str, Any]:
    listed = list(reports.values())
    columns = {
        f"{prefix}_{name}": [getattr(report, name) for report in listed] for name in _COLUMNS
    }
    return _names(prefix, list(reports)) | {f"{prefix}_ages": [s.age_ms for s in listed]} | columns
