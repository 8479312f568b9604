"""The limit of open files of a process."""

import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FEW = 512


@contextmanager
def few_open_files() -> Iterator[None]:
    """Give processes that are started meanwhile a low limit."""
    usual, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert most > FEW
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (usual, most))


def open_file_limits(process_id: int) -> tuple[int, int]:
    """Return the limit of open files of a process, and its possible maximum."""
    limits = Path(f"/proc/{process_id}/limits").read_text()
    found = re.search(r"^Max open files +(\d+) +(\d+)", limits, re.MULTILINE)
    assert found is not None
    return int(found[1]), int(found[2])
