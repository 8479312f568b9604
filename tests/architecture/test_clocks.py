"""Ages are counted by a clock that is never set: few files may read the wall clock (case A9)."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
WALL_CLOCK = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "date.today"}
ALLOWED = {
    "backend/clients/clock.py": "the clock of the control plane",
    "workers/broker/server.py": "the clock of a broker agent",
    "backend/supervisor/cluster.py": "shows since when a local cluster runs",
    "backend/cli/messages.py": "asks for messages by the time at which they were stored",
    "backend/cli/store_rebuild.py": "names the folder of a former store",
}


def _wall_clock_readers():
    for folder in ("backend", "workers"):
        for path in (ROOT / folder).rglob("*.py"):
            source = path.read_text()
            # Nearly all files name none, and to write out each call of a file takes long.
            if not any(name in source for name in WALL_CLOCK):
                continue
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in WALL_CLOCK:
                    yield str(path.relative_to(ROOT))


def test_only_these_files_read_the_wall_clock():
    assert set(_wall_clock_readers()) == set(ALLOWED)
