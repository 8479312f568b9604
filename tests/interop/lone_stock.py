"""A broker of stock without a group, on the store that an agent of ours had, or will have."""

import asyncio
import signal

import pytest

from tests.integration.broker.client import Client
from tests.integration.broker.properties import SEGMENT_BYTES
from tests.interop.java import build
from tests.interop.stock_broker import StockBroker
from tests.ports import free_port
from tests.waiting import eventually

PROPERTIES = {
    "brokerClusterName": "TestCluster",
    "brokerName": "broker-t",
    "enableControllerMode": "false",
    "brokerRole": "ASYNC_MASTER",
    "brokerId": "0",
    "timerWheelEnable": "true",
    "mappedFileSizeTimerLog": 1 << 20,
    "mappedFileSizeCommitLog": SEGMENT_BYTES,
    "mappedFileSizeConsumeQueue": 60_000,
}


class LoneStock:
    """A broker of stock on the store of an agent."""

    def __init__(self, root):
        store = root / "store"
        places = {
            "storePathRootDir": store,
            "storePathCommitLog": store / "commitlog",
            "maxHashSlotNum": 1000,
            "maxIndexNum": 5000,
        }
        self.broker = StockBroker(
            free_port(), controller="", home=root / "stock", properties=PROPERTIES | places
        )

    async def start(self, **properties):
        self.broker.properties = {**self.broker.properties, **properties}
        await self.broker.start()

        async def connect():
            try:
                return await Client.connect(self.broker.port)
            except OSError:
                return None

        return await eventually(connect, interval_s=0.2)

    async def stop(self):
        """End as an operator ends it, so that it writes its files."""
        self.broker.signal(signal.SIGTERM)
        await asyncio.wait_for(self.broker.process.wait(), 60)

    async def kill(self):
        await self.broker.kill()


@pytest.fixture
async def stock(tmp_path):
    build()
    one = LoneStock(tmp_path)
    yield one
    await one.kill()
