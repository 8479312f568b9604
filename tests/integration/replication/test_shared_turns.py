"""A SHARED topic changes its mode, is reset, or is deleted and made again, with owners around."""

from contextlib import AsyncExitStack

from backend.domain.share_incident import IncidentFilter
from backend.remoting.request_code import RequestCode
from backend.services.share_queue.incidents import list_incidents
from tests.integration.broker.popping import ack, bodies
from tests.integration.replication.popping import consumer, send_many
from tests.integration.replication.share_members import CONSUMERS, NAMES, Members
from tests.integration.replication.sharing import await_mode, own, receive, share, shared_pair
from tests.waiting import eventually


async def incidents(group):
    """List the incidents that the control plane has."""
    database = group.name_server.controller.database
    page = await list_incidents(size=100, before=None, chosen=IncidentFilter(), database=database)
    return list(page.items)


async def test_modes_that_change_back_and_forth_lose_and_double_nothing(group):
    await shared_pair(group)
    client = await own(group, 2)
    await send_many(group, 1, 6)
    held = await receive(client, 2)

    for mode in ("PRIMARY", "SHARED", "PRIMARY", "SHARED"):
        assert (await share(group, mode=mode)).code == 0
    await await_mode(group, 2, "SHARED")

    assert [await ack(client, one) for one in held] == [0, 0]
    rest = await receive(client, 4)
    assert bodies(held + rest) == [b"%03d" % number for number in range(6)]
    assert [await ack(client, one) for one in rest] == [0] * 4


async def test_a_topic_that_is_deleted_and_created_again_is_shared_again(group):
    await shared_pair(group)
    client = await own(group, 2)
    for _ in range(2):
        told = await group.client(1).call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "orders"})
        assert told.code == 0, told.remark
        assert (await share(group)).code == 0
    await await_mode(group, 2, "SHARED")
    await send_many(group, 1, 4)

    found = await receive(await consumer(group, 1), 4)

    assert bodies(found) == [b"%03d" % number for number in range(4)]
    del client


async def test_after_a_reset_the_owner_goes_on_from_the_offset(group):
    await shared_pair(group)
    client = await own(group, 2)
    await send_many(group, 1, 4)
    assert len(await receive(client, 4)) == 4

    fields = {
        "topic": "orders",
        "queueId": 0,
        "group": "g",
        "offset": 1,
        "timestamp": -1,
        "isForce": "true",
    }
    told = await group.client(1).call(RequestCode.INVOKE_BROKER_TO_RESET_OFFSET, fields)
    assert told.code == 0, told.remark

    found = await receive(client, 4)
    assert bodies(found) == [b"%03d" % number for number in range(4)]
    assert [await ack(client, one) for one in found] == [0] * 4
    # The order has ended a lease, and no member was late.
    assert await incidents(group) == []


async def test_the_lease_of_a_group_that_is_deleted_ends_without_an_incident(group):
    async with AsyncExitStack() as stack:
        members = Members(group, stack)
        member = await members.start(1, is_led_by_test=False)
        await members.begin(master=1)
        client = await member.consume()
        await members.send(1, 2)
        assert await receive(client, 2)
        figures = member.server.broker.lease_keeper.figures

        fields = {"groupName": CONSUMERS, "cleanOffset": "true"}
        told = await client.call(RequestCode.DELETE_SUBSCRIPTIONGROUP, fields)
        assert told.code == 0, told.remark

        await eventually(lambda: figures.fenced == len(NAMES))
        assert not member.server.broker.share_incidents.is_due
        assert await incidents(group) == []
