"""A plan names who feels that a broker is master no more, or says it is not known (D21)."""

import asyncio

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.clients import GetClients
from backend.brokers.requests.locks import GetQueueLocks
from backend.operations.planning.master_clients import GetMasterClients, ask_clients
from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.waiting import PATIENCE_S


@pytest.fixture
async def brokers():
    client = RemotingClient()
    yield Brokers(client)
    await client.aclose()


async def test_who_is_connected_and_who_consumes_in_order_is_named(
    broker, client, connect, brokers, monkeypatch
):
    # What a busy machine takes longer for is not known.
    monkeypatch.setattr(GetMasterClients, "patience_s", PATIENCE_S)
    await client.send("orders", b"x")
    member = await connect(broker)
    await member.heartbeat("billing", "orders", client_id="c1")
    queues = [{"topic": "orders", "brokerName": "broker-a", "queueId": one} for one in (0, 1)]
    wish = {"clientId": "c1", "consumerGroup": "billing", "mqSet": queues}
    answer = await member.call(RequestCode.LOCK_BATCH_MQ, body=java_json.encode(wish))
    assert answer.code == 0, answer.remark

    told = await ask_clients(f"127.0.0.1:{broker.port}", brokers)

    assert told.facts == {
        "producer_groups": ["pg"],
        "consumer_groups": ["billing"],
        "ordered_groups": ["billing"],
    }
    assert told.impact[0] == "Producers connected to it: pg"
    assert told.impact[1] == "Consumer groups connected to it: billing"
    assert told.impact[2].endswith("locked now by: billing (2)")


async def test_a_master_that_does_not_answer_is_unknown_soon_and_never_without_clients(
    brokers, monkeypatch
):
    async def never(_self, _brokers, _address):
        await asyncio.Event().wait()

    monkeypatch.setattr(GetClients, "put", never)
    monkeypatch.setattr(GetQueueLocks, "put", never)
    monkeypatch.setattr(GetMasterClients, "patience_s", 0.05)

    told = await ask_clients("127.0.0.1:1", brokers)

    assert "are unknown" in told.impact[0]
    assert told.facts == {"clients_unknown": "no answer within 0.05 s"}
