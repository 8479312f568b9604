"""A cordoned replica becomes master only where no other can (D7, control-plane.md 2.4)."""

import asyncio
import json

import pytest
from sqlalchemy import text

from backend.domain.replica_group import LeasePolicy
from backend.remoting.request_code import RequestCode
from tests.integration.replication.conftest import read_all
from tests.waiting import PATIENCE_S

TOLD = text("SELECT bool_and(is_cordoned) FROM replica_reports WHERE broker_id = :broker_id")


@pytest.fixture
def permit(group, database, eventually):
    """Cordon a replica or uncordon it, and wait until elections know."""

    async def permit(number, *, is_cordoned):
        body = b"brokerPermission=%d\n" % (4 if is_cordoned else 6)
        answer = await group.client(number).call(RequestCode.UPDATE_BROKER_CONFIG, body=body)
        assert answer.code == 0, answer.remark
        await eventually(lambda: is_reported(number, is_cordoned))

    async def is_reported(number, is_cordoned):
        async with database.begin() as connection:
            told = await connection.scalar(TOLD, {"broker_id": number})
        return told is is_cordoned

    return permit


@pytest.mark.parametrize("lease_policy", list(LeasePolicy))
async def test_a_cordoned_replica_becomes_master_only_where_no_other_can(group, permit, eventually):
    await group.add_many(3)
    assert (await group.send(1, b"first")).code == 0
    await permit(2, is_cordoned=True)

    group.kill(1)

    # Of equal logs that of the smaller id would win, were it not cordoned.
    await group.await_state(3, 2, {2, 3})
    assert (await group.send(3, b"second")).code == 0

    group.kill(3)

    await group.await_state(2, 3, {2})
    assert await read_all(group.client(2)) == [b"first", b"second"]
    await eventually(lambda: is_routed(group, permissions=4))

    await permit(2, is_cordoned=False)

    await eventually(lambda: is_routed(group, permissions=6))


async def test_the_controller_hears_of_a_cordon_before_the_next_heartbeat_is_due(group, permit):
    # Case A16: an election right after a cordon must know of the cordon.
    seldom = {"brokerHeartbeatInterval": "60000", "brokerNotActiveTimeoutMillis": "180000"}
    await group.add(**seldom)

    async with asyncio.timeout(PATIENCE_S / 2):
        await permit(1, is_cordoned=True)
        await permit(1, is_cordoned=False)


async def is_routed(group, *, permissions):
    """Whether the routes allow this for the topic at the master."""
    wanted = {"topic": "orders", "acceptStandardJsonOnly": True}
    route = await group.admin.call(RequestCode.GET_ROUTEINFO_BY_TOPIC, wanted)
    queues = json.loads(route.body)["queueDatas"] if route.code == 0 else []
    return [one["perm"] for one in queues] == [permissions]
