"""Keep what Python compiles, in every process of a run of tests.

A process that may not keep it compiles each module again at its start: that is most of the
processor time of a start, and tests start hundreds of processes. `make` does the same.
pytest imports this plugin (`pyproject.toml`) before it imports tests.
"""

import os
import sys
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "build" / "pycache"

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
sys.pycache_prefix = os.environ.setdefault("PYTHONPYCACHEPREFIX", str(FOLDER))
