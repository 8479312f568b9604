"""Assign the files of tests to the processes of a run, in an order."""

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
    "pages": [
        *_files("system/browser", "access_pages console locks message_orders order_forms pages"),
        *_files("system/browser", "resource_pages queue_moves share_queues"),
        *_files("system", "bad_frames bad_input strangers subscriptions up"),
    ],
    "clients": [
        *_files("interop", "chaos consumers messages vectors offsets static_topics static_pop"),
    ],
}
"""Files that run in one process, one after another, since they use one cluster.

The first ones have a group of three; the first file checks its whole history. The others have two
groups of one. `vectors` checks the traffic between clients and cluster of the files before.
"""

SPARK: Final = "tests/integration/capacity/"
"""The folder of tests that share a Spark driver."""

SCOPES: Final = {path: scope for scope, paths in SHARING.items() for path in paths}
PLACES: Final = {path: place for paths in SHARING.values() for place, path in enumerate(paths)}


def scope_of(item: pytest.Item | None) -> str | None:
    """Give the name of what the file of a test shares with other files."""
    return None if item is None else SCOPES.get(_path(item.nodeid))


def bring_together(items: list[pytest.Item]) -> None:
    """Move the tests of files that share something next to each other, in the files' order.

    Tests with Spark come first. A process takes over the last tests of another process, never the
    first ones, so all tests with Spark share one driver.
    """
    begins: dict[str, int] = {}
    for at, item in enumerate(items):
        path = _path(item.nodeid)
        begins.setdefault(SCOPES.get(path, path), at)

    def place(item: pytest.Item) -> tuple[int, int]:
        path = _path(item.nodeid)
        if path.startswith(SPARK):
            return -1, 0
        return begins[SCOPES.get(path, path)], PLACES.get(path, 0)

    items.sort(key=place)


def _path(nodeid: str) -> str:
    return nodeid.partition("::")[0]


class ByFiles(LoadFileScheduling):
    """Keeps a file in one process if its fixtures are expensive: a cluster takes half a minute.

    Groups (`--dist loadgroup`) have no effect: xdist 3.8 writes them where pytest 9.2 does not read
    them.
    """

    def _split_scope(self, nodeid: str) -> str:
        path: str = super()._split_scope(nodeid)
        return SCOPES.get(path, path)
