"""Name the columns that the report reads and writes.

The history has more columns; those that are not listed here are not read from the disk.
"""

from typing import Final

from pyspark.sql.types import (
    DateType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

BROKER: Final = ("cluster_name", "broker_name", "own_id")
"""The columns that identify a broker across failovers, which move the id 0 to another broker (D31).

Two clusters may have groups with the same name (D2). In the report the id is called `broker_id`.
"""

_IDENTITY: Final = [
    StructField("cluster_name", StringType()),
    StructField("broker_name", StringType()),
    StructField("broker_id", LongType()),
    StructField("own_id", LongType()),
    StructField("observed_at", TimestampType()),
    StructField("reported_at", TimestampType()),
    StructField("booted_at", TimestampType()),
]

BROKER_SAMPLES: Final = StructType(
    [
        *_IDENTITY,
        StructField("store_bytes", LongType()),
        StructField("disk_total_bytes", LongType()),
        StructField("disk_free_bytes", LongType()),
    ]
)

TOPIC_SAMPLES: Final = StructType(
    [
        *_IDENTITY,
        StructField("topic_name", StringType()),
        StructField("bytes_in", LongType()),
    ]
)

REPORT_ROWS: Final = StructType(
    [
        StructField("kind", StringType()),
        StructField("cluster_name", StringType()),
        StructField("broker_name", StringType()),
        StructField("broker_id", LongType()),
        StructField("topic_name", StringType()),
        StructField("day", DateType()),
        StructField("bytes", LongType()),
        StructField("disk_total_bytes", LongType()),
        StructField("disk_free_bytes", LongType()),
        StructField("bytes_per_day", DoubleType()),
        StructField("days_until_full", DoubleType()),
        StructField("note", StringType()),
    ]
)
