"""What the controller counts under stock's names (control-plane.md 2.9)."""

import asyncio

import pytest
from prometheus_client.parser import text_string_to_metric_families

from backend.api.metrics import Metrics
from backend.nameserver import dispatcher
from backend.services.controller import replica_groups
from tests.integration.nameserver.broker_peer import BrokerPeer, make_f3


@pytest.fixture
async def f3(name_server, connect):
    brokers = [BrokerPeer(await connect(name_server), number) for number in (1, 2, 3)]
    await make_f3(brokers)
    return brokers


def scrape(server):
    """Give a way to read a sample by its name and labels; one that there is not is 0."""
    families = text_string_to_metric_families(Metrics(server).render().decode())
    told = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }
    return lambda name, **labels: told.get((name, frozenset(labels.items())), 0)


async def test_a_scrape_shows_the_role_and_who_is_alive(f3, name_server, eventually):
    def alive():
        return scrape(name_server)("active_broker_num", cluster="c", broker_set="g")

    async def two_are_left():
        return alive() == 2

    assert (scrape(name_server)("role"), alive()) == (3, 3)
    await f3[2].close()
    await eventually(two_are_left)
    # There is no such log here, and nothing unknown is shown as zero (D21).
    assert b"dledger" not in Metrics(name_server).render()


async def test_elections_are_counted_by_what_came_of_them(f3, name_server, eventually):
    def count(result):
        told = scrape(name_server)
        return told("election_total", cluster="c", broker_set="g", election_result=result)

    async def no_broker_is_left():
        return count("no_master_elected") == 1

    await f3[1].elect(2, designateElect="true")
    await f3[1].elect(2, designateElect="true")
    assert (await f3[1].elect(9, designateElect="true")).code

    # The first one made 1 master, another one 2; who is no replica is no election.
    assert (count("new_master_elected"), count("keep_current_master")) == (2, 1)
    for broker in f3:
        await broker.close()
    await eventually(no_broker_is_left)
    assert count("new_master_elected") == 2


async def test_requests_are_counted_by_how_they_ended_and_timed(f3, name_server, monkeypatch):
    async def never(*_arguments):
        await asyncio.Event().wait()

    before = scrape(name_server)
    await f3[0].info()
    assert (await f3[0].alter({1, 9}, epoch=2)).code
    assert (await f3[0].ask(1004, {})).code == 1
    monkeypatch.setattr(dispatcher, "WAIT_MAX_S", 0.01)
    monkeypatch.setattr(replica_groups, "describe_group", never)
    assert (await f3[0].info()).code == 1
    after = scrape(name_server)

    def risen(name, request, **labels):
        labels |= {"request_type": f"controller_{request}"}
        return after(name, **labels) - before(name, **labels)

    def ended(request):
        return [
            risen("request_total", request, request_handle_status=status)
            for status in ("success", "failed", "timeout")
        ]

    assert ended("get_replica_info") == [1, 1, 1]
    # A refusal is an answer as good as any.
    assert ended("alter_sync_state_set") == [1, 0, 0]
    assert risen("request_latency_count", "get_replica_info") == 1
    assert risen("request_latency_bucket", "get_replica_info", le="+Inf") == 1
    assert risen("request_latency_sum", "get_replica_info") > 0
    assert after(
        "request_total", request_type="controller_broker_heartbeat", request_handle_status="success"
    )
