"""Turn counters that grow until a restart into bytes per day by topic and broker.

A counter starts at zero when its broker starts. So after a restart the counter is the number of
bytes written since. If a broker reports a topic for the first time, the whole counter was written
since that broker's last sample. The first sample of a broker adds nothing: its counters are from
before the history (D21). A replica also counts copied data, so counters are followed by broker, not
by role: a new master's counters are not new. A topic's day on a broker is one sum, across all roles
of the broker (D31).
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own guide gives it

from workers.capacity.schemas import BROKER

DAY_MICROSECONDS: Final = 86_400_000_000
WHOLE_DAY_SHARE: Final = 0.99
"""A day with this observed share is treated as a whole day."""
BEFORE: Final = {
    "sampled_before": "observed_at",
    "reported_before": "reported_at",
    "booted_before": "booted_at",
}
"""The columns that a step needs of the sample before it."""


def counter_steps(topic_samples: DataFrame, broker_samples: DataFrame) -> DataFrame:
    """Return the bytes and the time span that each sample adds to its topic."""
    before = Window.partitionBy(*BROKER, "topic_name").orderBy("observed_at").rowsBetween(-1, -1)
    is_other_process = F.col("booted_at") != F.col("booted_before")
    # A start and the report before it use one clock. A broker that started earlier is another
    # broker, in a role whose samples do not distinguish both: its counter is as old as the broker.
    is_restart = is_other_process & (F.col("booted_at") > F.col("reported_before"))
    is_reset = is_restart | (F.col("bytes_in") < F.col("bytes_before"))
    # Nothing was counted before the start. Its time is of the broker's clock, so it is limited to
    # the time between the two samples.
    since_boot = F.greatest("sampled_before", F.least("booted_at", "observed_at"))
    frame = topic_samples.join(
        _broker_steps(broker_samples), on=[*BROKER, "observed_at"], how="left"
    ).withColumn("bytes_before", F.first("bytes_in").over(before))
    for name, column in BEFORE.items():
        # For a new topic, the previous sample is the broker's.
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
    """Return steps that do not cross midnight UTC; the bytes are divided by time.

    The parts of a step add up exactly: each is the difference of two rounded running sums.
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
    """Return the bytes that each topic received on each broker on each day (UTC).

    A note says if only a part of the day was observed. It also says if a restart lost the data
    between the last sample and the stop.
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
        # A step that ends exactly at midnight has an empty part in the next day.
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
    """Return how much of a step was written before a time in it, at a constant rate."""
    return F.floor(F.col("bytes") * ((F.col(instant) - first) / (last - first)))
