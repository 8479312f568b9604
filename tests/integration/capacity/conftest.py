"""One Spark driver for all tests of the report, and builders of its frames."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from backend.clients.sample_schemas import SCHEMAS
from workers.capacity.job import read_frame
from workers.capacity.schemas import BROKER_SAMPLES, TOPIC_SAMPLES
from workers.capacity.session import spark_session


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


BOOTED = at("2026-03-01T00:00:00")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    work_dir: Path = tmp_path_factory.mktemp("spark")
    with spark_session(
        master="local[2]", memory="512m", work_dir=work_dir, is_short=True
    ) as session:
        yield session


class Frames:
    """Build frames of samples from Parquet files, as the job does; a row is valid by default."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self._spark, self._directory = spark, directory

    def brokers(self, *rows: dict) -> DataFrame:
        sizes = {"store_bytes": 0, "disk_total_bytes": 1_000_000, "disk_free_bytes": 500_000}
        return self._frame("broker_samples", BROKER_SAMPLES, [{**sizes, **row} for row in rows])

    def topics(self, *rows: dict) -> DataFrame:
        values = {"topic_name": "orders", "bytes_in": 0}
        return self._frame("topic_samples", TOPIC_SAMPLES, [{**values, **row} for row in rows])

    def _frame(self, dataset, schema, rows) -> DataFrame:
        identity = {
            "cluster_name": "east",
            "broker_name": "broker-a",
            "broker_id": 0,
            "booted_at": BOOTED,
        }
        whole = [{**identity, "reported_at": row["observed_at"], **row} for row in rows]
        path = self._directory / f"{uuid4()}.parquet"
        pq.write_table(pa.Table.from_pylist(whole, schema=SCHEMAS[dataset]), path)
        return read_frame(self._spark, [str(path)], schema)


@pytest.fixture(scope="module")
def frames(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Frames:
    return Frames(spark, tmp_path_factory.mktemp("frames"))
