"""Start a small Spark driver on this machine, without its usual log."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

LOOPBACK: Final = "127.0.0.1"
# A short job ends before the second compiler is worth its cost: half of the processor time.
SHORT_JOB_OPTIONS: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")


@contextmanager
def spark_session(
    *, master: str, memory: str, work_dir: Path, is_short: bool
) -> Iterator[SparkSession]:
    """Run a driver for the duration of the block; its scratch files are in `work_dir`."""
    options = f"-Dlog4j.configurationFile={LOG_SETTINGS}"
    if is_short:
        options = f"{options} {SHORT_JOB_OPTIONS}"
    os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    session = (
        SparkSession.builder.master(master)
        .appName("regent-capacity")
        .config("spark.driver.memory", memory)
        .config("spark.driver.host", LOOPBACK)
        .config("spark.driver.bindAddress", LOOPBACK)
        .config("spark.driver.extraJavaOptions", options)
        .config("spark.local.dir", str(work_dir / "scratch"))
        .config("spark.sql.warehouse.dir", str(work_dir / "warehouse"))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        # Fewer than Spark's 200, each of which costs a task: the history of a cluster is small.
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()
