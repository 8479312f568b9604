"""Keep whose turn a slot of a periodic task is, so that a slot is worked off once.

A slot is the number of whole intervals since 1970. One statement takes it, by the clock of
Postgres, so that the clocks of two workers never meet. A run that is to end more than a
minute behind one that begins now was begun before that clock was set back, and holds nobody up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import select, text, update

from backend.db.engine import Connection
from backend.db.maintenance_tables import maintenance_runs

_TAKE = text("""
INSERT INTO maintenance_runs AS held (
    task_name, slot, interval_ms, run_id, began_at, lost_at, ended_at, outcome)
SELECT CAST(:task_name AS text), floor(extract(epoch FROM now_.at) * 1000 / :interval_ms),
       :interval_ms, CAST(:run_id AS uuid), now_.at,
       now_.at + make_interval(secs => :patience_ms / 1000.0), NULL, NULL
  FROM (SELECT clock_timestamp() AS at) AS now_
    ON CONFLICT (task_name) DO UPDATE
   SET slot = EXCLUDED.slot, interval_ms = EXCLUDED.interval_ms, run_id = EXCLUDED.run_id,
       began_at = CASE WHEN held.ended_at IS NULL THEN held.began_at ELSE EXCLUDED.began_at END,
       lost_at = EXCLUDED.lost_at, ended_at = NULL, outcome = NULL
 WHERE held.lost_at > EXCLUDED.lost_at + interval '1 minute'
    OR CASE WHEN held.ended_at IS NULL THEN held.lost_at <= EXCLUDED.began_at
            ELSE held.slot < EXCLUDED.slot OR held.interval_ms <> EXCLUDED.interval_ms END
RETURNING slot
""")


@dataclass(frozen=True, slots=True)
class MaintenanceRun:
    """Hold the last run of a periodic task; without an end it is at work, or was lost.

    What failed or was lost is begun again under the instant of its first attempt, so that a task
    none of whose runs ends shows since when that is so.
    """

    task_name: str
    interval: timedelta
    began_at: datetime
    lost_at: datetime
    ended_at: datetime | None
    outcome: Mapping[str, Any] | None


async def take_slot(
    connection: Connection,
    task_name: str,
    *,
    interval: timedelta,
    patience: timedelta,
    run_id: UUID,
) -> int | None:
    """Take the present slot of a task; None when it is worked off, or another is still at work."""
    values = {
        "task_name": task_name,
        "interval_ms": interval // timedelta(milliseconds=1),
        "patience_ms": patience // timedelta(milliseconds=1),
        "run_id": run_id,
    }
    slot = (await connection.execute(_TAKE, values)).scalar()
    return None if slot is None else int(slot)


async def end_run(
    connection: Connection,
    task_name: str,
    *,
    run_id: UUID,
    outcome: Mapping[str, Any],
    at: datetime,
) -> bool:
    """Note that a run has ended; tell whether nobody took it for lost meanwhile."""
    columns = maintenance_runs.c
    ended = await connection.execute(
        update(maintenance_runs)
        .where(columns.task_name == task_name, columns.run_id == run_id)
        .values(ended_at=at, outcome=dict(outcome))
    )
    return ended.rowcount == 1


async def drop_run(connection: Connection, task_name: str, *, run_id: UUID) -> None:
    """Give a slot back whose run has failed: the next try need not wait until it counts as lost."""
    columns = maintenance_runs.c
    await connection.execute(
        update(maintenance_runs)
        .where(columns.task_name == task_name, columns.run_id == run_id)
        .values(lost_at=columns.began_at)
    )


async def list_runs(connection: Connection) -> list[MaintenanceRun]:
    """List the last run of each periodic task by name."""
    columns = maintenance_runs.c
    statement = select(maintenance_runs).order_by(columns.task_name)
    names = [field.name for field in fields(MaintenanceRun) if field.name != "interval"]
    return [
        MaintenanceRun(
            interval=timedelta(milliseconds=row["interval_ms"]), **{n: row[n] for n in names}
        )
        for row in (await connection.execute(statement)).mappings()
    ]
