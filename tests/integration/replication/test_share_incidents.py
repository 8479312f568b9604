"""Members of a broker group that can't store or apply records of share queues (4.12)."""

import os

from backend.clients.clock import SystemClock
from backend.domain.share_incident import (
    IncidentFilter,
    IncidentOutcome,
    IncidentResolution,
)
from backend.rules.share_incident import IncidentKind
from backend.services.share_queue.incidents import judge_incidents, list_incidents
from tests.integration.broker.popping import ack, bodies
from tests.integration.replication.popping import consumer, send_many
from tests.integration.replication.sharing import (
    await_mode,
    own,
    owner_of,
    receive,
    share,
)
from tests.waiting import eventually


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
