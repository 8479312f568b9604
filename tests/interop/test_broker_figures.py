"""What a lone broker says of itself, beside what a lone stock broker says (28, 907)."""

import json
import re
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import write_config
from tests.integration.broker.client import Client
from tests.interop.java import build
from tests.interop.stock_broker import StockBroker
from tests.ports import free_port
from tests.waiting import eventually
from workers.broker.configuration.settings import load_settings
from workers.broker.server import BrokerServer

pytestmark = pytest.mark.asyncio(loop_scope="module")
MESSAGE_COUNT = 5


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def brokers(tmp_path_factory):
    """A client of a stock broker and one of ours, each with a few messages."""
    build()
    root = tmp_path_factory.mktemp("brokers")
    stock = StockBroker(free_port(), controller="", home=root / "stock", properties=LONE)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(stock.kill)
        await stock.start()
        (root / "ours").mkdir()
        loaded = load_settings(write_config(root / "ours"))
        ours = BrokerServer(loaded.settings, given=loaded.given)
        stack.push_async_callback(ours.close)
        await ours.start()
        clients = []
        for port in (stock.port, ours.port):
            clients.append(await _connected(port))
            stack.push_async_callback(clients[-1].close)
        for client in clients:
            for number in range(MESSAGE_COUNT):
                assert (await client.send("T", b"%d" % number)).code == 0
        yield clients


LONE = {"enableControllerMode": "false", "brokerRole": "ASYNC_MASTER", "brokerId": "0"}


async def _connected(port):
    async def connect():
        try:
            return await Client.connect(port)
        except OSError:
            return None

    return await eventually(connect, interval_s=0.2)


async def figures_of(client):
    async def reported():
        answer = await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)
        # Stock's broker gives an error while its store starts.
        return json.loads(answer.body)["table"] if answer.code == 0 else None

    return await eventually(reported, interval_s=0.2)


def form_of(value):
    """Replace each number, and the unit behind a size, by what it is."""
    sizes = re.sub(r"[0-9.]+ ([KMGTPE]i)?B\b", "SIZE", value)
    return re.sub(r"-?[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?", "N", sizes)


def kind_of(key):
    """A path in a name is the broker's own."""
    return re.sub(r"^commitLogDiskRatio_.*", "commitLogDiskRatio_PATH", key)


async def test_a_broker_reports_the_figures_of_stock_in_the_same_forms(brokers):
    # Case C2: exporters read these keys without a look for null.
    stock_client, our_client = brokers
    stock = {kind_of(key): value for key, value in (await figures_of(stock_client)).items()}
    ours = {kind_of(key): value for key, value in (await figures_of(our_client)).items()}

    assert stock.keys() <= ours.keys()
    forms = {
        key: (value, ours[key]) for key, value in stock.items() if not are_alike(value, ours[key])
    }
    assert forms == {}
    assert ours["msgPutTotalTodayNow"] == stock["msgPutTotalTodayNow"] == str(MESSAGE_COUNT)


def are_alike(stock, ours):
    """Return whether two values have one form, as far as stock's has come to one."""
    if stock in {"null", "  "}:
        # It shows its rates after ten seconds, its distribution of times after a minute.
        return bool(re.fullmatch(r"([0-9.]+ ){2}[0-9.]+|(\[[^ ]+\]:[0-9]+ ){13}", ours))
    return form_of(stock) == form_of(ours)


async def test_a_lone_broker_reports_its_replication_as_stock_does(brokers):
    # Case C5.
    reported = [
        json.loads((await client.call(RequestCode.GET_BROKER_HA_STATUS)).body) for client in brokers
    ]

    for ha_status in reported:
        assert ha_status["master"] is True
        assert ha_status["masterCommitLogMaxOffset"] > 0
        assert ha_status["haConnectionInfo"] == []
        assert ha_status["inSyncSlaveNums"] == 0
