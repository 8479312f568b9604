"""Store the groups of a controller: each change is one statement (D1).

A change replaces the row of the group if its revision is still the one that was read. The same
statement writes the history and stages the event. Of two writers one finds no row.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert as upsert

from backend.db.engine import Connection
from backend.db.pipeline import Pipeline, Statement, run
from backend.db.replica_reports import read_replica_report, replica_report_json
from backend.db.tables import broker_groups, clusters, replica_group_changes, replica_groups
from backend.domain.election import Liveness, ReplicaReport
from backend.domain.replica_group import (
    UNKNOWN_LIFE,
    Change,
    ChangeKind,
    ConfirmedEnd,
    LeasePolicy,
    Replica,
    ReplicaGroup,
    SyncStateSet,
)
from backend.rules.group_mode import GroupMode

_FIND: Final = Statement(
    "find_replica_groups",
    f"""
SELECT to_jsonb(found) FROM (
SELECT g.broker_group_id, g.revision, c.name AS cluster_name, b.name AS broker_group_name,
       g.master_id, g.master_epoch, g.sync_state_set, g.sync_state_set_epoch,
       g.is_master_lost, g.lease_policy, g.preferred_id,
       g.confirmed_epoch, g.confirmed_position, g.loss_epoch, g.member_lives,
       g.protocol_version, g.version_limit,
       coalesce(greatest(0, ceil(1000 * extract(
           epoch FROM g.lease_expires_at - clock_timestamp()))), 0)::bigint AS lease_left_ms,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(
               r.broker_id, r.address, r.register_code, r.protocol_version,
               r.removed_at IS NOT NULL,
               (1000 * extract(epoch FROM clock_timestamp() - r.last_heard_at))::bigint)), '[]')
          FROM replicas r WHERE r.broker_group_id = g.broker_group_id) AS replicas,
       (SELECT coalesce(jsonb_agg({replica_report_json("s")}), '[]')
          FROM replica_reports s
         WHERE s.broker_group_id = g.broker_group_id
           AND s.heard_by <> CAST(:heard_by AS uuid)) AS reports
  FROM replica_groups g
  JOIN broker_groups b ON b.id = g.broker_group_id
  JOIN clusters c ON c.id = b.cluster_id
 WHERE b.name = ANY (CAST(:broker_group_names AS text[]))
   AND (CAST(:cluster_name AS text) IS NULL OR c.name = :cluster_name)
 ORDER BY c.name, b.name) AS found
""",  # noqa: S608 - all parts are ours
)

_NOTE: Final = """
noted AS (
    INSERT INTO replica_group_changes (
        cluster_name, broker_group_name, kind, cause, changed_at, master_id, master_epoch,
        sync_state_set, sync_state_set_epoch, replica_addresses, warning)
    SELECT CAST(:cluster_name AS text), CAST(:broker_group_name AS text), CAST(:kind AS text),
           CAST(:cause AS text), CAST(:at AS timestamptz), CAST(:master_id AS bigint),
           CAST(:master_epoch AS integer), CAST(:sync_state_set AS bigint[]),
           CAST(:sync_state_set_epoch AS integer), CAST(:replica_addresses AS jsonb),
           CAST(:warning AS text)
      FROM changed),
staged AS (
    INSERT INTO staged_events (kind, cluster_name, subject, happened_at, details)
    SELECT 'group.' || CAST(:kind AS text), CAST(:cluster_name AS text),
           CAST(:broker_group_name AS text), CAST(:at AS timestamptz), CAST(:details AS jsonb)
      FROM changed)
