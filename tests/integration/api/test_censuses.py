"""G10: what a page asks of brokers grows neither with the cluster nor with those who look."""

import asyncio
from collections import Counter

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.errors import BrokerUnreachable
from backend.brokers.requests.clients import GetClients, ReportedClient, ReportedClients
from backend.brokers.requests.consumer_groups import GetConsumerGroupNames, GetOnlineGroup
from backend.brokers.requests.offsets import GetGroupsWithOffsets, GetProgress, GetWaitingTimes
from backend.clients.clock import SystemClock
from backend.domain.queue_reading import QueueProgress
from backend.services.consumer_group.client_snapshots import ClientSnapshots
from tests.integration.api.ordering import V1

CLUSTER = f"{V1}/clusters/c"
GROUP_COUNT = 12


class CountingBrokers(Brokers):
    """Each broker group has one consumer group; the first also a member of the second's."""

    def __init__(self):
        self.asked, self.silent = Counter(), set()

    async def ask(self, address, inquiry):
        if address in self.silent:
            raise BrokerUnreachable(address, "nobody listens")
        self.asked[type(inquiry)] += 1
        name = address.partition(":")[0]
        match inquiry:
            case GetConsumerGroupNames():
                return frozenset({f"of-{name}"})
            case GetGroupsWithOffsets():
                return [f"of-{name}"]
            case GetClients():
                member = ReportedClient("one", "10.0.0.7:1", "JAVA", 513, 5, (), ("of-broker-1",))
                return (
                    ReportedClients((member,), 1) if name == "broker-0" else ReportedClients((), 0)
                )
            case GetProgress(group, topic):
                is_own = group == f"of-{name}" and topic is None
                return [QueueProgress("orders", 0, 90, 100, 5)] if is_own else []
            case GetWaitingTimes():
                return {0: 4_200}
            case GetOnlineGroup():
                return None


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
    assert brokers.asked[GetConsumerGroupNames] == 2 * GROUP_COUNT
    # The second group has a member at the first master, and its offsets at the second.
    assert brokers.asked[GetOnlineGroup] == 3


@pytest.mark.usefixtures("groups")
async def test_a_census_is_shared_by_all_who_look_and_says_when_it_was_taken(database, brokers):
    client_snapshots = ClientSnapshots(database, brokers, SystemClock(), kept_for_s=3_600)

    seen = await asyncio.gather(*(client_snapshots.groups("c") for _ in range(20)))
    later = await client_snapshots.groups("c")
    fresh = await client_snapshots.groups("c", is_fresh=True)

    assert {id(one) for one in (*seen, later)} == {id(later)}
    assert later.observed_at < fresh.observed_at
    assert brokers.asked[GetConsumerGroupNames] == 2 * GROUP_COUNT
    assert brokers.asked[GetClients] == GROUP_COUNT


@pytest.mark.usefixtures("groups")
async def test_a_master_that_does_not_answer_may_know_of_any_group(database, brokers):
    brokers.silent.add("broker-5:10911")
    snapshot = await ClientSnapshots(database, brokers, SystemClock()).groups("c")

    asked = [one.broker_group_name for one in snapshot.masters_of("of-broker-2", also=["broker-7"])]

    assert asked == ["broker-2", "broker-5", "broker-7"]
    assert [one.broker.broker_group_name for one in snapshot.questions.unknown] == ["broker-5"]


@pytest.mark.usefixtures("groups")
async def test_an_unknown_group_is_looked_for_once_more(client, brokers):
    answer = await client.get(f"{CLUSTER}/consumer-groups/nobody")

    assert answer.status_code == 404
    assert brokers.asked[GetConsumerGroupNames] == 2 * GROUP_COUNT
