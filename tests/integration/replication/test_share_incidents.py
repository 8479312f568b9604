"""Members that can't store or apply records of share queues (queue-ownership.md 4.12)."""

import os
from contextlib import AsyncExitStack

import pytest

from backend.clients.clock import SystemClock
from backend.domain.share_incident import (
    IncidentFilter,
    IncidentOutcome,
    IncidentResolution,
)
from backend.remoting.names import share_state_topic
from backend.remoting.request_code import FIRST_PROTOCOL_VERSION, RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.share_incident import IncidentKind
from backend.services.share_queue.incidents import judge_incidents, list_incidents
from tests.integration.broker.client import Client
from tests.integration.broker.popping import ack, bodies, handle_fields, pop, pop_fields
from tests.integration.replication.popping import consumer, send_many
from tests.integration.replication.share_members import CONSUMERS, NAMES, TOPIC, Members
from tests.integration.replication.sharing import (
    await_mode,
    own,
    owner_of,
    receive,
    share,
)
from tests.waiting import eventually

ONE = NAMES[0]


async def shared_trio(group, **properties):
    await group.add_many(3, **properties)
    assert (await share(group)).code == 0
    for number in (2, 3):
        await await_mode(group, number, "SHARED")


async def incidents_of(group, number, kind):
    """Judge the incidents as the periodic task does, and list those of a member."""
    database = group.name_server.controller.database
    async with database.begin() as connection:
        await judge_incidents(connection, clock=SystemClock())
    page = await list_incidents(size=100, before=None, chosen=IncidentFilter(), database=database)
    return [one for one in page.items if one.broker_id == number and one.kind is kind]


def spoil_last_of_lane(group, number):
    """Change a byte in the last message of the lane, as a bad disk does; return its position."""
    path = group.agents[number - 1].root / "store" / "commitlog" / f"{0:020}"
    log = path.read_bytes()
    # Topic and properties come behind the body, each with its length.
    topic = share_state_topic("TestCluster").encode()
    topic_at = log.rindex(bytes([len(topic)]) + topic)
    position = 0
    while (end := position + int.from_bytes(log[position : position + 4])) <= topic_at:
        position = end
    with path.open("r+b") as file:
        file.seek(topic_at - 4)
        file.write(bytes([log[topic_at - 4] ^ 0xFF]))
    return position


def break_disk(group, number):
    """Make the log unreadable for every reader, as if its sectors had gone bad."""
    os.truncate(group.agents[number - 1].root / "store" / "commitlog" / f"{0:020}", 0)


async def test_o33_an_owner_whose_disk_fails_gives_up_its_leases_and_another_member_owns(group):
    # Q37: the incident is recorded, compared with the positions of the others, and resolved.
    await shared_trio(group, haMaxTimeSlaveNotCatchup="6000")
    client = await own(group, 2)
    other = await consumer(group, 3)
    await send_many(group, 1, 10)
    held = await receive(client, 4)
    break_disk(group, 2)

    # Q40: no client waits for the member.
    await send_many(group, 1, 10, start=10)
    found = await receive(other, 16)

    assert bodies([*held, *found]) == [b"%03d" % number for number in range(20)]
    assert [await ack(other, one) for one in [*held, *found]] == [0] * 20
    assert await owner_of(group) == 3

    async def is_compared():
        found = await incidents_of(group, 2, IncidentKind.CANNOT_STORE)
        return bool(found) and found[0].outcome is not IncidentOutcome.UNKNOWN

    await eventually(is_compared)
    (incident,) = await incidents_of(group, 2, IncidentKind.CANNOT_STORE)
    assert (incident.outcome, incident.resolved_at) == (IncidentOutcome.OTHERS_HAVE_IT, None)
    assert group.agents[1].events("share_incident_opened")

    group.kill(2)
    await group.start(2)
    await group.await_state(1, 1, {1, 2, 3})

    async def is_resolved():
        (found,) = await incidents_of(group, 2, IncidentKind.CANNOT_STORE)
        return found.resolution is IncidentResolution.RECOVERED

    await eventually(is_resolved)
    await send_many(group, 1, 2, start=20)
    assert bodies(await receive(other, 2)) == [b"020", b"021"]


