"""The shared clusters of a session, and a look at what tests made one write."""

from collections.abc import Iterator

import httpx
import pytest

from tests.system.cluster import Cluster, cluster, stop_three, three
from tests.system.console import administrator
from tests.system.footprint import settled, written

__all__ = ["cluster", "three"]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the group of three after the last test that has it."""
    if nextitem is not None and "three" in _fixtures(item) - _fixtures(nextitem):
        stop_three(item.config)


def _fixtures(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="module")
def signed_in(cluster: Cluster) -> Iterator[httpx.Client]:
    with administrator(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def nothing_is_written(cluster: Cluster, signed_in: httpx.Client) -> Iterator[None]:
    """Compare logs, topics, groups, folders and the control plane's tables around a module."""
    before = settled(lambda: written(cluster, signed_in))
    yield
    assert settled(lambda: written(cluster, signed_in)) == before
