"""Read the named files, compute the report, and write the results atomically to a directory."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from workers.capacity.coverage import coverage
from workers.capacity.report import report_rows
from workers.capacity.schemas import BROKER_SAMPLES, TOPIC_SAMPLES

RESULT_JSON: Final = "report.json"
RESULT_PARQUET: Final = "rows.parquet"


class InputMissing(Exception):
    """A file of the manifest does not exist: a report without it would be wrong."""

    def __init__(self, missing: Sequence[str]) -> None:
        super().__init__(
            f"{len(missing)} files of the history are missing, the first is {missing[0]}"
        )


@dataclass(frozen=True, slots=True)
class ReportInput:
    """The files to read, by absolute path."""

    broker_samples: tuple[str, ...]
    topic_samples: tuple[str, ...]

    @property
    def file_count(self) -> int:
        """Count the files of both data sets."""
        return len(self.broker_samples) + len(self.topic_samples)

    @property
    def size_bytes(self) -> int:
        """Sum the sizes of the files."""
        return sum(
            Path(name).stat().st_size for name in (*self.broker_samples, *self.topic_samples)
        )

    @classmethod
    def read(cls, path: Path) -> "ReportInput":
        """Read the list of files that the caller made from the manifest.

        Raises:
            InputMissing: a file is not on the disk.
        """
        content = json.loads(path.read_text())
        named = [*content["broker_samples"], *content["topic_samples"]]
        missing = [name for name in named if not Path(name).is_file()]
        if missing:
            raise InputMissing(missing)
        return cls(
            broker_samples=tuple(content["broker_samples"]),
            topic_samples=tuple(content["topic_samples"]),
        )


def run_job(spark: SparkSession, files: ReportInput, output_dir: Path) -> None:
    """Write the report as JSON and Parquet into a directory that appears atomically."""
    broker_samples = read_frame(spark, files.broker_samples, BROKER_SAMPLES).cache()
    rows = report_rows(broker_samples, read_frame(spark, files.topic_samples, TOPIC_SAMPLES))
    partial = output_dir.with_name(f".{output_dir.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    rows.coalesce(1).write.parquet(str(partial / RESULT_PARQUET))
    # Both forms are equal: the second is made from the first.
    stored = spark.read.schema(rows.schema).parquet(str(partial / RESULT_PARQUET))
    result = {
        "coverage": _coverage(coverage(broker_samples).first(), file_count=files.file_count),
        "rows": [_row(row) for row in stored.collect()],
    }
    text = json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False)
    (partial / RESULT_JSON).write_text(text + "\n")
    shutil.rmtree(output_dir, ignore_errors=True)
    partial.rename(output_dir)


def read_frame(spark: SparkSession, paths: Sequence[str], schema: StructType) -> DataFrame:
    """Read exactly the named files; without any, return an empty frame with the same columns.

    Earlier samples without an own id have the id of the role instead: the same for replicas, and
    for brokers without a controller.
    """
    if not paths:
        return spark.createDataFrame([], schema)
    own_id = F.coalesce("own_id", "broker_id")
    return spark.read.schema(schema).parquet(*paths).withColumn("own_id", own_id)


def _coverage(row: Row | None, *, file_count: int) -> Mapping[str, Any]:
    assert row is not None, "an aggregate without groups has one row"
    return {
        "from": _instant(row["first_at"]),
        "to": _instant(row["last_at"]),
        "sample_count": row["sample_count"],
        "broker_count": row["broker_count"],
        "gap_count": row["gap_count"],
        "gap_seconds": row["gap_seconds"],
        "file_count": file_count,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in row.asDict().items()
    }


def _instant(value: datetime | None) -> str | None:
    # Spark returns times as naive values in this machine's zone.
    return None if value is None else value.astimezone(UTC).isoformat()
