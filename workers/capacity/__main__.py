"""Run the capacity report: `python -m workers.capacity --files FILES --output DIR`.

A separate process, so that no worker holds a JVM. The files are a JSON object with a list of
absolute paths for `broker_samples` and one for `topic_samples`. The exit code is 0, or 1 with the
reason as the last line of standard error.
"""

import argparse
import ctypes
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Final

from workers.capacity.job import InputMissing, ReportInput, run_job
from workers.capacity.session import spark_session

SHORT_JOB_BYTES: Final = 64 << 20
"""Spark reads Parquet files of this total size within seconds."""
_PR_SET_PDEATHSIG: Final = 1


def main() -> int:
    """Parse the arguments, run the job and print the reason of a failure."""
    parser = argparse.ArgumentParser(prog="python -m workers.capacity", description=__doc__)
    parser.add_argument("--files", type=Path, required=True, help="JSON list of the input files")
    parser.add_argument("--output", type=Path, required=True, help="directory of the results")
    parser.add_argument("--master", default="local[*]", help="Spark master (default: %(default)s)")
    parser.add_argument("--memory", default="1g", help="JVM heap (default: %(default)s)")
    parser.add_argument("--deadline-s", type=int, default=0, help="give up after; 0 is never")
    parser.add_argument("--parent-pid", type=int, help="end with this process, which started us")
    arguments = parser.parse_args()
    # After any end of this process the JVM ends too: it stops when its standard input closes.
    signal.alarm(arguments.deadline_s)
    output_dir = arguments.output.absolute()
    if arguments.parent_pid is not None and not _dies_with(arguments.parent_pid):
        return 1
    try:
        # Before the start of Spark, which takes seconds.
        files = ReportInput.read(arguments.files)
        with (
            tempfile.TemporaryDirectory(prefix="regent-capacity-") as work_dir,
            spark_session(
                master=arguments.master,
                memory=arguments.memory,
                work_dir=Path(work_dir),
                is_short=files.size_bytes < SHORT_JOB_BYTES,
            ) as spark,
        ):
            run_job(spark, files, output_dir)
    except (InputMissing, OSError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - the caller shows it
        return 1
    return 0


def _dies_with(parent_pid: int) -> bool:
    """Have the kernel kill this process when its parent dies; return whether that still lives."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent_pid


if __name__ == "__main__":
    sys.exit(main())