SELECT revision FROM changed
"""

# A decision from the heartbeats of this process is valid unless another process received a later
# one of the replica. A replica that sends this process no heartbeat, but is alive, has one more
# lease, as in `_held`. An age is looked up in the two lists only for reports of other processes: a
# join would cost as much per row as the whole change.
_UNHEARD_ELSEWHERE: Final = """
NOT EXISTS (
    SELECT FROM replica_reports s
     WHERE s.broker_group_id = replica_groups.broker_group_id
       AND s.heard_by <> CAST(:heard_by AS uuid)
       AND s.heard_at >= clock_timestamp() - make_interval(secs => coalesce(
           (CAST(:heard_ages AS bigint[]))[
               array_position(CAST(:heard_ids AS bigint[]), s.broker_id)],
           2 * s.timeout_ms) / 1000.0))
"""

_CHANGE: Final = f"""
WITH changed AS (
    UPDATE replica_groups
       SET revision = CAST(CAST(pg_current_xact_id() AS text) AS bigint),
           master_id = CAST(:master_id AS bigint),
           master_epoch = CAST(:master_epoch AS integer),
           sync_state_set = CAST(:sync_state_set AS bigint[]),
           sync_state_set_epoch = CAST(:sync_state_set_epoch AS integer),
           is_master_lost = CAST(:is_master_lost AS boolean),
           preferred_id = CAST(:preferred_id AS bigint),
           member_lives = CAST(:member_lives AS bigint[]),
           confirmed_epoch = CASE WHEN CAST(:resets_confirmed AS boolean)
               THEN CAST(:confirmed_epoch AS integer) ELSE confirmed_epoch END,
           confirmed_position = CASE WHEN CAST(:resets_confirmed AS boolean)
               THEN CAST(:confirmed_position AS bigint) ELSE confirmed_position END,
           loss_epoch = CAST(:loss_epoch AS integer),
           protocol_version = CAST(:protocol_version AS integer),
           version_limit = CAST(:version_limit AS integer),
           lease_expires_at =
               CASE WHEN NOT CAST(:ends_lease AS boolean) THEN lease_expires_at
                    WHEN CAST(:lease_ms AS bigint) > 0 THEN clock_timestamp()
                         + make_interval(secs => CAST(:lease_ms AS bigint) / 1000.0) END
     WHERE broker_group_id = CAST(:broker_group_id AS bigint)
       AND revision = CAST(:revision AS bigint)
       AND (NOT CAST(:awaits_lease AS boolean) OR lease_expires_at IS NULL
            OR lease_expires_at <= clock_timestamp())
       AND (CAST(:winner_end AS bigint) IS NULL
            OR (CAST(:winner_end AS bigint) >= confirmed_position
                AND CAST(:winner_epoch AS integer) >= confirmed_epoch))
       AND (CAST(:heard_by AS uuid) IS NULL OR {_UNHEARD_ELSEWHERE})
 RETURNING broker_group_id, revision),
"""  # noqa: S608 - all parts are ours

_WRITE: Final = Statement("write_replica_group", f"{_CHANGE}{_NOTE}")

# For the few kinds of change with changed replicas: otherwise Postgres takes a quarter longer to
# find that there are none.
_WRITE_REPLICAS: Final = Statement(
    "write_replica_group_and_replicas",
    f"""
{_CHANGE}
saved AS (
    INSERT INTO replicas (
        broker_group_id, broker_id, address, register_code, protocol_version, applied_at)
    SELECT changed.broker_group_id, told.broker_id, told.address, told.register_code,
           told.protocol_version, CAST(:at AS timestamptz)
      FROM changed, jsonb_to_recordset(CAST(:saved AS jsonb))
           AS told (broker_id bigint, address text, register_code text, protocol_version integer)
        ON CONFLICT (broker_group_id, broker_id) DO UPDATE
       SET address = EXCLUDED.address, protocol_version = EXCLUDED.protocol_version),
retired AS (
    UPDATE replicas SET removed_at = CAST(:at AS timestamptz) FROM changed
     WHERE replicas.broker_group_id = changed.broker_group_id
       AND replicas.broker_id = ANY (CAST(:retired_ids AS bigint[]))),
{_NOTE}""",  # noqa: S608 - all parts are ours
)

_REMOVE: Final = Statement(
    "remove_replica_group",
    f"""
