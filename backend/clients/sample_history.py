"""Write samples as Parquet files, partitioned by cluster and day.

A file appears whole or not at all: it is written beside its place, synced and renamed, and the
directory is synced. Its rows count only once the manifest in Postgres names it (D25).
"""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from backend.durable_files import sync_directory


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """Describe a file that is safely on the disk; the path is relative to the history."""

    path: str
    row_count: int
    size_bytes: int
    sampled_from: datetime
    sampled_to: datetime


class SampleHistory:
    """Hold the directory of the Parquet history."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def absolute(self, path: str) -> Path:
        """Return where a file of the manifest lies on this machine."""
        return self._directory / path

    def write(
        self,
        dataset: str,
        rows: Sequence[Mapping[str, Any]],
        *,
        cluster_name: str,
        day: date,
        name: str,
    ) -> WrittenFile:
        """Write one file of a cluster's day; writing the same name again replaces it whole.

        Blocks on the disk. The rows are at least one and carry every column of the dataset.

        Raises:
            OSError: the disk is full or not writable; nothing is left behind in the name's place.
        """
        partition = Path(dataset, f"cluster={_folder_name(cluster_name)}", f"day={day}")
        target = self._directory / partition / f"{name}.parquet"
        target.parent.mkdir(parents=True, exist_ok=True)
        # Parquet's libraries take a fifth of a second to load; a worker needs them once a minute.
        from pyarrow import Table  # noqa: PLC0415
        from pyarrow.parquet import write_table  # noqa: PLC0415

        from backend.clients.sample_schemas import SCHEMAS  # noqa: PLC0415

        table = Table.from_pylist(list(rows), schema=SCHEMAS[dataset])
        temporary = target.with_name(f".{name}.partial")
        try:
            with temporary.open("wb") as file:
                write_table(table, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())
                size_bytes = file.tell()
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_directories(target.parent, self._directory)
        instants = [row["observed_at"] for row in rows]
        return WrittenFile(
            path=str(partition / target.name),
            row_count=len(rows),
            size_bytes=size_bytes,
            sampled_from=min(instants),
            sampled_to=max(instants),
        )

    def remove_days(self, before: date) -> int:
        """Remove the days before one, whole; return how many partitions that were.

        Blocks on the disk. None of their files may stand in the manifest any more. What a run that
        was cut off has left goes with the next.

        Raises:
            OSError: a file can't be removed.
        """
        removed = 0
        for partition in sorted(self._directory.glob(f"*/cluster=*/{_DAY}*")):
            if _day_of(partition) < before:
                shutil.rmtree(partition)
                removed += 1
        return removed


_DAY: Final = "day="
_QUOTED_MAX: Final = 200


def _folder_name(cluster_name: str) -> str:
    """Return a name that a file system takes, which is shorter than the longest one quoted."""
    quoted = quote(cluster_name, safe="")
    if len(quoted) <= _QUOTED_MAX:
        return quoted
    # No cluster's name may have this sign.
    return "~" + hashlib.sha256(cluster_name.encode()).hexdigest()


def _day_of(partition: Path) -> date:
    try:
        return date.fromisoformat(partition.name.removeprefix(_DAY))
    except ValueError:
        # Not ours, so it stays.
        return date.max


def instant(milliseconds: int) -> datetime:
    """Return the instant of a number of milliseconds since 1970."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _sync_directories(innermost: Path, outermost: Path) -> None:
    """Make the entries of new directories durable, from the file's own up to the history's."""
    for directory in (innermost, *innermost.parents):
        sync_directory(directory)
        if directory == outermost:
            return
