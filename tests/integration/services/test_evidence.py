"""What masters report as confirmed is kept, decides elections, and outlives the group (D27)."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from backend.db import findings
from backend.domain.adoption import EPOCHS_SKIPPED
from backend.domain.election import Ballot, ReplicaReport
from backend.domain.errors import AdoptionRefused, ElectionFailed
from backend.domain.finding import FindingCode, observe
from backend.domain.health import RETURNS_WITHIN
from backend.domain.operation import Author, Confirmation, OperationState
from backend.domain.plan import CheckVerdict, Risk
from backend.domain.replica_group import UNKNOWN_POSITION, ChangeKind, ConfirmedEnd
from backend.operations.actions import replica_groups as actions
from backend.operations.engine import orders
from backend.operations.engine.engine import run_operation
from backend.operations.engine.kind import OperationContext, OperationRequest
from backend.services.controller import elections
from backend.services.controller.replica_reports import forget_replica_reports
from tests.integration.operations.crashing import World
from tests.integration.services.controller_driver import NAME
from tests.integration.services.test_adoptions import adopt, claim

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = {i: ("c", "g", i) for i in (1, 2, 3)}
END = {"epoch": 1, "max_offset": 100, "confirm_offset": 100, "confirm_epoch": 1}


async def report(driver, database, **told):
    """Have the master's heartbeat written, with the lease that it asks for, before it dies."""
    granted = await driver.record(database, KEYS[1], lease=[KEYS[1]], **(END | told))
    await forget_replica_reports([KEYS[1]], heard_by=driver.heartbeat_source.id, database=database)
    return granted


def hear(driver, **logs):
    driver.heartbeat_source.heard = {
        int(key[1:]): ReplicaReport(0, 10_000, epoch=epoch, max_offset=end)
        for key, (epoch, end) in logs.items()
    }


async def elect(driver, broker_id=None, *, accepts_loss=False):
    ballot = Ballot(broker_id, is_designated=broker_id is not None, accepts_loss=accepts_loss)
    return await elections.elect(elections.ElectionRequest(NAME, ballot, "test"), driver.controller)


async def test_a_master_that_asks_for_its_lease_reports_what_is_confirmed(drive, database):
    one = drive()
    await one.make_f3()

    await report(one, database)

    assert (await one.group()).confirmed == ConfirmedEnd(1, 100)
    # It only rises, whatever a later heartbeat says.
    await report(one, database, confirm_offset=40)
    assert (await one.group()).confirmed == ConfirmedEnd(1, 100)
    await report(one, database, confirm_offset=140)
    assert (await one.group()).confirmed == ConfirmedEnd(1, 140)


@pytest.mark.parametrize("told", [{"confirm_offset": -1}, {"epoch": 0}, {"epoch": 2}])
async def test_a_forbidden_report_is_not_kept(drive, database, told):
    one = drive()
    await one.make_f3()

    await report(one, database, **told)

    assert not (await one.group()).confirmed.is_known


async def test_who_asks_for_no_lease_reports_nothing(drive, database):
    """A master of stock calls confirmed what members of its set may lack."""
    one = drive()
    await one.make_f3()

    await one.record(database, KEYS[1], **END)
    await one.record(database, KEYS[2], lease=[KEYS[2]], **END)  # no master

    assert not (await one.group()).confirmed.is_known


async def test_a_process_that_read_nothing_before_elects_by_what_another_one_wrote(drive, database):
    # Case A1.
    one, other = drive(), drive()
    await one.make_f3()
    await report(one, database)
    one.hear()

    hear(other, b2=(1, 50))

    assert (await other.replace_lost()).group.is_master_lost
    with pytest.raises(ElectionFailed, match="2 lacks messages that were confirmed"):
        await elect(other, 2)
    hear(other, b2=(1, 50), b3=(1, 100))
    assert (await other.replace_lost()).group.master_id == 3


async def test_an_election_in_a_known_group_sees_evidence_that_came_since(drive, database):
    # Case A1: the group was read before the heartbeat, and nothing changed it since.
    one, other = drive(), drive()
    await one.make_f3()
    await report(other, database)
    hear(one, b2=(1, 50))

    assert (await one.replace_lost()).change.kind is ChangeKind.MASTER_LOST


async def test_learners_are_read_as_such(drive, database):
    one, other = drive(), drive()
    await one.make_f3()

    await other.record(database, KEYS[3], is_learner=True, life=2**62, refused_cut=7)

    read = (await drive().view()).liveness.reports[3]
    assert (read.is_learner, read.life, read.refused_cut) == (True, 2**62, 7)


async def test_a_member_that_just_joined_is_elected_before_it_speaks_again(drive, database):
    one = drive()
    await one.make_f3()
    one.heartbeat_source.heard = {
        i: ReplicaReport(0, 10_000, epoch=1, max_offset=10, life=100 + i) for i in (1, 2, 3)
    }
    await one.alter({1}, epoch=2)
    await one.alter({1, 2}, epoch=3)
    await report(drive(), database)
    del one.heartbeat_source.heard[1]

    view = await one.replace_lost()

    assert (view.group.master_id, view.group.sync_state_set.lives) == (2, {2: 102})
    # In another process it would have to hold what its master confirmed.
    assert (await drive().group()).sync_state_set.lives == {2: 102}


async def test_an_accepted_loss_is_written_with_the_election(drive, database):
    # Case A1.
    one = drive()
    await one.make_f3()
    await report(one, database)
    hear(one, b2=(1, 50))
    with pytest.raises(ElectionFailed):
        await elect(one, 2)

    await elect(one, 2, accepts_loss=True)

    group = await drive().group()
    assert (group.master_id, group.master_epoch, group.loss_epoch) == (2, 2, 2)
    assert group.confirmed == ConfirmedEnd(1, 50)