WITH changed AS (
    DELETE FROM replica_groups
     WHERE broker_group_id = CAST(:broker_group_id AS bigint)
       AND revision = CAST(:revision AS bigint)
 RETURNING broker_group_id, revision, confirmed_epoch, confirmed_position),
freed AS (
    UPDATE broker_groups
       SET mode = CAST(:mode AS text), confirmed_epoch = changed.confirmed_epoch,
           confirmed_position = changed.confirmed_position
      FROM changed
     WHERE broker_groups.id = changed.broker_group_id),
{_NOTE}""",  # noqa: S608 - both parts are ours
)


@dataclass(frozen=True, slots=True)
class HeldGroup:
    """Hold a group as it was read, with the reports of its replicas at other processes."""

    id: int
    revision: int
    group: ReplicaGroup
    liveness: Liveness


@dataclass(frozen=True, slots=True)
class Heard:
    """Hold the age of the last heartbeat of each replica of a group at one process."""

    by: UUID
    ages_ms: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class PastChange:
    """Hold one change of the history and the group after it."""

    id: int
    kind: ChangeKind
    cause: str
    changed_at: datetime
    master_id: int | None
    master_epoch: int
    sync_state_set: SyncStateSet
    replica_addresses: Mapping[int, str]
    warning: str | None = None


async def list_named(
    pipeline: Pipeline,
    broker_group_names: Collection[str],
    *,
    cluster_name: str | None,
    heard_by: UUID,
) -> list[HeldGroup]:
    """List the groups of some names, of one cluster or of all, without the reports of `heard_by`.

    The process that asks has newer reports in its own memory.
    """
    values = {
        "broker_group_names": list(broker_group_names),
        "cluster_name": cluster_name,
        "heard_by": heard_by,
    }
    return [_held(msgspec.json.decode(row[0])) for row in await pipeline.fetch(_FIND, values)]


async def add(connection: Connection, broker_group_id: int, policy: LeasePolicy) -> bool:
    """Insert a group in revision 0; return whether it did not exist yet."""
    statement = (
        upsert(replica_groups)
        .values(
            broker_group_id=broker_group_id,
            revision=0,
            master_epoch=0,
            sync_state_set=[],
            sync_state_set_epoch=0,
            is_master_lost=False,
            lease_policy=policy,
        )
        .on_conflict_do_nothing()
        .returning(replica_groups.c.broker_group_id)
    )
    return (await connection.execute(statement)).first() is not None


async def write(
    runner: Pipeline | Connection,
    change: Change,
    *,
    broker_group_id: int,
    revision: int,
    cause: str,
    at: datetime,
    lease_ms: int = 0,
    heard: Heard | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> int | None:
    """Write a change if the group has not changed since it was read; return the revision or None.

    A change that waits for the lease of the master is written only if the lease has ended by then.
    An election is written only if the winner's log has all data that is confirmed by then (D27).
    With `heard`, it is written only if no other process has a report that could change the
    decision. A new master gets the lease of its election, if there is one. A removed group is no
    longer under a controller (D16). `meanwhile` can prepare what follows the change.
    """
    values = _values(change) | {
        "broker_group_id": broker_group_id,
        "revision": revision,
        "cause": cause,
        "details": _details(change, cause),
        "at": at,
    }
    if change.after is None:
        statement = _REMOVE
        values["mode"] = GroupMode.STATIC
    else:
        ages_ms = {} if heard is None else heard.ages_ms
        values |= {
            "is_master_lost": change.after.is_master_lost,
            "preferred_id": change.after.preferred_id,
            "ends_lease": change.kind is ChangeKind.MASTER_ELECTED,
            "awaits_lease": change.awaits_lease,
            "winner_epoch": None if change.winner_log is None else change.winner_log[0],
            "winner_end": None if change.winner_log is None else change.winner_log[1],
            "resets_confirmed": change.resets_confirmed,
            "confirmed_epoch": change.after.confirmed.epoch,
            "confirmed_position": change.after.confirmed.position,
            "loss_epoch": change.after.loss_epoch,
            "protocol_version": change.after.protocol_version,
            "version_limit": change.after.version_limit,
            "member_lives": _lives_in_order(change.after.sync_state_set),
            "lease_ms": lease_ms,
            "heard_by": None if heard is None else heard.by,
            "heard_ids": list(ages_ms),
            "heard_ages": list(ages_ms.values()),
        }
        replicas = _changed_replicas(change.before, change.after)
        statement = _WRITE_REPLICAS if replicas else _WRITE
        values |= replicas
    rows = await run(runner, statement, values, meanwhile=meanwhile)
    return int(rows[0][0]) if rows else None


async def lock_lease(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> timedelta:
    """Return the rest of the lease of a master; until the transaction ends, no lease is granted.

    Zero for a group without a controller, which has no leases.
    """
    table = replica_groups
    left = func.greatest(table.c.lease_expires_at - func.clock_timestamp(), timedelta())
    statement = (
        select(func.coalesce(left, timedelta()))
        .join(broker_groups, broker_groups.c.id == table.c.broker_group_id)
        .join(clusters, clusters.c.id == broker_groups.c.cluster_id)
        .where(clusters.c.name == cluster_name, broker_groups.c.name == broker_group_name)
        .with_for_update(read=True, of=table)
    )
    found: timedelta | None = await connection.scalar(statement)
    return found or timedelta()


async def find_forgotten(
    connection: Connection, cluster_name: str, broker_group_name: str
) -> ConfirmedEnd:
    """Find the confirmed position of a group when it was removed; unknown if there was none."""
    statement = (
        select(broker_groups.c.confirmed_epoch, broker_groups.c.confirmed_position)
        .join(clusters, clusters.c.id == broker_groups.c.cluster_id)
        .where(clusters.c.name == cluster_name, broker_groups.c.name == broker_group_name)
    )
    row = (await connection.execute(statement)).first()
    return ConfirmedEnd() if row is None else ConfirmedEnd(*row)


async def list_changes(
    connection: Connection,
    cluster_name: str,
    broker_group_name: str,
    *,
    before: int | None,
    limit: int,
) -> list[PastChange]:
    """List a group's changes, the newest first, from the first one older than `before`."""
    table = replica_group_changes
    statement = (
        select(table)
        .where(table.c.cluster_name == cluster_name, table.c.broker_group_name == broker_group_name)
        .order_by(table.c.id.desc())
        .limit(limit)
    )
    if before is not None:
        statement = statement.where(table.c.id < before)
    return [_past(row) for row in (await connection.execute(statement)).mappings()]


