"""Keep what a run measured, so that later runs can be compared with it."""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.bench.measure import Measure

RESULTS = Path(__file__).with_name("results")
ROOT = Path(__file__).resolve().parents[2]
FOR_PAGE = ROOT / "docs" / "measurements"


def keep(measures: Sequence[Measure], started_at: datetime, **more: Any) -> Path:
    """Write a run and more facts of it to a new file; return the path of the file."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{started_at:%Y-%m-%dT%H%M%SZ}.json"
    run = {
        "started_at": started_at.isoformat(),
        "machine": {
            "cpu_count": os.cpu_count(),
            "load_average": os.getloadavg(),
            "kernel": platform.release(),
            "python": platform.python_version(),
        },
        "measures": [{**asdict(measure), "holds": measure.holds} for measure in measures],
        **more,
    }
    path.write_text(json.dumps(run, indent=2) + "\n")
    return path


def keep_for_page(
    area: str, measures: Sequence[Measure], started_at: datetime, *, commit: str
) -> Path:
    """Write a run in the form that docs/measurements.md is made from."""
    path = FOR_PAGE / f"{area}-{started_at:%Y%m%dT%H%M}-{commit}.json"
    run = {
        "area": area,
        "machine": f"{cpu_model()}; Linux {platform.release()}",
        "note": "",
        "commit": commit,
        "started_at": started_at.isoformat(timespec="seconds"),
        "measures": [
            {
                "id": measure.id,
                "title": measure.title,
                "value": float(f"{measure.value:.4g}"),
                "unit": measure.unit,
                "limit": measure.floor if measure.ceiling is None else measure.ceiling,
                "target": measure.target,
                "verdict": measure.verdict,
                "facts": measure.facts,
            }
            for measure in measures
        ],
    }
    path.write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n")
    return path


def current_commit() -> str:
    """Name the commit that is checked out, and say whether files differ from it."""
    return subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip


def cpu_model() -> str:
    """Name the processor and how many of them there are."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if "model name" in line), "?")
    return f"{model}, {os.cpu_count()} cores"
