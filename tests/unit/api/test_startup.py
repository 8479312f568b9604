"""What the control plane has no use for it does not load: it starts sooner, and is smaller."""

import subprocess
import sys

HEAVY = ("celery", "numpy", "pandas", "pyarrow", "pyspark")
COUNT = """
import sys
import backend.server
print([name for name in {heavy!r} if name in sys.modules])
"""


def test_the_control_plane_loads_none_of_the_libraries_of_its_workers():
    command = [sys.executable, "-c", COUNT.format(heavy=HEAVY)]

    ended = subprocess.run(command, capture_output=True, text=True, check=True)

    assert ended.stdout.split("\n")[-2] == "[]"
