"""Members whose wall clocks jump while they share queues by leases of the control plane (O24)."""

from contextlib import AsyncExitStack

import pytest

from backend.domain.share_queue import ShareQueueName
from tests.integration.broker.hand_clock import HandClock
from tests.integration.broker.popping import ack
from tests.integration.replication.share_members import CONSUMERS, NAMES, Members
from tests.integration.replication.sharing import lease_of, receive
from tests.waiting import eventually

HOUR_MS = 3_600_000
MASTER, OWNER, THIRD = 1, 2, 3
LEASES = [ShareQueueName(*name) for name in NAMES]
RENEWALS = 4


@pytest.fixture
async def clocked(group):
    """Give three members in this process with leases of the control plane, and their clocks."""
    async with AsyncExitStack() as stack:
        members, clocks = Members(group, stack), {}
        for broker_id in (MASTER, OWNER, THIRD):
            clocks[broker_id] = HandClock()
            await members.start(broker_id, clock=clocks[broker_id], is_led_by_test=False)
            if broker_id == MASTER:
                # Of several brokers the first that asks is elected.
                await members.await_set(MASTER, {MASTER})
        await members.begin(master=MASTER)
        yield members, clocks


def owners(members):
    """Give the members that hand out messages of each share queue."""
    return [
        [broker_id for broker_id, one in members.members.items() if one.shares.hands_out(name)]
        for name in NAMES
    ]


@pytest.mark.parametrize("step_ms", [HOUR_MS, -HOUR_MS])
async def test_o24_a_wall_clock_that_jumps_makes_no_second_owner(clocked, group, step_ms):
    # Q18: leases end by clocks that are never set, and by that of Postgres. Deliveries end by the
    # wall clock. The engine's does not jump here, so a delivery of the agent may end at once.
    members, clocks = clocked
    await members.send(MASTER, 4)
    consumer = await members[OWNER].consume()
    found = {one.body: one for one in await receive(consumer, 4)}
    await eventually(lambda: owners(members) == [[OWNER], [OWNER]])
    epochs = [(await lease_of(group, name)).epoch for name in LEASES]

    for broker_id in (OWNER, MASTER, THIRD):
        clocks[broker_id].ahead_ms = step_ms
        ends = {(await lease_of(group, name)).ends_at for name in LEASES}

        async def is_renewed(ends=ends):
            assert owners(members) == [[OWNER], [OWNER]]
            ends |= {(await lease_of(group, name)).ends_at for name in LEASES}
            return len(ends) >= RENEWALS

        await eventually(is_renewed)
        more = await members.send(MASTER, 2, start=10 * broker_id)
        while not found.keys() >= set(more):
            found |= {one.body: one for one in await receive(consumer, 1)}

    assert [(await lease_of(group, name)).epoch for name in LEASES] == epochs
    assert {await ack(consumer, one, CONSUMERS) for one in found.values()} == {0}
