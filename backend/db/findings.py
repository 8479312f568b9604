"""Store findings, and read the facts for them: each kind of group in one statement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, insert, select, text, update

from backend.db.brokers import own_id
from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.maintenance_tables import findings
from backend.db.replica_reports import read_replica_report, replica_report_json
from backend.db.tables import broker_groups, brokers, clusters
from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.finding import (
    Finding,
    FindingCode,
    FindingKey,
    ForsakenGroup,
    InvalidItems,
    ObservedGroup,
    ServedMaster,
)
from backend.domain.replica_group import ChangeKind, ConfirmedEnd

HISTORY_LOOKED_AT: Final = 20
"""The number of newest changes of a group that are checked for a higher epoch."""
NAMES_MAX: Final = 10
_SCAN_LOCK: Final = 0x5245_4746_494E

_GROUPS = text(f"""
SELECT c.name AS cluster_name, b.name AS broker_group_name, g.master_id, g.master_epoch,
       g.sync_state_set, g.is_master_lost, g.confirmed_epoch, g.confirmed_position,
       g.member_lives,
       (SELECT r.address FROM replicas r
         WHERE r.broker_group_id = g.broker_group_id AND r.broker_id = g.master_id)
           AS master_address,
       coalesce(past.epoch, 0) AS epoch_past,
       served.address AS served_address, served.state AS served_state,
       ARRAY (SELECT r.broker_id FROM replicas r
               WHERE r.broker_group_id = g.broker_group_id AND r.removed_at IS NULL)
           AS replica_ids,
       (SELECT coalesce(jsonb_agg({replica_report_json("s")}), '[]')
          FROM (SELECT DISTINCT ON (broker_id) * FROM replica_reports
                 WHERE broker_group_id = g.broker_group_id
                 ORDER BY broker_id, heard_at DESC) AS s
          JOIN replicas r ON r.broker_group_id = g.broker_group_id
           AND r.broker_id = s.broker_id AND r.removed_at IS NULL) AS reports
  FROM replica_groups g
  JOIN broker_groups b ON b.id = g.broker_group_id
  JOIN clusters c ON c.id = b.cluster_id
  LEFT JOIN brokers served ON served.broker_group_id = b.id AND served.broker_id = 0
 CROSS JOIN LATERAL (
       SELECT max(newest.master_epoch)
                  FILTER (WHERE newest.id > coalesce(newest.removed_id, 0)) AS epoch
         FROM (SELECT h.id, h.master_epoch,
                      max(h.id) FILTER (WHERE h.kind = :removed) OVER () AS removed_id
                 FROM (SELECT id, kind, master_epoch FROM replica_group_changes
                        WHERE cluster_name = c.name AND broker_group_name = b.name
                        ORDER BY id DESC LIMIT :looked_at) AS h) AS newest) AS past
 ORDER BY c.name, b.name
""")  # noqa: S608 - all parts are ours

_FORSAKEN = text("""
SELECT c.name AS cluster_name, b.name AS broker_group_name, count(*) AS topic_count,
       (array_agg(t.name ORDER BY t.name))[1:CAST(:names_max AS integer)] AS topic_names
  FROM topic_placements p
  JOIN topics t ON t.id = p.topic_id
  JOIN broker_groups b ON b.id = p.broker_group_id
  JOIN clusters c ON c.id = b.cluster_id
 WHERE NOT EXISTS (SELECT FROM brokers o WHERE o.broker_group_id = b.id AND o.state = 'online')
 GROUP BY c.name, b.name
 ORDER BY c.name, b.name
""")


_INVALID_ITEMS = (
    select(
        clusters.c.name.label("cluster_name"),
        broker_groups.c.name.label("broker_group_name"),
        own_id().label("broker_id"),
        brokers.c.address,
        brokers.c.left_out,
    )
    .select_from(brokers.join(broker_groups).join(clusters))
    .where(brokers.c.left_out.is_not(None))
    .order_by(clusters.c.name, broker_groups.c.name, brokers.c.broker_id)
)


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """Choose findings that were ever open; None as a condition accepts all."""

    cluster_name: str | None = None
    code: FindingCode | None = None
    is_open: bool | None = None
    within: ClusterScope = EVERYWHERE


async def list_observed(connection: Connection) -> list[ObservedGroup]:
    """List the known facts of every group under a controller."""
    values = {"removed": ChangeKind.GROUP_REMOVED, "looked_at": HISTORY_LOOKED_AT}
    return [_observed(row) for row in (await connection.execute(_GROUPS, values)).mappings()]


async def list_forsaken(connection: Connection) -> list[ForsakenGroup]:
    """List the groups with topics and without an online broker."""
    rows = (await connection.execute(_FORSAKEN, {"names_max": NAMES_MAX})).mappings()
    return [ForsakenGroup(**{**row, "topic_names": tuple(row["topic_names"])}) for row in rows]


async def list_invalid_items(connection: Connection) -> list[InvalidItems]:
    """List the brokers with topics or groups that can't be served, and these items."""
    found = []
    for row in (await connection.execute(_INVALID_ITEMS)).mappings():
        left_out = row["left_out"]
        items = (f"{one['kind']} {one['name']}: {one['reason']}" for one in left_out["first"])
        names = ("cluster_name", "broker_group_name", "broker_id", "address")
        found.append(
            InvalidItems(
                **{name: row[name] for name in names}, count=left_out["count"], items=tuple(items)
            )
        )
    return found


