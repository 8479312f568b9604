"""Run the Spark job of a report in a separate process, so that no worker ever holds a JVM.

The process gets no setting of ours, and so no secret: it reads the files it is given (D25).
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import backend

ROOT: Final = Path(backend.__file__).parents[1]
PASSED_VARIABLES: Final = ("PATH", "HOME", "LANG", "TMPDIR", "JAVA_HOME", "SPARK_HOME")
LOG_TAIL_BYTES: Final = 16_384
DRIVER_MARGIN_S: Final = 5
"""The driver's own alarm rings this much later than the deadline, in case its parent has died."""


class ReportJobFailed(Exception):
    """The job ended without a result; the reason is one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Name the files that a report is made from, by absolute path."""

    broker_samples: Sequence[Path]
    topic_samples: Sequence[Path]

    def to_json(self) -> str:
        """Write the lists in the form that the job reads."""
        lists: Mapping[str, Sequence[Path]] = {
            "broker_samples": self.broker_samples,
            "topic_samples": self.topic_samples,
        }
        return json.dumps({name: [str(path) for path in paths] for name, paths in lists.items()})


class SparkReportJob:
    """Start Spark drivers, one process each."""

    def __init__(self, *, deadline: timedelta, master: str = "local[*]") -> None:
        self._deadline_s = deadline.total_seconds()
        self._master = master

    async def run(self, files: ReportFiles, output_dir: Path) -> None:
        """Make a report from the files into a directory; what it says goes to a log beside it.

        Raises:
            ReportJobFailed: Java or Spark is missing, the job failed, or it took too long.
        """
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            raise ReportJobFailed("Java is not installed: Spark needs a Java 17 runtime")
        files_path = output_dir.with_name(f"{output_dir.name}.files.json")
        log_path = output_dir.with_name(f"{output_dir.name}.log")
        await asyncio.to_thread(_write, files_path, files.to_json())
        try:
            status = await self._run(files_path, output_dir, log_path)
        except TimeoutError as error:
            raise ReportJobFailed(f"no result within {self._deadline_s:g} s") from error
        if status != 0:
            reason = await asyncio.to_thread(_reason, log_path)
            raise ReportJobFailed(f"{reason} (see {log_path})")

    async def _run(self, files_path: Path, output_dir: Path, log_path: Path) -> int:
        with log_path.open("wb") as log_file:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "workers.capacity"),
                *("--files", str(files_path), "--output", str(output_dir)),
                *("--master", self._master),
                *("--deadline-s", str(int(self._deadline_s) + DRIVER_MARGIN_S)),
                # Its session is its own, so that nothing else ends it when this worker is killed.
                *("--parent-pid", str(os.getpid())),
                cwd=ROOT,
                env=_environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(self._deadline_s):
                    return await process.wait()
            finally:
                # The driver's group is its own: this ends the JVM with it.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()


def _environment() -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
    return {**passed, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _reason(log_path: Path) -> str:
    """Return the line of a log that most likely says why: the last one, or the last error."""
    with log_path.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - LOG_TAIL_BYTES))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines()]
    texts = [line for line in lines if line]
    errors = [line for line in texts if "Error" in line or "Exception" in line]
    return (errors or texts or ["the job ended without a word"])[-1]
