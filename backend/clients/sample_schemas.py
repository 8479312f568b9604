"""Say which columns the Parquet files of samples have.

The Spark job reads these columns by these names and types (`workers/capacity/schemas.py`). A column
that an older file lacks reads as null.
"""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

_INSTANT: Final = pa.timestamp("us", tz="UTC")

_BROKER_COLUMNS: Final[list[tuple[str, pa.DataType]]] = [
    ("cluster_name", pa.string()),
    ("broker_name", pa.string()),
    ("broker_id", pa.int64()),
    ("own_id", pa.int64()),
    ("observed_at", _INSTANT),
    ("reported_at", _INSTANT),
    ("booted_at", _INSTANT),
]

SCHEMAS: Final[Mapping[str, pa.Schema]] = {
    "broker_samples": pa.schema(
        [
            *_BROKER_COLUMNS,
            ("messages_in", pa.int64()),
            ("bytes_in", pa.int64()),
            ("messages_out", pa.int64()),
            ("bytes_out", pa.int64()),
            ("messages_in_per_second", pa.float64()),
            ("bytes_in_per_second", pa.float64()),
            ("messages_out_per_second", pa.float64()),
            ("bytes_out_per_second", pa.float64()),
            ("commit_log_min_position", pa.int64()),
            ("commit_log_max_position", pa.int64()),
            ("flushed_position", pa.int64()),
            ("store_bytes", pa.int64()),
            ("disk_total_bytes", pa.int64()),
            ("disk_free_bytes", pa.int64()),
            ("resident_bytes", pa.int64()),
            ("cpu_seconds", pa.float64()),
        ]
    ),
    "topic_samples": pa.schema(
        [
            *_BROKER_COLUMNS,
            ("topic_name", pa.string()),
            ("messages_in", pa.int64()),
            ("bytes_in", pa.int64()),
            ("messages_in_per_second", pa.float64()),
            ("bytes_in_per_second", pa.float64()),
            (
                "queues",
                pa.list_(
                    pa.struct(
                        [
                            ("queue_id", pa.int32()),
                            ("min_offset", pa.int64()),
                            ("max_offset", pa.int64()),
                        ]
                    )
                ),
            ),
        ]
    ),
}
