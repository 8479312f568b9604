"""G10: what a page asks of brokers grows neither with the cluster nor with those who look."""

import asyncio
from collections import Counter

import pytest

from backend.clients.brokers import BrokerUnreachable
from backend.clients.client_requests import ToldClient, ToldClients
from backend.clients.clock import SystemClock
from backend.domain.queue_reading import QueueProgress
from backend.services.cluster_census import Censuses
from tests.integration.api.ordering import V1

CLUSTER = f"{V1}/clusters/c"
GROUP_COUNT = 12


class CountingBrokers:
    """Each broker group has one consumer group; the first also a member of the second's."""

    def __init__(self):
        self.asked, self.silent = Counter(), set()

    def _note(self, question, address):
        if address in self.silent:
            raise BrokerUnreachable(address, "nobody listens")
        self.asked[question] += 1
        return address.partition(":")[0]

    async def group_names(self, address):
        return frozenset({f"of-{self._note('group_names', address)}"})

    async def groups_with_offsets(self, address):
        return [f"of-{self._note('groups_with_offsets', address)}"]

    async def connected_clients(self, address):
        name = self._note("connected_clients", address)
        member = ToldClient("one", "10.0.0.7:1", "JAVA", 513, 5, (), ("of-broker-1",))
        return ToldClients((member,), 1) if name == "broker-0" else ToldClients((), 0)

    async def online_group(self, address, _group):
        self._note("online_group", address)

    async def progress(self, address, group, topic=None):
        name = self._note("progress", address)
        is_own = group == f"of-{name}" and topic is None
        return [QueueProgress("orders", 0, 90, 100, 5)] if is_own else []

    async def waiting_times(self, address, *_arguments, **_named):
        self._note("waiting_times", address)
        return {0: 4_200}


@pytest.fixture
def brokers():
    return CountingBrokers()


@pytest.fixture
async def groups(register):
    for number in range(GROUP_COUNT):
        name = f"broker-{number}"
        await register(cluster="c", group=name, address=f"{name}:10911")


@pytest.mark.usefixtures("groups")
async def test_a_page_asks_each_master_once_and_then_only_those_that_know_its_groups(
    client, brokers
):
    page = (await client.get(f"{CLUSTER}/consumer-groups", params={"limit": 2})).json()

    assert [one["name"] for one in page["items"]] == ["of-broker-0", "of-broker-1"]
    assert [one["lag"]["message_count"] for one in page["items"]] == [10, 10]
    assert page["total_count"] == GROUP_COUNT
    # Twice the census, since here none is kept: of the names, and of who knows them.
    assert brokers.asked["group_names"] == 2 * GROUP_COUNT
    # The second group has a member at the first master, and its offsets at the second.
    assert brokers.asked["online_group"] == 3


@pytest.mark.usefixtures("groups")
async def test_a_census_is_shared_by_all_who_look_and_says_when_it_was_taken(database, brokers):
    censuses = Censuses(database, brokers, SystemClock(), kept_for_s=3_600)

    seen = await asyncio.gather(*(censuses.groups("c") for _ in range(20)))
    later = await censuses.groups("c")
    fresh = await censuses.groups("c", is_fresh=True)

    assert {id(one) for one in (*seen, later)} == {id(later)}
    assert later.observed_at < fresh.observed_at
    assert brokers.asked["group_names"] == 2 * GROUP_COUNT
    assert brokers.asked["connected_clients"] == GROUP_COUNT


@pytest.mark.usefixtures("groups")
async def test_a_master_that_does_not_tell_may_know_of_any_group(database, brokers):
    brokers.silent.add("broker-5:10911")
    census = await Censuses(database, brokers, SystemClock()).groups("c")

    asked = [one.group_name for one in census.masters_of("of-broker-2", also=["broker-7"])]

    assert asked == ["broker-2", "broker-5", "broker-7"]
    assert [one.broker.group_name for one in census.questions.unknown] == ["broker-5"]


@pytest.mark.usefixtures("groups")
async def test_a_group_that_nobody_knows_is_looked_for_once_more(client, brokers):
    answer = await client.get(f"{CLUSTER}/consumer-groups/nobody")

    assert answer.status_code == 404
    assert brokers.asked["group_names"] == 2 * GROUP_COUNT