async def test_o34_a_member_with_a_damaged_record_leaves_and_copies_it_from_its_master_again(group):
    # Q39: the others have the record, so this member is the one that differs.
    await shared_trio(group)
    client = await own(group, 2)
    await send_many(group, 1, 4)
    held = await receive(client, 2)
    assert await ack(client, held[0]) == 0
    await group.await_equal_logs()
    # Without the third member nothing is confirmed, so the second one applies nothing.
    await group.pause(3)
    waiting = group.client(1).start(RequestCode.ACK_MESSAGE, handle_fields(held[1]))
    before = group.log_bytes(3)
    await eventually(lambda: before != group.log_bytes(1) == group.log_bytes(2))
    position = spoil_last_of_lane(group, 2)

    group.resume(3)

    assert (await waiting).code == 0
    await eventually(lambda: group.agents[1].events("log_mended"))
    await group.await_state(1, 1, {1, 2, 3})

    async def is_resolved():
        found = await incidents_of(group, 2, IncidentKind.CANNOT_APPLY)
        return bool(found) and found[0].resolution is IncidentResolution.RECOVERED

    await eventually(is_resolved)
    (incident,) = await incidents_of(group, 2, IncidentKind.CANNOT_APPLY)
    assert (incident.position, incident.outcome) == (position, IncidentOutcome.OTHERS_HAVE_IT)
    assert group.agents[1].events("broker_starts_again")
    await group.await_equal_logs()
    # Nothing is lost or comes twice: the member has the state of the others.
    group.clients[1] = await Client.connect(group.agents[1].port)
    again = await consumer(group, 2)
    assert bodies(await receive(again, 2)) == [b"002", b"003"]


@pytest.mark.parametrize("mode", ["PRIMARY", "SHARED"])
async def test_o33_a_master_with_a_damaged_record_gives_way_once_another_member_may_lead(
    group, mode
):
    # Q40: meanwhile it serves everything but POP.
    await group.add_many(2)
    assert (await share(group, mode=mode)).code == 0
    await await_mode(group, 2, mode)
    await send_many(group, 1, 4)
    former = await consumer(group, 1)
    held = await receive(former, 1)
    assert await ack(former, held[0]) == 0
    await group.await_equal_logs()
    # Else a later snapshot of the lane could come, which needs no record before it.
    await group.pause(1)
    position = spoil_last_of_lane(group, 2)

    group.kill(1)

    await group.await_state(2, 2, {2})
    await send_many(group, 2, 2, start=4)
    refused = await group.client(2).call(RequestCode.POP_MESSAGE, pop_fields(TOPIC))
    if mode == "SHARED" and refused.code == ResponseCode.POLLING_TIMEOUT:
        # The POP waited for an owner, and there was none in time.
        assert not refused.body
    else:
        assert (refused.code, "another one of its group" in refused.remark) == (14, True)
    assert group.agents[1].events("share_incident_opened")

    await group.start(1)

    await group.await_state(1, 3, {1, 2})
    assert group.agents[1].events("log_mended")
    await group.await_equal_logs()
    # Nothing is lost, nor delivered once more.
    found = await receive(await consumer(group, 1), 5)
    assert bodies(found) == [b"%03d" % number for number in range(1, 6)]
    (incident,) = await incidents_of(group, 2, IncidentKind.CANNOT_APPLY)
    assert incident.position == position


async def test_o34_a_record_that_is_damaged_at_all_members_is_left_out_and_the_lane_goes_on(
    members,
):
    await members.own(2, [ONE])
    server = members[1].server
    # The lane has its first snapshot, which would end the incident.
    assert server.broker.shares.compact(FIRST_PROTOCOL_VERSION)
    record = bytearray(server.broker.hot.own_record(*ONE, 99))
    record[-1] ^= 1
    lane = share_state_topic(server.settings.cluster_name)
    appended = server.broker.store.append(lane, 0, bytes(record), b"")
    server.broker.membership.appended()
    followers = [members[number].server.broker.share_incidents for number in (2, 3)]

    await eventually(lambda: all(named(one) for one in followers))

    expected = [(IncidentKind.RECORD_LEFT_OUT, appended.log_position)]
    assert [named(one) for one in followers] == [expected, expected]
    assert not any(one.is_disabled for one in followers)
    # The record had no effect anywhere: the owner serves on.
    sent = await members.send(1, 2)
    (found,) = await pop(await members[2].consume(), TOPIC, CONSUMERS)
    assert found.body == sent[0]
    assert await ack(members[3].client, found, CONSUMERS) == 0
    await members.await_equal_states()

    assert server.broker.shares.compact(FIRST_PROTOCOL_VERSION)

    # The state does not depend on the record any more.
    await eventually(lambda: not any(named(one) for one in followers))
    await members.await_equal_states()


def named(incidents):
    """List the lasting incidents that a member has."""
    return list(incidents._lasting)


@pytest.fixture
async def members(group):
    """Three members in this process, all in sync."""
    async with AsyncExitStack() as stack:
        members = Members(group, stack)
        for broker_id in (1, 2, 3):
            await members.start(broker_id)
        await members.begin(master=1)
        yield members
