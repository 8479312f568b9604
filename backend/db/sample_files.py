"""Store the manifest of the sample history: only Parquet files with a row here are valid (D25)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from backend.db.engine import Connection
from backend.db.tables import sample_files


@dataclass(frozen=True, slots=True)
class SampleFile:
    """Describe one Parquet file; the path is relative to the history's directory."""

    dataset: str
    cluster_name: str
    day: date
    path: str
    row_count: int
    size_bytes: int
    sampled_from: datetime
    sampled_to: datetime


async def add(connection: Connection, files: Sequence[SampleFile], *, at: datetime) -> int:
    """Record files, and return the number of new ones; recorded files do not change."""
    if not files:
        return 0
    rows = [{**asdict(file), "created_at": at} for file in files]
    statement = (
        insert(sample_files)
        .values(rows)
        .on_conflict_do_nothing(index_elements=["path"])
        .returning(sample_files.c.id)
    )
    return len((await connection.execute(statement)).all())


async def list_since(connection: Connection, day: date) -> list[SampleFile]:
    """Return the files of that day and later, by dataset and path."""
    columns = sample_files.c
    statement = (
        select(
            columns.dataset,
            columns.cluster_name,
            columns.day,
            columns.path,
            columns.row_count,
            columns.size_bytes,
            columns.sampled_from,
            columns.sampled_to,
        )
        .where(columns.day >= day)
        .order_by(columns.dataset, columns.path)
    )
    return [SampleFile(*row) for row in await connection.execute(statement)]
