"""The control plane lists the share queues of a broker group whose master is absent."""

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import SystemClock
from backend.domain.share_queue import ShareQueueFilter, ShareQueueName
from backend.services.consumer_group.share_queues import describe_share_queue, list_share_queues
from tests.integration.acting.conftest import GROUP
from tests.integration.acting.test_pop import act, popped_pair
from tests.integration.broker.popping import pop
from tests.waiting import eventually

CLUSTER = "TestCluster"


@pytest.fixture
async def world(database):
    client = RemotingClient()
    yield {"database": database, "brokers": Brokers(client), "clock": SystemClock()}
    await client.aclose()


async def test_the_replica_that_acts_is_asked_for_share_queues(fixed_group, world):  # S130
    replica, _ = await popped_pair(fixed_group, 3)
    await act(fixed_group)
    # What the master handed out is in its memory alone.
    assert len(await pop(replica, "orders")) == 3

    async def listed():
        chosen = ShareQueueFilter(cluster_name=CLUSTER)
        found = await list_share_queues(chosen, size=10, after=None, **world)
        return found.page.items

    queues = await eventually(listed)
    names = [ShareQueueName("orders", one.held.queue_id, "g") for one in queues]
    shown = [await describe_share_queue(CLUSTER, GROUP, name, **world) for name in names]

    assert {str(one.broker.name) for one in queues} == {f"{GROUP}-1"}
    assert sum(len(one.messages) for one in shown) == 3
