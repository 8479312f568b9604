"""Store the runs of periodic tasks, so that the work of a slot is done once.

A slot is the number of whole intervals since 1970. One statement takes it, by the clock of
Postgres, so that the clocks of two workers are never compared. If the deadline of a run is more
than a minute after that of a new run, the clock was set back. Then the old run blocks no other.
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
    """Hold the last run of a periodic task; without an end it is running, or was lost.

    A failed or lost run is repeated with the instant of its first attempt. So a task whose runs
    never end shows since when.
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
    """Take the present slot of a task; None if it is done, or another run is still working."""
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
    """Record the end of a run; return False if it was treated as lost meanwhile."""
    columns = maintenance_runs.c
    ended = await connection.execute(
        update(maintenance_runs)
        .where(columns.task_name == task_name, columns.run_id == run_id)
        .values(ended_at=at, outcome=dict(outcome))
    )
    return ended.rowcount == 1


async def drop_run(connection: Connection, task_name: str, *, run_id: UUID) -> None:
    """Return the slot of a failed run, so that the next attempt need not wait until it is lost."""
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
