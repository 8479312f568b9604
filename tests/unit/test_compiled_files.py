"""What Python compiles in a run of tests is kept for the next process."""

import subprocess
import sys
from pathlib import Path


def test_a_process_that_a_test_starts_keeps_what_it_compiles(tmp_path):
    (tmp_path / "compiled_once.py").write_text("")
    program = "import compiled_once; print(compiled_once.__cached__)"

    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    kept = Path(ended.stdout.strip())
    assert kept.exists()
    kept.unlink()


def test_this_process_keeps_what_it_compiles():
    assert not sys.dont_write_bytecode
    assert sys.pycache_prefix is not None
