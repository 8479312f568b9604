"""Combine disks and topics' days into the one table of a report."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workers.capacity.disks import disks
from workers.capacity.schemas import REPORT_ROWS
from workers.capacity.topic_days import topic_days


def report_rows(broker_samples: DataFrame, topic_samples: DataFrame) -> DataFrame:
    """Return the report: disks first, the soonest full on top, then days, the newest on top."""
    disk_rows = _with_report_columns(disks(broker_samples).withColumn("kind", F.lit("disk")))
    day_rows = _with_report_columns(
        topic_days(topic_samples, broker_samples).withColumn("kind", F.lit("topic_day"))
    )
    return (
        disk_rows.unionByName(day_rows)
        .orderBy(
            F.col("kind").asc(),
            F.col("days_until_full").asc_nulls_last(),
            F.col("day").desc_nulls_last(),
            F.col("bytes").desc_nulls_last(),
            "cluster_name",
            "broker_name",
            "broker_id",
            "topic_name",
        )
        .select(*REPORT_ROWS.fieldNames())
    )


def _with_report_columns(frame: DataFrame) -> DataFrame:
    """Return the frame with exactly the report's columns; missing ones are null."""
    present = set(frame.columns)
    return frame.select(
        *(
            (F.col(field.name) if field.name in present else F.lit(None))
            .cast(field.dataType)
            .alias(field.name)
            for field in REPORT_ROWS.fields
        )
    )