async def lock_present(connection: Connection) -> list[Finding]:
    """List suspicions and open findings, and lock all findings until this transaction ends."""
    await connection.execute(select(func.pg_advisory_xact_lock(_SCAN_LOCK)))
    columns = findings.c
    statement = select(findings).where(columns.closed_at.is_(None)).order_by(columns.id)
    return [_finding(row) for row in (await connection.execute(statement)).mappings()]


async def save(connection: Connection, changed: Sequence[Finding]) -> None:
    """Write the present state of findings."""
    for finding in changed:
        values = {
            "evidence": dict(finding.evidence),
            "first_evidence": dict(finding.first_evidence),
            "suspected_at": finding.suspected_at,
            "opened_at": finding.opened_at,
            "cleared_at": finding.cleared_at,
            "closed_at": finding.closed_at,
        }
        if finding.id is None:
            key = finding.key
            names = {"code": key.code, "cluster_name": key.cluster_name, "subject": key.subject}
            await connection.execute(insert(findings).values(**names, **values))
        else:
            await connection.execute(
                update(findings).where(findings.c.id == finding.id).values(**values)
            )


async def remove(connection: Connection, dropped: Sequence[Finding]) -> None:
    """Remove suspicions that have ended."""
    ids = [finding.id for finding in dropped]
    if ids:
        await connection.execute(delete(findings).where(findings.c.id.in_(ids)))


async def list_newest(
    connection: Connection, *, chosen: FindingFilter, before: int | None, limit: int
) -> list[Finding]:
    """List findings, the newest first, from the first one older than `before`."""
    columns = findings.c
    statement = (
        select(findings).where(*_conditions(chosen)).order_by(columns.id.desc()).limit(limit)
    )
    if before is not None:
        statement = statement.where(columns.id < before)
    return [_finding(row) for row in (await connection.execute(statement)).mappings()]


async def count(connection: Connection, *, chosen: FindingFilter) -> int:
    """Count findings."""
    statement = select(func.count()).select_from(findings).where(*_conditions(chosen))
    return int(await connection.scalar(statement) or 0)


async def count_closed(connection: Connection, *, before: datetime) -> int:
    """Count the findings that ended before an instant."""
    statement = select(func.count()).select_from(findings).where(findings.c.closed_at < before)
    return int(await connection.scalar(statement) or 0)


async def remove_closed(connection: Connection, *, before: datetime, limit: int) -> int:
    """Remove findings that ended before an instant; return their number."""
    oldest = select(findings.c.id).where(findings.c.closed_at < before).limit(limit)
    removed = await connection.execute(delete(findings).where(findings.c.id.in_(oldest)))
    return removed.rowcount


def _conditions(chosen: FindingFilter) -> list[ColumnElement[bool]]:
    columns = findings.c
    conditions: list[ColumnElement[bool]] = [columns.opened_at.is_not(None)]
    conditions += reached(chosen.within, columns.cluster_name)
    if chosen.cluster_name is not None:
        conditions.append(columns.cluster_name == chosen.cluster_name)
    if chosen.code is not None:
        conditions.append(columns.code == chosen.code)
    if chosen.is_open is not None:
        ended = columns.closed_at
        conditions.append(ended.is_(None) if chosen.is_open else ended.is_not(None))
    return conditions


def _observed(row: Mapping[Any, Any]) -> ObservedGroup:
    address, state = row["served_address"], row["served_state"]
    return ObservedGroup(
        cluster_name=row["cluster_name"],
        broker_group_name=row["broker_group_name"],
        master_id=row["master_id"],
        master_address=row["master_address"],
        master_epoch=row["master_epoch"],
        members=frozenset(row["sync_state_set"]),
        is_master_lost=row["is_master_lost"],
        epoch_past=row["epoch_past"],
        served_master=None if address is None else ServedMaster(address, state == "online"),
        replica_ids=frozenset(row["replica_ids"]),
        reports=dict(read_replica_report(columns) for columns in row["reports"]),
        confirmed=ConfirmedEnd(row["confirmed_epoch"], row["confirmed_position"]),
        lives=dict(zip(row["sync_state_set"], row["member_lives"], strict=False)),
    )


def _finding(row: Mapping[Any, Any]) -> Finding:
    key = FindingKey.recorded(FindingCode(row["code"]), row["cluster_name"], row["subject"])
    names = ("id", "evidence", "first_evidence")
    instants = ("suspected_at", "opened_at", "cleared_at", "closed_at")
    return Finding(key=key, **{name: row[name] for name in (*names, *instants)})