async def find_caused(
    connection: Connection, cluster_name: str, broker_group_name: str, *, cause: str
) -> PastChange | None:
    """Find the newest change of a group that was made for a cause."""
    table = replica_group_changes
    statement = (
        select(table)
        .where(
            table.c.cluster_name == cluster_name,
            table.c.broker_group_name == broker_group_name,
            table.c.cause == cause,
        )
        .order_by(table.c.id.desc())
        .limit(1)
    )
    row = (await connection.execute(statement)).mappings().one_or_none()
    return None if row is None else _past(row)


def _values(change: Change) -> dict[str, Any]:
    # For a removed group its last state is stored.
    group = change.before if change.after is None else change.after
    return {
        "cluster_name": group.cluster_name,
        "broker_group_name": group.name,
        "kind": change.kind,
        "master_id": group.master_id,
        "master_epoch": group.master_epoch,
        "sync_state_set": sorted(group.sync_state_set.members),
        "sync_state_set_epoch": group.sync_state_set.epoch,
        "replica_addresses": _json({i: r.address for i, r in group.replicas.items()}),
        "warning": change.warning,
    }


def _details(change: Change, cause: str) -> str:
    group = change.before if change.after is None else change.after
    warned = {} if change.warning is None else {"warning": change.warning}
    return _json(
        {
            "master_id": group.master_id,
            "master_epoch": group.master_epoch,
            "sync_state_set": sorted(group.sync_state_set.members),
            "sync_state_set_epoch": group.sync_state_set.epoch,
            "cause": cause,
            **warned,
        }
    )


