"""Which tests one process has where several run them."""

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
"""Files that one process has together. The first add to what passed between clients and cluster,
and the last of them looks at it. The second use one cluster with a group of three."""

SCOPES: Final = {path: scope for scope, paths in SHARING.items() for path in paths}


class ByFiles(LoadFileScheduling):
    """Keeps a file together, whose fixtures are dear to make: a cluster takes half a minute.

    Groups (`--dist loadgroup`) do nothing: xdist 3.8 writes them where pytest 9.2 does not look.
    """

    def _split_scope(self, nodeid: str) -> str:
        path: str = super()._split_scope(nodeid)
        return SCOPES.get(path, path)
