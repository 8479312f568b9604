"""Describe the history that a report uses, and its gaps."""

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from workers.capacity.schemas import BROKER

GAP_SECONDS: Final = 60
"""Samples are taken every few seconds; a longer silence is a gap."""


def coverage(broker_samples: DataFrame) -> DataFrame:
    """Return one row: first and last time, counts of samples and brokers, gaps and their sum."""
    before = Window.partitionBy(*BROKER).orderBy("observed_at").rowsBetween(-1, -1)
    seconds = (
        F.unix_micros("observed_at") - F.unix_micros(F.first("observed_at").over(before))
    ) / F.lit(1_000_000)
    return (
        broker_samples.select(
            F.struct(*BROKER).alias("broker"), "observed_at", seconds.alias("silence")
        )
        .agg(
            F.min("observed_at").alias("first_at"),
            F.max("observed_at").alias("last_at"),
            F.count(F.lit(1)).alias("sample_count"),
            F.count_distinct("broker").alias("broker_count"),
            F.count_if(F.col("silence") > GAP_SECONDS).alias("gap_count"),
            F.sum(F.when(F.col("silence") > GAP_SECONDS, F.col("silence"))).alias("gap_seconds"),
        )
        .select(
            "first_at",
            "last_at",
            "sample_count",
            "broker_count",
            "gap_count",
            F.round(F.coalesce("gap_seconds", F.lit(0.0)), 0).cast("long").alias("gap_seconds"),
        )
    )