def _changed_replicas(before: ReplicaGroup, after: ReplicaGroup) -> dict[str, Any]:
    """Return the parameters of replicas to save or retire, or nothing if there are none."""
    if before.replicas is after.replicas and before.retired_ids is after.retired_ids:
        return {}
    saved = [
        {
            "broker_id": i,
            "address": r.address,
            "register_code": r.register_code,
            "protocol_version": r.protocol_version,
        }
        for i, r in after.replicas.items()
        if before.replicas.get(i) != r
    ]
    return {"saved": _json(saved), "retired_ids": sorted(after.retired_ids - before.retired_ids)}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _held(row: Mapping[Any, Any]) -> HeldGroup:
    """Read a group with the reports at other processes.

    A process removes the report of a replica that it treats as lost. So an outdated row is of a
    process that is paused or dead. Its replica has one more lease to reach a running process (D28).
    """
    replicas = [(Replica(*columns), gone) for *columns, gone, _ in row["replicas"]]
    reports: dict[int, ReplicaReport] = {}
    for columns in row["reports"]:
        broker_id, report = read_replica_report(columns)
        report = replace(report, grace_ms=report.timeout_ms)
        # Several processes may have reports of one replica: the newest one is used.
        if broker_id not in reports or report.age_ms < reports[broker_id].age_ms:
            reports[broker_id] = report
    group = ReplicaGroup(
        cluster_name=row["cluster_name"],
        name=row["broker_group_name"],
        replicas={r.broker_id: r for r, is_removed in replicas if not is_removed},
        retired_ids=frozenset(r.broker_id for r, is_removed in replicas if is_removed),
        master_id=row["master_id"],
        master_epoch=row["master_epoch"],
        sync_state_set=_set_of(row),
        is_master_lost=row["is_master_lost"],
        lease_policy=LeasePolicy(row["lease_policy"]),
        preferred_id=row["preferred_id"],
        confirmed=ConfirmedEnd(row["confirmed_epoch"], row["confirmed_position"]),
        loss_epoch=row["loss_epoch"],
        protocol_version=row["protocol_version"],
        version_limit=row["version_limit"],
    )
    silences = {i: max(0, age_ms) for i, *_, age_ms in row["replicas"] if age_ms is not None}
    liveness = Liveness(reports, row["lease_left_ms"], silences)
    return HeldGroup(row["broker_group_id"], row["revision"], group, liveness)


def _set_of(row: Mapping[Any, Any]) -> SyncStateSet:
    ids, lives = row["sync_state_set"], row["member_lives"]
    # A set of an earlier version has no lives.
    known = {i: life for i, life in zip(ids, lives, strict=False) if life != UNKNOWN_LIFE}
    return SyncStateSet(frozenset(ids), row["sync_state_set_epoch"], known)


def _lives_in_order(held: SyncStateSet) -> list[int]:
    return [held.lives.get(broker_id, UNKNOWN_LIFE) for broker_id in sorted(held.members)]


def _past(row: Mapping[Any, Any]) -> PastChange:
    return PastChange(
        id=row["id"],
        kind=ChangeKind(row["kind"]),
        cause=row["cause"],
        changed_at=row["changed_at"],
        master_id=row["master_id"],
        master_epoch=row["master_epoch"],
        sync_state_set=SyncStateSet(frozenset(row["sync_state_set"]), row["sync_state_set_epoch"]),
        replica_addresses={int(i): a for i, a in row["replica_addresses"].items()},
        warning=row["warning"],
    )
