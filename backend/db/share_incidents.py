"""Store the incidents of share queues: what members report, and how each incident ended."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, or_, select, update

from backend.db.cluster_scope import reached
from backend.db.engine import Connection
from backend.db.events import STAGED_CHANNEL
from backend.db.pipeline import Pipeline, Statement
from backend.db.share_tables import share_incidents
from backend.domain.event import TOPIC_MESSAGES_LOST, TOPIC_NAMES_MAX
from backend.domain.share_incident import (
    IncidentFilter,
    IncidentOutcome,
    IncidentResolution,
    ReportedIncident,
    ShareIncident,
)
from backend.rules.share_incident import IncidentKind

# An incident that its member reports no more is judged by the next check. One that is reported
# again is open again, unless its member was removed: such a broker may report without end. Postgres
# refuses to change one row twice, so an incident that a report names twice is taken once. Of topics
# that lost their messages a new row, and so a first report, is an event as well.
_RECORD: Final = Statement(
    "record_share_incidents",
    """
WITH told AS MATERIALIZED (
SELECT DISTINCT ON (kind, epoch, lane, position, topic, queue_id, consumer_group_name) *
  FROM unnest(CAST(:kinds AS text[]), CAST(:epochs AS bigint[]), CAST(:lanes AS integer[]),
              CAST(:positions AS bigint[]), CAST(:topics AS text[]), CAST(:queue_ids AS integer[]),
              CAST(:consumer_group_names AS text[]), CAST(:reasons AS text[]),
              CAST(:outcomes AS text[]), CAST(:resolutions AS text[]))
    AS told (kind, epoch, lane, position, topic, queue_id, consumer_group_name, reason, outcome,
             resolution)
 ORDER BY kind, epoch, lane, position, topic, queue_id, consumer_group_name),
saved AS (
INSERT INTO share_incidents AS kept (
    cluster_name, broker_group_name, broker_id, life, is_named, kind, epoch, lane, position, topic,
    queue_id, consumer_group_name, reason, outcome, opened_at, resolved_at, resolution)
SELECT c.name, b.name, r.broker_id, CAST(:life AS bigint), told.resolution IS NULL, told.kind,
       told.epoch, told.lane, told.position, told.topic, told.queue_id, told.consumer_group_name,
       told.reason, told.outcome, statement_timestamp(),
       CASE WHEN told.resolution IS NOT NULL THEN statement_timestamp() END, told.resolution
  FROM told
  JOIN clusters c ON c.name = :cluster_name
  JOIN broker_groups b ON b.cluster_id = c.id AND b.name = :broker_group_name
  JOIN replicas r ON r.broker_group_id = b.id AND r.broker_id = CAST(:broker_id AS bigint)
   AND r.removed_at IS NULL
    ON CONFLICT (cluster_name, broker_group_name, broker_id, kind, epoch, lane, position, topic,
                 queue_id, consumer_group_name) DO UPDATE
   SET life = EXCLUDED.life, is_named = TRUE, resolved_at = NULL, resolution = NULL
 WHERE EXCLUDED.resolution IS NULL
   AND (kept.life <> EXCLUDED.life OR NOT kept.is_named OR kept.resolved_at IS NOT NULL)
RETURNING kept.kind, kept.epoch, kept.topic),
staged AS (
INSERT INTO staged_events (kind, cluster_name, subject, happened_at, details)
SELECT :lost_event, :cluster_name, :broker_group_name, statement_timestamp(),
       jsonb_build_object(
           'topics', to_jsonb((array_agg(topic ORDER BY topic))
                              [1:CAST(:topic_names_max AS integer)]),
           'topic_count', count(*), 'master_epoch', epoch)
  FROM saved
 WHERE kind = :lost_kind
 GROUP BY epoch)
UPDATE share_incidents i
   SET is_named = FALSE
 WHERE i.cluster_name = :cluster_name AND i.broker_group_name = :broker_group_name
   AND i.broker_id = CAST(:broker_id AS bigint) AND i.life = CAST(:life AS bigint) AND i.is_named
   AND i.resolved_at IS NULL
   AND NOT EXISTS (
       SELECT FROM told
        WHERE (told.kind, told.epoch, told.lane) = (i.kind, i.epoch, i.lane)
          AND told.position IS NOT DISTINCT FROM i.position)
