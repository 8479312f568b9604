"""Roles change one after the other, forward only, and never by halves."""

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from workers.broker.replication.controller_client import ReplicaGroupState
from workers.broker.replication.roles import Role, RoleKeeper, Verdict
from workers.broker.replication.sync_state import SyncStateSet

OWN, OTHER = 1, 2


@dataclass
class Actor:
    """Records its calls; fails as often as the test chooses."""

    acts: list = field(default_factory=list)
    failures: int = 0
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self):
        self.gate.set()

    def suspend(self):
        self.acts.append("suspend")

    async def become_master(self, state):
        await self._act("master", state)

    async def become_replica(self, state):
        await self._act("replica", state)

    def take_first_lease(self, state):
        self.acts.append(("lease", state.epoch, state.lease_ms))

    def install(self, committed):
        self.acts.append(("set", committed.epoch))

    async def _act(self, name, state):
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise OSError("the disk refused")
        self.acts.append((name, state.epoch))


def answer(master_id, epoch, *, set_epoch=1):
    address = None if master_id is None else f"10.0.0.{master_id}:10911"
    return ReplicaGroupState(master_id, address, epoch, SyncStateSet(frozenset({1, 2}), set_epoch))


@pytest.fixture
async def actor():
    return Actor()


@pytest.fixture
async def keeper(actor):
    keeper = RoleKeeper(OWN, actor, known_epoch=3, retry_s=0.001)
    task = asyncio.create_task(keeper.run())
    yield keeper
    task.cancel()


async def test_an_elected_broker_becomes_master_and_another_makes_it_a_replica(
    keeper, actor, eventually
):  # S38
    assert keeper.take(answer(OWN, 4)) is Verdict.TAKEN
    await eventually(lambda: keeper.role is Role.MASTER)

    keeper.take(answer(OTHER, 5))

    assert keeper.role is Role.NONE
    await eventually(lambda: keeper.role is Role.REPLICA)
    assert actor.acts == ["suspend", ("master", 4), "suspend", ("replica", 5)]


async def test_a_repeated_or_late_answer_changes_nothing(keeper, actor, eventually):  # S69
    keeper.take(answer(OTHER, 5))
    await eventually(lambda: keeper.role is Role.REPLICA)

    assert keeper.take(answer(OTHER, 5)) is Verdict.TAKEN
    assert keeper.take(answer(OWN, 4)) is Verdict.IGNORED

    assert actor.acts == ["suspend", ("replica", 5)]


async def test_a_notice_after_a_poll_brings_the_lease_of_the_election(keeper, actor, eventually):
    keeper.take(answer(OWN, 4))
    await eventually(lambda: keeper.role is Role.MASTER)
    actor.acts.clear()

    keeper.take(replace(answer(OWN, 4), lease_ms=3000))

    assert ("lease", 4, 3000) in actor.acts


async def test_a_notice_before_the_epoch_is_served_brings_its_lease_too(keeper, actor, eventually):
    actor.gate.clear()
    keeper.take(answer(OWN, 4))

    keeper.take(replace(answer(OWN, 4), lease_ms=3000))

    assert ("lease", 4, 3000) in actor.acts
    actor.gate.set()
    await eventually(lambda: keeper.role is Role.MASTER)


async def test_a_poll_heals_a_lost_notice(keeper, actor, eventually):  # S68
    keeper.take(answer(OTHER, 4))
    await eventually(lambda: keeper.role is Role.REPLICA)

    keeper.take(answer(OTHER, 6))

    await eventually(lambda: ("replica", 6) in actor.acts)


async def test_a_master_takes_over_the_set_of_its_epoch(keeper, actor, eventually):
    keeper.take(answer(OWN, 4))
    await eventually(lambda: keeper.role is Role.MASTER)

    keeper.take(answer(OWN, 4, set_epoch=9))

    assert actor.acts[-1] == ("set", 9)


async def test_an_epoch_served_before_a_restart_is_not_resumed(keeper, actor):  # S71, by D11
    assert keeper.take(answer(OWN, 3)) is Verdict.NEEDS_ELECTION

    assert keeper.role is Role.NONE
    assert actor.acts == []


async def test_a_returned_master_follows_its_successor_in_the_epoch_it_knows(
    keeper, actor, eventually
):  # S70
    keeper.take(answer(OTHER, 3))

    await eventually(lambda: keeper.role is Role.REPLICA)
    assert actor.acts == ["suspend", ("replica", 3)]


async def test_a_group_without_a_master_needs_an_election(keeper):
    assert keeper.take(answer(None, 4)) is Verdict.NEEDS_ELECTION


async def test_a_controller_that_forgot_epochs_is_not_followed(keeper, eventually):  # S28
    assert keeper.take(answer(OTHER, 2)) is Verdict.IGNORED
    keeper.take(answer(OWN, 4))
    await eventually(lambda: keeper.role is Role.MASTER)

    assert keeper.take(answer(OTHER, 1)) is Verdict.IGNORED
    assert keeper.take(answer(None, 0)) is Verdict.IGNORED

    assert (keeper.role, keeper.epoch) == (Role.MASTER, 4)


async def test_a_step_that_fails_is_tried_again_and_no_role_is_taken_meanwhile(
    keeper, actor, eventually
):
    actor.failures = 3

    keeper.take(answer(OWN, 4))

    await eventually(lambda: keeper.role is Role.MASTER)
    assert actor.acts == ["suspend", ("master", 4)]
    assert keeper.epoch == 4


async def test_a_newer_epoch_overtakes_a_step_under_way(keeper, actor, eventually):
    actor.gate.clear()
    keeper.take(answer(OWN, 4))
    await asyncio.sleep(0)

    keeper.take(answer(OTHER, 5))
    actor.gate.set()

    await eventually(lambda: keeper.role is Role.REPLICA)
    # Whatever the overtaken step began is suspended before the next one.
    assert actor.acts[-3:] == [("master", 4), "suspend", ("replica", 5)]
