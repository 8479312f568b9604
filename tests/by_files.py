"""Assign the files of tests to the processes of a run."""

from typing import Final

from xdist.scheduler import LoadFileScheduling

SHARING: Final = {
    "recording": [
        f"tests/interop/test_{name}.py" for name in ("chaos", "consumers", "messages", "vectors")
    ],
    "three": [
        "tests/system/browser/test_operation_pages.py",
        "tests/system/browser/test_operations.py",
        "tests/system/test_graceful_elections.py",
        "tests/system/test_operations.py",
    ],
}
"""Files that run in one process. The first ones use the traffic between clients and cluster, and
the last of them checks it. The second ones use one cluster with a group of three."""

SCOPES: Final = {path: scope for scope, paths in SHARING.items() for path in paths}


class ByFiles(LoadFileScheduling):
    """Keeps a file in one process if its fixtures are expensive: a cluster takes half a minute.

    Groups (`--dist loadgroup`) have no effect: xdist 3.8 writes them where pytest 9.2 does not read
    them.
    """

    def _split_scope(self, nodeid: str) -> str:
        path: str = super()._split_scope(nodeid)
        return SCOPES.get(path, path)
