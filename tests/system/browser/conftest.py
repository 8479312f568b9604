"""What the browser tests share: Chromium, a tab that is signed in, the stock client."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.interop.client import StockClient
from tests.interop.java import build
from tests.system.browser.console_page import (
    TIMEOUT_MS,
    Chromium,
    ConsolePage,
    chromium,
    open_console,
    signed_in,
)
from tests.system.cluster import Cluster

expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="package")
def browser() -> Iterator[Chromium]:
    # Not for the session: Playwright's loop must not outlive the tests that use it.
    with chromium() as running:
        yield running


@pytest.fixture
def stranger(browser: Chromium, cluster: Cluster) -> Iterator[ConsolePage]:
    """Give a tab without a session."""
    with open_console(browser, cluster.http_url) as console:
        yield console


@pytest.fixture
def console(browser: Chromium, cluster: Cluster) -> Iterator[ConsolePage]:
    """Give a tab that is signed in, without a page."""
    with signed_in(browser, cluster) as tab:
        yield tab


@pytest.fixture(scope="module")
def tab(browser: Chromium, cluster: Cluster) -> Iterator[ConsolePage]:
    """Give a signed-in tab that goes from page to page through all tests of a module."""
    with signed_in(browser, cluster) as console:
        yield console


@pytest.fixture(scope="module")
def stock_client(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> StockClient:
    """Give the stock Java client, pointed at the cluster."""
    build()
    return StockClient("5.5.0", cluster.name_server_address, tmp_path_factory.mktemp("client"))
