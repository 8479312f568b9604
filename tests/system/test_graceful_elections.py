"""Masters are changed in order, one election after the other, while a producer goes on sending.

`make soak SOAK=elections` orders 20; each prints for how long nothing was acknowledged.
"""

# ruff: noqa: T201 - its gaps are for the reader of the run

import asyncio
import os
import time
from collections import Counter

import httpx
import pytest

from backend.remoting.request_code import RequestCode
from tests.bench.failover.group import await_topic
from tests.bench.failover.journal import Journal
from tests.bench.failover.probe import QUEUE_COUNT, Probe
from tests.bench.failover.rounds import running, wait_until
from tests.integration.broker.client import Client, messages, pull_fields
from tests.system.cluster import Cluster
from tests.system.console import administrator
from tests.system.groups import await_whole

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

COUNT = int(os.environ.get("REGENT_ELECTIONS", "3"))
PACE_S = 0.001
"""Between two sends, whatever became of those before: 1 000 a second."""

GROUP, TOPIC = "broker-a", "elections"
FLOW_COUNT = 200
PATIENCE_S = 90.0
CLUSTER_PATH = "/api/v1/clusters/DefaultCluster"
OPERATIONS = "/api/v1/operations"
ENDED = {"done", "partly", "failed", "unknown", "cancelled"}


async def test_masters_change_under_load_and_no_acknowledged_message_is_lost(
    three: Cluster,
) -> None:
    master = (await asyncio.to_thread(await_whole, three, GROUP)).master
    assert master is not None
    await create_topic(three, master)
    host, _, port = three.name_server_address.rpartition(":")
    probe = Probe((host, int(port)), TOPIC, pace_s=PACE_S)

    with administrator(three) as client:
        async with running(probe):
            await await_flow(probe.journal, since=time.monotonic())
            for number in range(1, COUNT + 1):
                gap_s = await change_master(three, client, probe.journal)
                print(f"election {number}: {gap_s * 1000:.0f} ms without an acknowledgement")
        # The broker that was asked last answers before its master is read.
        master = (await asyncio.to_thread(await_whole, three, GROUP)).master
    assert master is not None
    held = await read(master)

    print(describe(probe.journal))
    check(probe.journal, held)


async def change_master(cluster: Cluster, client: httpx.Client, journal: Journal) -> float:
    """Have another member elected as an operator does; give the longest gap around it."""
    before = await asyncio.to_thread(await_whole, cluster, GROUP)
    assert before.master is not None
    began_at = time.monotonic()
    ended = await asyncio.to_thread(order_election, client)
    assert ended["state"] == "done", ended
    await wait_until(
        lambda: journal.has_acknowledgement_since(began_at, from_other_than=before.master),
        PATIENCE_S,
        "no other master took over",
    )
    await await_flow(journal, since=time.monotonic())
    return journal.longest_gap(began_at, time.monotonic())[0]


async def await_flow(journal: Journal, *, since: float) -> None:
    """Wait until messages are acknowledged that were sent from some moment on."""

    def flows() -> bool:
        return sum(send.is_acknowledged for send in journal.since(since)) >= FLOW_COUNT

    await wait_until(flows, PATIENCE_S, "nothing is acknowledged any more")


def order_election(client: httpx.Client) -> dict:
    """Plan and confirm an election, and wait for its end."""
    state = client.get(f"{CLUSTER_PATH}/replica-groups/{GROUP}").raise_for_status().json()
    wanted = next(i for i in state["sync_state_set"] if i != state["master_id"])
    parameters = {
        "cluster_name": "DefaultCluster",
        "broker_group_name": GROUP,
        "broker_id": wanted,
        "mode": "graceful",
    }
    order = {"kind": "elect_master", "parameters": parameters}
    planned = client.post(OPERATIONS, json=order).raise_for_status().json()
    path = f"{OPERATIONS}/{planned['id']}"
    given = {"typed_name": GROUP, "reason": "planned work"}
    client.post(f"{path}/confirm", json=given).raise_for_status()
    deadline = time.monotonic() + PATIENCE_S
    while (operation := client.get(path).json())["state"] not in ENDED:
        assert time.monotonic() < deadline, operation
        time.sleep(0.05)
    return operation


async def create_topic(cluster: Cluster, master: str) -> None:
    """Make the topic, and wait until every replica has it."""
    fields = {
        "topic": TOPIC,
        "defaultTopic": "TBW102",
        "readQueueNums": QUEUE_COUNT,
        "writeQueueNums": QUEUE_COUNT,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
    }
    client = await connect(master)
    assert (await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)).code == 0
    await client.close()
    for broker in cluster.brokers:
        client = await connect(broker.address)
        await await_topic(client, TOPIC, timeout_s=PATIENCE_S)
        await client.close()


async def connect(address: str) -> Client:
    host, _, port = address.rpartition(":")
    return await Client.connect(int(port), host=host)


async def read(master: str) -> dict[tuple[int, int], int]:
    """Read which message has which place: queue and offset, number of the message."""
    client = await connect(master)
    held: dict[tuple[int, int], int] = {}
    for queue_id in range(QUEUE_COUNT):
        end = await client.call(RequestCode.GET_MAX_OFFSET, {"topic": TOPIC, "queueId": queue_id})
        offset = 0
        while offset < int(end.ext["offset"]):
            fields = {"queueId": queue_id, "queueOffset": offset, "suspendTimeoutMillis": 0}
            answer = await client.call(
                RequestCode.PULL_MESSAGE, pull_fields(TOPIC) | fields | {"maxMsgNums": 32}
            )
            assert answer.code == 0, answer
            for record in messages(answer):
                held[queue_id, record.queue_offset] = int(record.body.split(b" ", 1)[0])
            offset = int(answer.ext["nextBeginOffset"])
    await client.close()
    return held


def check(journal: Journal, held: dict[tuple[int, int], int]) -> None:
    """Hold what was acknowledged against what is there: I1 and I4 of targets 5.2."""
    acknowledged = [send for send in journal.sends if send.is_acknowledged]
    assert acknowledged

    moved = [s for s in acknowledged if s.place is None or held.get(s.place) != s.number]
    assert not moved, "acknowledged, and not where the acknowledgement said"
    assert not [n for n, count in Counter(held.values()).items() if count > 1], "there twice"
    for queue_id in range(QUEUE_COUNT):
        offsets = sorted(offset for queue, offset in held if queue == queue_id)
        assert offsets == list(range(len(offsets))), f"queue {queue_id} has holes"


def describe(journal: Journal) -> str:
    sends = journal.sends
    seconds = sends[-1].sent_at - sends[0].sent_at
    refused = sum(send.is_refused for send in sends)
    return (
        f"{len(journal.acknowledged_numbers())} acknowledged of {len(sends)} sent in"
        f" {seconds:.1f} s, {len(sends) / seconds:.0f} a second; {refused} refused"
    )
