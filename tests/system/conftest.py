"""The shared clusters of a session, and a look at what tests made one write."""

from collections.abc import Iterator

import httpx
import pytest

from tests.system.cluster import Cluster, cluster, pytest_runtest_teardown, three
from tests.system.console import administrator
from tests.system.footprint import settled, written

__all__ = ["cluster", "pytest_runtest_teardown", "three"]


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
