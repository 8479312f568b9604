"""What a command does not need it does not import, so that its first byte comes soon (G16)."""

import subprocess
import sys

import pytest

HEAVY = (
    "asyncio",
    "click",
    "httpx",
    "pydantic",
    "pygments",
    "rich",
    "sqlalchemy",
    "celery",
    "yaml",
    "regent_engine",
    "pyarrow",
)
OURS_MAX = 28
# A read goes through all of its work up to the connection, which is refused.
READ = ("--server", "http://127.0.0.1:1", "--token", "t")
CLIENT = {"httpx", "asyncio"}

COUNT = """
import sys
from backend.cli.app import run
code = run(sys.argv[1:])
heavy = [name for name in {heavy!r} if name in sys.modules]
ours = [name for name in sys.modules if name.startswith("backend.")]
print(code, ",".join(heavy) or "-", len(ours), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        ([], {"rich"}),
        (["--help"], {"rich"}),
        (["--version"], {"rich"}),
        (["mqadmin", "topicList", "--help"], CLIENT | {"rich"}),
        (["whoami"], CLIENT),
        (["topic", "list", "--cluster", "c", *READ], CLIENT),
        (["broker", "list", "--cluster", "c", "--output", "json", *READ], CLIENT),
        (["store", "verify", "nowhere"], {"regent_engine", "asyncio", "rich"}),
    ],
)
def test_a_command_imports_nothing_heavy_that_it_does_not_use(arguments, allowed, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", COUNT.format(heavy=HEAVY), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=tmp_path,
    )

    _, heavy, ours = ended.stderr.splitlines()[-1].split()
    assert set(heavy.split(",")) - {"-"} <= allowed
    assert int(ours) <= OURS_MAX
