"""Compute how fast each broker's store grows, and when its disk is full at that rate.

The growth is the slope of a least-squares line through the store's size at the end of each hour.
Without enough history or without growth there is no date, and the note gives the reason (D21). A
broker that was not seen for a day has no date either. A broker has one row, from its history in all
roles (D31).
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workers.capacity.schemas import BROKER

DAY_MICROSECONDS: Final = 86_400_000_000
HISTORY_DAYS_MIN: Final = 1.0
"""A shorter history than a day gives no growth per day."""
HISTORY_DAYS_SURE: Final = 14.0
"""A shorter history contains no weekly pattern twice: its date has a warning."""
SILENCE_DAYS: Final = 1.0
"""A broker that is further behind the newest sample is shown as last seen at that time, without a
date."""
SAME_DISK_SHARE: Final = 0.001
"""If the free space of two disks of one size differs by less, they may be the same disk."""


def disks(broker_samples: DataFrame) -> DataFrame:
    """Return each broker's disk with its growth per day and the days until it is full."""
    newest = broker_samples.agg(F.max("observed_at").alias("newest_at")).select("newest_at")
    state = latest_states(broker_samples)
    frame = (
        state.join(growths(broker_samples), on=list(BROKER), how="inner")
        .join(possibly_shared(state), on=list(BROKER), how="left")
        .crossJoin(newest)
    )
    return frame.select(
        "cluster_name",
        "broker_name",
        F.col("own_id").alias("broker_id"),
        "disk_total_bytes",
        "disk_free_bytes",
        _bytes_per_day().alias("bytes_per_day"),
        _days_until_full().alias("days_until_full"),
        _note().alias("note"),
    )


def latest_states(broker_samples: DataFrame) -> DataFrame:
    """Return each broker's newest sizes, their time, and the length of its history."""
    return (
        broker_samples.groupBy(*BROKER)
        .agg(
            F.max_by("disk_total_bytes", "observed_at").alias("disk_total_bytes"),
            F.max_by("disk_free_bytes", "observed_at").alias("disk_free_bytes"),
            F.min("observed_at").alias("first_at"),
            F.max("observed_at").alias("last_at"),
        )
        .select(
            *BROKER,
            "disk_total_bytes",
            "disk_free_bytes",
            "last_at",
            _days_between("first_at", "last_at").alias("history_days"),
        )
    )


def growths(broker_samples: DataFrame) -> DataFrame:
    """Return the slope of each broker's store size in bytes per day; null for a single hour."""
    hour = F.date_trunc("hour", "observed_at")
    hours = (
        broker_samples.groupBy(*BROKER, hour.alias("hour"))
        .agg(
            F.max_by("store_bytes", "observed_at").alias("store_bytes"),
            F.max("observed_at").alias("observed_at"),
        )
        .select(*BROKER, "store_bytes", "observed_at")
    )
    # Relative to the broker's first hour: the square of microseconds since 1970 loses precision.
    first = hours.groupBy(*BROKER).agg(F.min("observed_at").alias("first_at"))
    return (
        hours.join(first.select(*BROKER, "first_at"), on=list(BROKER), how="inner")
        .groupBy(*BROKER)
        .agg(
            F.regr_slope("store_bytes", _days_between("first_at", "observed_at")).alias("slope"),
        )
        # Whole bytes, so that the order of the partial sums has no effect.
        .select(*BROKER, F.round("slope", 0).alias("slope"))
    )


def possibly_shared(states: DataFrame) -> DataFrame:
    """Return the brokers that report a disk of the same size and free space as another."""
    other = states.select(
        F.col("cluster_name").alias("other_cluster_name"),
        F.col("broker_name").alias("other_broker_name"),
        F.col("own_id").alias("other_own_id"),
        F.col("disk_total_bytes").alias("other_total_bytes"),
        F.col("disk_free_bytes").alias("other_free_bytes"),
    )
    is_other = (
        (F.col("cluster_name") != F.col("other_cluster_name"))
        | (F.col("broker_name") != F.col("other_broker_name"))
        | (F.col("own_id") != F.col("other_own_id"))
    )
    difference = F.abs(F.col("disk_free_bytes") - F.col("other_free_bytes"))
    looks_alike = (F.col("disk_total_bytes") == F.col("other_total_bytes")) & (
        difference <= F.col("disk_total_bytes") * SAME_DISK_SHARE
    )
    return (
        states.join(other, on=looks_alike & is_other, how="left_semi")
        .withColumn("is_possibly_shared", F.lit(True))  # noqa: FBT003 - a column of one value
        .select(*BROKER, "is_possibly_shared")
    )


def _is_enough() -> Column:
    return F.col("slope").isNotNull() & (F.col("history_days") >= HISTORY_DAYS_MIN)


def _bytes_per_day() -> Column:
    return F.when(_is_enough(), F.col("slope"))


def _days_until_full() -> Column:
    return (
        F.when(_silence_days() > SILENCE_DAYS, F.lit(None))
        .when(F.col("disk_free_bytes") <= 0, F.lit(0.0))
        .when(
            _is_enough() & (F.col("slope") > 0),
            F.round(F.col("disk_free_bytes") / F.nullif("slope", F.lit(0.0)), 2),
        )
        .otherwise(F.lit(None))
    )


def _note() -> Column:
    history = F.format_number("history_days", 1)
    too_little = F.concat(F.lit("too little history: "), history, F.lit(" days, at least 1 needed"))
    unsure = F.concat(F.lit("warning: extrapolated from "), history, F.lit(" days, under 2 weeks"))
    silence = _silence_days()
    notes = F.concat_ws(
        "; ",
        F.when(F.col("disk_free_bytes") <= 0, F.lit("the disk is full")),
        F.when(~_is_enough(), too_little)
        .when(F.col("slope") <= 0, F.concat(F.lit("no growth in "), history, F.lit(" days")))
        .when(F.col("history_days") < HISTORY_DAYS_SURE, unsure),
        F.when(
            F.col("is_possibly_shared"),
            F.lit("a broker beside it reports the same disk: if shared, it fills sooner"),
        ),
        F.when(
            silence > SILENCE_DAYS,
            F.concat(F.lit("last seen "), F.format_number(silence, 1), F.lit(" days before")),
        ),
    )
    return F.nullif(notes, F.lit(""))


def _silence_days() -> Column:
    return _days_between("last_at", "newest_at")


def _days_between(first: str, last: str) -> Column:
    return (F.unix_micros(last) - F.unix_micros(first)) / F.lit(DAY_MICROSECONDS)