async def test_the_plan_names_what_is_lost_and_only_the_acceptance_elects(
    drive, database, monkeypatch
):
    # Case A1.
    monkeypatch.setattr(actions, "FOLLOW_PATIENCE_S", 0)
    one, world = drive(), World(database)
    await one.make_f3()
    await report(one, database)
    hear(one, b2=(1, 58))
    context = OperationContext(database, world.clock, world.queue, one.controller)
    anna = Author("anna", "test")

    async def plan(**more):
        parameters = {"cluster_name": "c", "broker_group_name": "g", **more}
        request = OperationRequest("elect_master", parameters)
        return await orders.plan_operation(request, anna, context)

    refused = (await plan()).plan.checks[0]
    assert refused.verdict is CheckVerdict.BLOCK
    assert "broker 2 lacks 42 bytes" in refused.why
    assert "regent controller elect g --accept-loss" in refused.why
    accepted = await plan(accepts_loss=True)
    assert accepted.plan.risk is Risk.LOSS
    assert "42 bytes of confirmed log, up to log position 100 of epoch 1" in accepted.plan.loss
    await orders.confirm_operation(
        accepted.id, Confirmation("g", "why", accepts_loss=True), anna, context
    )
    world.clock.advance(minutes=1)  # what may lose something waits a while before it begins
    await run_operation(accepted.id, context)

    found = await orders.describe_operation(accepted.id, context)
    assert found.state in {OperationState.DONE, OperationState.PARTLY, OperationState.UNKNOWN}
    assert (await one.group()).master_id == 2


async def test_the_plan_of_a_preference_says_what_the_preferred_one_lacks(drive, database):
    # Case A1.
    one, world = drive(), World(database)
    await one.make_f3()
    await report(one, database)
    hear(one, b2=(1, 50), b3=(1, 100))
    context = OperationContext(database, world.clock, world.queue, one.controller)

    async def check(broker_id):
        parameters = {"cluster_name": "c", "broker_group_name": "g", "broker_id": broker_id}
        request = OperationRequest("prefer_master", parameters)
        planned = await orders.plan_operation(request, Author("anna", "test"), context)
        return planned.plan.checks[0]

    lacking, whole = await check(2), await check(3)

    assert lacking.verdict is CheckVerdict.WARN
    assert "broker 2 lacks confirmed messages" in lacking.why
    assert whole.verdict is CheckVerdict.PASS


@pytest.mark.parametrize("accepts_loss", [False, True])
async def test_a_group_that_was_forgotten_is_not_adopted_with_less_unseen(
    drive, database, accepts_loss
):
    # Case A1: forget the group, adopt the broker that was put back.
    one = drive()
    await one.make_f3()
    await report(one, database)
    one.hear()
    await one.clean(living=True)
    await claim(one, 1, epoch=1, max_offset=50)

    order = {"expected_epoch": 0, "accepts_loss": accepts_loss}
    if not accepts_loss:
        with pytest.raises(AdoptionRefused, match="broker 1 lacks 50 bytes of what was confirmed"):
            await adopt(one, 1, **order)
        return
    await adopt(one, 1, **order)

    group = await one.group()
    # No later election asks for an epoch that may begin behind the end of that log.
    assert group.confirmed == ConfirmedEnd(UNKNOWN_POSITION, 50)
    hear(one, b1=(1, 50))
    elected = (await one.replace_lost()).group
    assert (elected.master_id, elected.loss_epoch) == (1, 1 + EPOCHS_SKIPPED + 1)


async def test_a_forgotten_group_comes_back_with_its_evidence(drive, database):
    one = drive()
    await one.make_f3()
    await report(one, database)
    one.hear()
    await one.clean(living=True)
    await claim(one, 1, epoch=1, max_offset=120)

    await adopt(one, 1)

    assert (await one.group()).confirmed == ConfirmedEnd(1, 100)


async def test_an_emptied_broker_is_not_adopted_as_master_unseen(drive):
    # Case A2.
    one = drive()
    await claim(one, 1, epoch=5, max_offset=900, is_verified=False)

    with pytest.raises(AdoptionRefused, match="may lack its end"):
        await adopt(one, 1)


async def test_a_member_with_less_is_a_finding_that_names_it(drive, database):
    # Case A2.
    one = drive()
    await one.make_f3()
    await report(one, database)
    await one.record(database, KEYS[2], epoch=-1, max_offset=0, is_verified=False)

    async with database.connect() as connection:
        [seen] = await findings.list_observed(connection)

    assert seen.confirmed == ConfirmedEnd(1, 100)
    assert not seen.holds_confirmed(2)
    observation = observe([seen], [], [], looking_since=NOW - RETURNS_WITHIN, at=NOW)
    named = {(key.code, key.subject) for key in observation.suspicions}
    assert (FindingCode.REPLICA_LOST_CONFIRMED, "g-2") in named


async def test_a_group_whose_master_came_back_with_less_is_masterless(drive, database):
    # Case A1: no broker may rely on it, so the scan that looks for such groups finds it.
    one = drive()
    await one.make_f3()
    await report(one, database)
    await one.record(database, KEYS[1], KEYS[2], epoch=1, max_offset=50)
    assert not await elections.list_masterless(one.controller, listened_ms=0)
    async with database.begin() as connection:
        await connection.execute(text("UPDATE replica_groups SET is_master_lost = TRUE"))

    found = await elections.list_masterless(one.controller, listened_ms=0)

    assert [(g.cluster_name, g.broker_group_name) for g in found] == [("c", "g")]
