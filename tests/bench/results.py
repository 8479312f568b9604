"""Keep what a run measured, so that later runs can be compared with it."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.bench.measure import Measure

RESULTS = Path(__file__).with_name("results")


def keep(measures: Sequence[Measure], started_at: datetime, **more: Any) -> Path:
    """Write a run to a file of its own, with whatever else it wants to keep, and name it."""
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
