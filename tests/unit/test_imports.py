"""What a process loads at its start: packages that it may never need are loaded on demand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "REGENT_DATABASE_URL": "postgresql:///regent",
    "REGENT_REDIS_URL": "redis://localhost",
    "REGENT_HISTORY_DIR": "/history",
    "REGENT_REPORT_DIR": "/reports",
}


@pytest.mark.parametrize(
    ("module", "spared"),
    [
        ("backend.server", {"strawberry", "graphql", "pyarrow", "celery", "alembic"}),
        ("workers.tasks", {"pyarrow", "numpy", "fastapi", "strawberry", "alembic"}),
        ("workers.celery_app", {"sqlalchemy", "psycopg", "workers.tasks", "workers.runtime"}),
        ("backend.supervisor.cluster", {"alembic", "celery", "psycopg", "sqlalchemy"}),
        ("backend.cli.app", {"backend.supervisor", "celery", "fastapi", "sqlalchemy"}),
    ],
)
def test_a_process_loads_no_package_that_it_may_never_need(module: str, spared: set[str]):
    # Case C12: half of a start's CPU time went into such imports.
    program = f"import {module}, sys; print(*sys.modules)"

    loaded = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert spared & set(loaded) == set()