""",
    is_replanned=True,
)


async def record(
    pipeline: Pipeline,
    cluster_name: str,
    broker_group_name: str,
    broker_id: int,
    life: int,
    reported: Sequence[ReportedIncident],
) -> None:
    """Record all incidents that a process reports now; it reports the others no more.

    Nothing is recorded of a broker that is no replica of its group.
    """
    values = {
        "cluster_name": cluster_name,
        "broker_group_name": broker_group_name,
        "broker_id": broker_id,
        "life": life,
        "kinds": [one.kind for one in reported],
        "epochs": [one.epoch for one in reported],
        "lanes": [one.lane for one in reported],
        "positions": [one.position for one in reported],
        "topics": [one.topic for one in reported],
        "queue_ids": [one.queue_id for one in reported],
        "consumer_group_names": [one.consumer_group_name for one in reported],
        "reasons": [one.reason for one in reported],
        "outcomes": [one.first_outcome for one in reported],
        "resolutions": [one.first_resolution for one in reported],
        "lost_kind": IncidentKind.MESSAGES_LOST,
        "lost_event": TOPIC_MESSAGES_LOST,
        "topic_names_max": TOPIC_NAMES_MAX,
    }
    await pipeline.fetch(_RECORD, values)
    if any(one.kind is IncidentKind.MESSAGES_LOST for one in reported):
        pipeline.notify(STAGED_CHANNEL)


async def list_open(connection: Connection) -> list[ShareIncident]:
    """List the open incidents, the oldest first."""
    columns = share_incidents.c
    statement = select(share_incidents).where(columns.resolved_at.is_(None)).order_by(columns.id)
    return [_incident(row) for row in (await connection.execute(statement)).mappings()]


async def list_lost(connection: Connection, *, since: datetime) -> list[ShareIncident]:
    """List the topics that have lost their messages since an instant, the oldest loss first."""
    columns = share_incidents.c
    statement = (
        select(share_incidents)
        .where(columns.kind == IncidentKind.MESSAGES_LOST, columns.resolved_at >= since)
        .order_by(columns.id)
    )
    return [_incident(row) for row in (await connection.execute(statement)).mappings()]


async def save(
    connection: Connection, changed: Iterable[tuple[ShareIncident, ShareIncident]]
) -> None:
    """Write what became of incidents, each given as it was read and as it is now.

    An incident that its member has reported since is left as it is. This never waits for a report.
    """
    for before, after in changed:
        held = share_incidents.alias()
        unchanged = (
            select(held.c.id)
            .where(
                held.c.id == before.id,
                held.c.life == before.life,
                held.c.is_named == before.is_named,
                held.c.resolved_at.is_(None),
            )
            .with_for_update(skip_locked=True)
        )
        await connection.execute(
            update(share_incidents)
            .where(share_incidents.c.id == unchanged.scalar_subquery())
            .values(
                outcome=after.outcome, resolved_at=after.resolved_at, resolution=after.resolution
            )
        )


async def list_newest(
    connection: Connection, *, chosen: IncidentFilter, before: int | None, limit: int
) -> list[ShareIncident]:
    """List incidents, the newest first, from the first one older than `before`."""
    columns = share_incidents.c
    statement = (
        select(share_incidents).where(*_conditions(chosen)).order_by(columns.id.desc()).limit(limit)
    )
    if before is not None:
        statement = statement.where(columns.id < before)
    return [_incident(row) for row in (await connection.execute(statement)).mappings()]


async def count(connection: Connection, *, chosen: IncidentFilter) -> int:
    """Count incidents."""
    statement = select(func.count()).select_from(share_incidents).where(*_conditions(chosen))
    return int(await connection.scalar(statement) or 0)


async def count_resolved(connection: Connection, *, before: datetime) -> int:
    """Count the incidents that ended before an instant."""
    ended = share_incidents.c.resolved_at < before
    statement = select(func.count()).select_from(share_incidents).where(ended)
    return int(await connection.scalar(statement) or 0)


async def remove_resolved(connection: Connection, *, before: datetime, limit: int) -> int:
    """Remove incidents that ended before an instant; return their number."""
    columns = share_incidents.c
    oldest = select(columns.id).where(columns.resolved_at < before).limit(limit)
    removed = await connection.execute(delete(share_incidents).where(columns.id.in_(oldest)))
    return removed.rowcount


def _conditions(chosen: IncidentFilter) -> list[ColumnElement[bool]]:
    columns = share_incidents.c
    conditions = reached(chosen.within, columns.cluster_name)
    for name in ("cluster_name", "broker_group_name"):
        if (wanted := getattr(chosen, name)) is not None:
            conditions.append(columns[name] == wanted)
    for name in ("topic", "queue_id", "consumer_group_name"):
        if (wanted := getattr(chosen, name)) is not None:
            conditions.append(or_(columns[name].is_(None), columns[name] == wanted))
    if chosen.is_open is not None:
        ended = columns.resolved_at
        conditions.append(ended.is_(None) if chosen.is_open else ended.is_not(None))
    return conditions


def _incident(row: Mapping[Any, Any]) -> ShareIncident:
    outcome, resolution = row["outcome"], row["resolution"]
    return ShareIncident(
        **{
            **row,
            "kind": IncidentKind(row["kind"]),
            "outcome": None if outcome is None else IncidentOutcome(outcome),
            "resolution": None if resolution is None else IncidentResolution(resolution),
        }
    )
