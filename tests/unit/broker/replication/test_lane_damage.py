"""A master whose share queues are damaged: it leaves its group once another member leads or may."""

from types import SimpleNamespace

import pytest
from regent_engine import StoreError

from backend.rules.share_incident import IncidentKind
from workers.broker.replication.controlled import Controlled
from workers.broker.replication.master_role import MasterRole

POSITION = 4_096


@pytest.fixture
def master():
    """The parts of a member that was elected, and can't read a record of share queues."""
    done = []

    def lead(_epoch):
        error = StoreError("the checksum of the body differs")
        error.position = POSITION
        raise error

    async def give_up_local_log(_epoch):
        pass

    broker = SimpleNamespace(
        local_log=SimpleNamespace(follow=give_up_local_log),
        shares=SimpleNamespace(lead=lead, stand_down=lambda: done.append("stands down")),
        share_incidents=SimpleNamespace(open=lambda kind, at, _why: done.append((kind, at))),
        copy_damaged=lambda at, _why: done.append(("leaves", at)),
        member_shares=SimpleNamespace(follow=lambda: None),
    )
    master = SimpleNamespace(_broker=broker, _lane_damage=None, is_leaving=False, done=done)
    master.leave_if_damaged = lambda: MasterRole.leave_if_damaged(master)
    MasterRole._lead_shares(master, SimpleNamespace(epoch=2))
    return master


async def follow(master):
    async def begin(_own_id, _state):
        pass

    member = SimpleNamespace(
        master=master,
        own_id=1,
        replica=SimpleNamespace(begin=begin),
        _broker=master._broker,
        _announce=lambda _broker_id, _epoch: None,
    )
    await Controlled.become_replica(member, SimpleNamespace(epoch=3))


async def test_it_serves_everything_else_until_another_member_leads_o33(master):
    assert master.done == ["stands down", (IncidentKind.CANNOT_APPLY, POSITION)]

    await follow(master)
    await follow(master)

    assert master.done[2:] == [("leaves", POSITION)]


async def test_a_member_that_stops_does_not_start_again_for_a_damaged_record(master):
    master.is_leaving = True

    master.leave_if_damaged()

    assert master.done[2:] == []


async def test_an_error_without_a_damaged_record_fails_the_change_of_the_role(master):
    def lead(_epoch):
        error = StoreError("the store is closed")
        error.position = None
        raise error

    master._broker.shares.lead = lead

    with pytest.raises(StoreError):
        MasterRole._lead_shares(master, SimpleNamespace(epoch=3))
