"""Which tests one process has where several run them, and in which order."""

from typing import Final

import pytest
from xdist.scheduler import LoadFileScheduling


def _files(folder: str, names: str) -> list[str]:
    return [f"tests/{folder}/test_{name}.py" for name in names.split()]


SHARING: Final = {
    "three": [
        *_files("system/browser", "replica_groups operation_pages operations"),
        *_files("system", "graceful_elections operations"),
    ],
    "cluster": [
        *_files("system/browser", "access_pages console locks message_orders order_forms pages"),
        *_files("system/browser", "resource_pages"),
        *_files("system", "bad_frames bad_input strangers subscriptions up"),
        *_files("interop", "chaos consumers messages vectors offsets"),
    ],
}
"""Files that one process has together, one after another, since they use one cluster.

The first have a group of three, of which the first file looks at the whole history. The second have
two groups of one; `vectors` looks at what passed between clients and cluster in the files before.
"""

SCOPES: Final = {path: scope for scope, paths in SHARING.items() for path in paths}
PLACES: Final = {path: place for paths in SHARING.values() for place, path in enumerate(paths)}


def bring_together(items: list[pytest.Item]) -> None:
    """Move the tests of files that share something next to each other, in the files' order."""
    begins: dict[str, int] = {}
    for at, item in enumerate(items):
        path = _path(item.nodeid)
        begins.setdefault(SCOPES.get(path, path), at)

    def place(item: pytest.Item) -> tuple[int, int]:
        path = _path(item.nodeid)
        return begins[SCOPES.get(path, path)], PLACES.get(path, 0)

    items.sort(key=place)


def _path(nodeid: str) -> str:
    return nodeid.partition("::")[0]


class ByFiles(LoadFileScheduling):
    """Keeps a file together, whose fixtures are dear to make: a cluster takes half a minute.

    Groups (`--dist loadgroup`) do nothing: xdist 3.8 writes them where pytest 9.2 does not look.
    """

    def _split_scope(self, nodeid: str) -> str:
        path: str = super()._split_scope(nodeid)
        return SCOPES.get(path, path)
