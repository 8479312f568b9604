"""Turn counters that only ever grow until a restart into bytes a day by topic and broker.

A counter starts at zero when its broker boots. So after a restart the counter itself is what has
been written since, and a topic that a broker reports for the first time has written its whole
counter since that broker's sample before. The very first sample of a broker tells nothing: what it
counts was written before the history began (D21). A replica counts what it copies as well, so
counters are followed by broker, not by role: a new master's has long been counted.
A topic's day on a broker is one sum, whatever roles the broker had (D31).
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own guide gives it

from workers.capacity.schemas import BROKER

DAY_MICROSECONDS: Final = 86_400_000_000
WHOLE_DAY_SHARE: Final = 0.99
"""A day with this share of it observed counts as a whole one."""
BEFORE: Final = {
    "sampled_before": "observed_at",
    "reported_before": "reported_at",
    "booted_before": "booted_at",
}
"""What a step needs of the sample before it."""


def counter_steps(topic_samples: DataFrame, broker_samples: DataFrame) -> DataFrame:
    """Return what each sample adds to its topic, and since when: one row a sample that adds."""
    before = Window.partitionBy(*BROKER, "topic_name").orderBy("observed_at").rowsBetween(-1, -1)
    is_other_process = F.col("booted_at") != F.col("booted_before")
    # A boot and the report before it are of one clock. Who booted earlier is another broker, in a
    # role whose samples do not tell them apart: its counter is as old as it is.
    is_restart = is_other_process & (F.col("booted_at") > F.col("reported_before"))
    is_reset = is_restart | (F.col("bytes_in") < F.col("bytes_before"))
    # Nothing was counted before the boot; its instant is the broker's clock, so it is held
    # between the two samples.
    since_boot = F.greatest("sampled_before", F.least("booted_at", "observed_at"))
    frame = topic_samples.join(
        _broker_steps(broker_samples), on=[*BROKER, "observed_at"], how="left"
    ).withColumn("bytes_before", F.first("bytes_in").over(before))
    for name, column in BEFORE.items():
        # A topic that is new has the broker's sample before.
        known = F.coalesce(F.first(column).over(before), F.col(f"broker_{name}"))
        frame = frame.withColumn(name, known)
    return frame.where(
        F.col("sampled_before").isNotNull() & (~is_other_process | is_restart)
    ).select(
        *BROKER,
        "topic_name",
        F.when(is_restart, since_boot).otherwise(F.col("sampled_before")).alias("since"),
        F.col("observed_at").alias("until"),
        F.when(is_reset | F.col("bytes_before").isNull(), F.col("bytes_in"))
        .otherwise(F.col("bytes_in") - F.col("bytes_before"))
        .alias("bytes"),
        (is_reset & F.col("bytes_before").isNotNull()).cast("long").alias("reset_count"),
    )


def split_at_midnight(steps: DataFrame) -> DataFrame:
    """Return steps none of which crosses midnight UTC, the bytes shared out by time.

    The shares of a step add up to it exactly: each is the difference of two rounded running sums.
    """
    first, last = F.unix_micros("since"), F.unix_micros("until")
    day_start = F.unix_date("day") * DAY_MICROSECONDS
    day_end = day_start + DAY_MICROSECONDS
    is_instant = first == last
    return (
        steps.withColumn("day", F.explode(F.sequence(F.to_date("since"), F.to_date("until"))))
        .withColumn("start", F.greatest(day_start, first))
        .withColumn("end", F.least(day_end, last))
        .select(
            *BROKER,
            "topic_name",
            "day",
            F.when(is_instant, F.col("bytes"))
            .otherwise(_written_by("end", first, last) - _written_by("start", first, last))
            .alias("bytes"),
            (F.col("end") - F.col("start")).alias("observed_microseconds"),
            F.when(F.col("start") == first, F.col("reset_count"))
            .otherwise(F.lit(0))
            .alias("reset_count"),
        )
    )


def topic_days(topic_samples: DataFrame, broker_samples: DataFrame) -> DataFrame:
    """Return the bytes that each topic took in on each broker on each day (UTC).

    A note says when only a part of the day was observed, and when a restart lost what was written
    between the last sample before it and the stop.
    """
    steps = split_at_midnight(counter_steps(topic_samples, broker_samples))
    share = F.col("observed_microseconds") / F.lit(DAY_MICROSECONDS)
    partial_note = F.when(
        share < WHOLE_DAY_SHARE,
        F.concat(F.lit("covers "), F.format_number(share * 100, 1), F.lit(" % of the day")),
    )
    reset_note = F.when(
        F.col("reset_count") > 0,
        F.concat(F.lit("at least: counters began again "), F.col("reset_count"), F.lit(" times")),
    )
    return (
        steps.groupBy(*BROKER, "topic_name", "day")
        .agg(
            F.sum("bytes").alias("bytes"),
            F.sum("observed_microseconds").alias("observed_microseconds"),
            F.sum("reset_count").alias("reset_count"),
        )
        # A step that ends at midnight sharp has an empty part in the day that begins there.
        .where((F.col("observed_microseconds") > 0) | (F.col("bytes") > 0))
        .select(
            "cluster_name",
            "broker_name",
            F.col("own_id").alias("broker_id"),
            "topic_name",
            "day",
            "bytes",
            F.nullif(F.concat_ws("; ", partial_note, reset_note), F.lit("")).alias("note"),
        )
    )


def _broker_steps(broker_samples: DataFrame) -> DataFrame:
    before = Window.partitionBy(*BROKER).orderBy("observed_at").rowsBetween(-1, -1)
    return broker_samples.select(
        *BROKER,
        "observed_at",
        *(F.first(column).over(before).alias(f"broker_{name}") for name, column in BEFORE.items()),
    )


def _written_by(instant: str, first: Column, last: Column) -> Column:
    """Say how much of a step was written by an instant in it, at an even pace."""
    return F.floor(F.col("bytes") * ((F.col(instant) - first) / (last - first)))
