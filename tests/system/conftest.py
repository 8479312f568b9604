"""The shared cluster of a session, and a look at what a test made it write."""

from collections.abc import Iterator

import httpx
import pytest

from tests.system.cluster import Cluster, cluster
from tests.system.console import administrator
from tests.system.footprint import settled, written

__all__ = ["cluster"]


@pytest.fixture(scope="module")
def signed_in(cluster: Cluster) -> Iterator[httpx.Client]:
    with administrator(cluster) as client:
        yield client


@pytest.fixture
def nothing_is_written(cluster: Cluster, signed_in: httpx.Client) -> Iterator[None]:
    """Compare logs, topics, groups, folders and the control plane's tables around a test."""
    before = settled(lambda: written(cluster, signed_in))
    yield
    assert settled(lambda: written(cluster, signed_in)) == before
