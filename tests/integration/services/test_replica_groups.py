"""A controller's changes in a real Postgres: kept, carried over, and correct after any race."""

import asyncio

import pytest
from sqlalchemy import select, text

from backend.db.tables import broker_groups, replica_groups
from backend.domain.election import Ballot, ReplicaReport
from backend.domain.errors import (
    BrokerGroupAmbiguous,
    BrokerGroupNotControlled,
    BrokerIdRefused,
    CleanRefused,
    DomainError,
    ElectionFailed,
    InvalidAddress,
    MasterLeaseLive,
    NotTheMaster,
    SyncStateSetEpochFenced,
)
from backend.domain.replica_group import ChangeKind, LeasePolicy, SyncStateSet
from backend.services.controller import elections
from backend.services.controller import replica_groups as service
from backend.services.controller.group_changes import BrokerGroupName
from backend.services.controller.replica_reports import (
    forget_replica_reports,
    record_replica_reports,
)

ALL = frozenset({1, 2, 3})
NAME = BrokerGroupName("g", "c")
KEY_1, KEY_2 = ("c", "g", 1), ("c", "g", 2)


async def kinds(controller):
    changes = await service.list_changes(
        BrokerGroupName("g", "c"), size=50, before=None, controller=controller.controller
    )
    return [change.kind for change in reversed(changes.items)]


async def test_f3_is_as_the_catalogue_says(controller):
    await controller.make_f3()

    group = await controller.group()

    assert (group.master_id, group.master_epoch) == (1, 1)
    assert group.sync_state_set == SyncStateSet(ALL, 2)
    assert await kinds(controller) == [
        *[ChangeKind.BROKER_ID_APPLIED] * 3,
        ChangeKind.MASTER_ELECTED,
        ChangeKind.SYNC_STATE_SET_ALTERED,
    ]


async def test_asking_for_the_next_id_stores_nothing(controller):  # S1
    assert await controller.next_id() == 1

    with pytest.raises(BrokerGroupNotControlled):
        await controller.group()


async def test_what_one_process_changes_every_other_one_knows(drive):  # S2, S4
    one, other = drive(), drive()

    await one.apply(1)
    await other.apply(1)

    assert await other.next_id() == 2
    assert await kinds(other) == [ChangeKind.BROKER_ID_APPLIED]


async def test_master_epochs_and_set_are_the_same_for_every_process(drive):  # S14
    await drive().make_f3()

    group, next_id = await drive().group(), await drive().next_id()

    assert (group.master_id, group.master_epoch, next_id) == (1, 1, 4)
    assert group.sync_state_set == SyncStateSet(ALL, 2)


async def test_two_new_brokers_that_were_given_one_id_end_with_two(drive):  # S6
    one, other = drive(), drive()

    outcomes = await asyncio.gather(
        one.apply(1, "10.0.0.1:1;x"), other.apply(1, "10.0.0.2:1;y"), return_exceptions=True
    )

    refused = [error for error in outcomes if error is not None]
    assert [(type(error), error.next_broker_id) for error in refused] == [(BrokerIdRefused, 2)]
    await one.apply(2, "10.0.0.9:1;z")
    assert sorted((await one.group()).replicas) == [1, 2]


async def test_ten_brokers_at_once_get_ten_ids(drive):
    async def negotiate(number):
        driver = drive()
        while True:
            broker_id = await driver.next_id()
            try:
                await driver.apply(broker_id, f"10.0.1.{number}:1;{number}")
            except BrokerIdRefused:
                continue
            return broker_id

    ids = await asyncio.gather(*(negotiate(number) for number in range(10)))

    assert sorted(ids) == list(range(1, 11))


async def test_a_group_is_of_its_cluster(controller):
    """S13, by D2: stock finds the group by its name alone and would give 2."""
    await controller.apply(1)

    assert await controller.next_id("other") == 1
    await controller.apply(1, cluster="other")
    with pytest.raises(BrokerGroupAmbiguous):
        await controller.view(BrokerGroupName("g"))
    assert (await controller.view(BrokerGroupName("g", "other"))).group.cluster_name == "other"


@pytest.mark.parametrize("code", ["nonsense", "", ";", "10.0.0.1;1", "10.0.0.1:0;1"])
async def test_a_register_code_begins_with_an_address(controller, code):
    command = service.ApplyBrokerId("c", "g", 1, code)

    with pytest.raises(InvalidAddress):
        await service.apply_for_broker_id(command, controller.controller)


async def test_registering_moves_the_address(controller):  # S9, S12, S25
    await controller.make_f3()

    view = await service.register(
        service.RegisterReplica("c", "g", 2, "10.9.9.9:1"), controller.controller
    )

    assert view.group.replicas[2].address == "10.9.9.9:1"
    assert (await controller.group()).replicas[2].register_code == "10.0.0.2:10911;1"
    assert view.group.sync_state_set.members == ALL


async def test_of_two_alterations_from_one_state_one_is_refused_as_late(drive):
    one, other = drive(), drive()
    await one.make_f3()
    other.hear(1, 2, 3)

    outcomes = await asyncio.gather(
        one.alter({1, 2}, epoch=2), other.alter({1, 3}, epoch=2), return_exceptions=True
    )

    errors = [o for o in outcomes if isinstance(o, DomainError)]
    assert [type(error) for error in errors] == [SyncStateSetEpochFenced]
    winner = next(o for o in outcomes if not isinstance(o, DomainError))
    assert (await one.group()).sync_state_set == winner.group.sync_state_set


async def test_many_elections_at_once_are_one(drive):  # I18, D4, Q85
    drivers = [drive() for _ in range(8)]
    await drivers[0].make_f3()
    for driver in drivers:
        driver.hear(2, 3)

    views = await asyncio.gather(*(driver.replace_lost() for driver in drivers))

    assert {view.group.master_epoch for view in views} == {2}
    assert [view.change is not None for view in views].count(True) == 1
    assert (await kinds(drivers[0]))[-1] is ChangeKind.MASTER_ELECTED


async def test_an_election_and_an_alteration_at_once_leave_one_truth(drive):  # targets 6, row 1
    for _ in range(5):
        master, controller = drive(), drive()
        await master.make_f3()
        controller.hear(2, 3)

        altered, elected = await asyncio.gather(
            master.alter({1, 2}, epoch=2), controller.replace_lost(), return_exceptions=True
        )

        group = await master.group()
        assert (group.master_id, group.master_epoch) == (2, 2)
        assert group.sync_state_set.members == {2}
        assert elected.group == group
        assert isinstance(altered, NotTheMaster) or altered.group.master_epoch == 1
        await master.clean(living=True)


async def test_the_master_before_a_failover_is_refused(controller):  # S38
    await controller.make_f3()
    controller.hear(2, 3)
    await controller.replace_lost()

    with pytest.raises(NotTheMaster):
        await controller.alter({1, 2}, epoch=2)


async def test_a_failover_without_a_candidate_is_noted_once_and_changes_no_epoch(controller):
    """S52, S53, S54 by D4: stock clears the master and counts three epochs."""
    await controller.make_f3()
    await controller.alter({1}, epoch=2)
    controller.hear(2, 3)

    for _ in range(3):
        await controller.replace_lost()
    with pytest.raises(ElectionFailed):
        await controller.elect(2)

    group = await controller.group()
    assert (group.master_id, group.master_epoch, group.sync_state_set.epoch) == (1, 1, 3)
    assert (await kinds(controller)).count(ChangeKind.MASTER_LOST) == 1
    controller.hear(1, 2, 3)
    assert (await controller.elect(1)).group.master_epoch == 2


async def test_cleaning_the_last_replica_ends_the_group_and_keeps_its_history(controller):
    await controller.make_f3()  # S75, S76
    controller.hear()

    await controller.clean("1")
    assert await controller.next_id() == 4
    await controller.clean("2;3")

    assert await controller.next_id() == 1
    assert (await kinds(controller))[-2:] == [
        ChangeKind.REPLICAS_REMOVED,
        ChangeKind.GROUP_REMOVED,
    ]


@pytest.mark.parametrize("ids", ["1; 2", "x", "1;", "-1", "1,2"])
async def test_what_is_no_list_of_ids_cleans_nothing(controller, ids):
    await controller.make_f3()
    controller.hear()

    with pytest.raises(CleanRefused):
        await controller.clean(ids)


async def test_a_group_made_again_is_not_taken_for_the_one_before(drive, database):
    one = drive()
    await one.apply(1)
    async with database.connect() as connection:
        before = await connection.scalar(select(replica_groups.c.revision))
    await one.clean(living=True)
    await one.apply(1)

    async with database.connect() as connection:
        assert await connection.scalar(select(replica_groups.c.revision)) > before


async def test_a_group_under_a_controller_says_so(controller, database):  # D16
    async def mode():
        async with database.connect() as connection:
            return await connection.scalar(select(broker_groups.c.mode))

    await controller.apply(1)
    assert await mode() == "controller"

    await controller.clean(living=True)
    assert await mode() == "static"


async def test_postgres_itself_refuses_a_master_outside_its_set(controller, database):  # V4
    await controller.make_f3()

    with pytest.raises(Exception, match="ck_replica_groups_master"):
        async with database.begin() as connection:
            await connection.execute(text("UPDATE replica_groups SET sync_state_set = '{2,3}'"))


async def test_a_clock_that_was_set_back_makes_no_lease_longer(drive, database):  # D9
    one = drive(lease_policy=LeasePolicy.STRICT)
    await one.make_f3()
    async with database.begin() as connection:
        # What is left when the clock goes back by an hour.
        ahead = "UPDATE replica_groups SET lease_expires_at = clock_timestamp() + '1 h'"
        await connection.execute(text(ahead))

    await one.record(database, KEY_1, lease=[KEY_1], epoch=1)

    assert 9_000 < (await one.view()).liveness.lease_left_ms <= 10_000


async def test_only_the_master_of_the_epoch_gets_a_lease(drive, database):  # D9
    one = drive()
    await one.make_f3()

    assert await one.record(database, KEY_1, KEY_2, lease=[KEY_1, KEY_2], epoch=1) == {KEY_1}
    assert await one.record(database, KEY_1, lease=[KEY_1], epoch=0) == set()
    assert 9_000 < (await one.view()).liveness.lease_left_ms <= 10_000


async def test_a_lost_master_that_is_back_does_not_keep_its_successor_off(drive, database):  # D9
    one = drive(lease_policy=LeasePolicy.STRICT)
    await one.make_f3()
    await one.record(database, KEY_1, lease=[KEY_1], epoch=1)
    one.hear()
    assert (await one.replace_lost()).group.is_master_lost

    # It starts again and reports the epoch of its log; broker 2 has more of it.
    assert await one.record(database, KEY_1, lease=[KEY_1], epoch=1) == set()
    one.heartbeat_source.heard |= {2: ReplicaReport(0, 10_000, epoch=1, max_offset=9)}
    with pytest.raises(MasterLeaseLive):
        await one.elect(1)
    given_back = {KEY_1: _released(one.heartbeat_source.heard[1])}
    await record_replica_reports(
        {}, lease_asked=given_back, heard_by=one.heartbeat_source.id, database=database
    )
    assert (await one.elect(1)).group.master_id == 2


async def test_a_strict_lease_prevents_an_election_by_any_process(drive, database):  # D9
    one, other = drive(lease_policy=LeasePolicy.STRICT), drive()
    await one.make_f3()
    await one.record(database, KEY_1, lease=[KEY_1], epoch=1)
    other.hear(2, 3)

    await forget_replica_reports([KEY_1], heard_by=one.heartbeat_source.id, database=database)
    with pytest.raises(MasterLeaseLive):
        await other.replace_lost()
    with pytest.raises(MasterLeaseLive):
        await other.elect(2, designated=True)

    one.heartbeat_source.heard = {1: _released(one.heartbeat_source.heard[1])}
    await record_replica_reports(
        {},
        lease_asked={KEY_1: one.heartbeat_source.heard[1]},
        heard_by=one.heartbeat_source.id,
        database=database,
    )
    assert (await other.replace_lost()).group.master_id == 2


async def test_a_lease_renewed_while_an_election_was_deciding_stops_it(drive, database, eventually):
    """The statement itself looks at the lease again: nothing may slip in between (D9)."""
    one = drive(lease_policy=LeasePolicy.STRICT)
    await one.make_f3()
    one.hear(2, 3)
    async with database.begin() as holder:
        await holder.execute(
            text("UPDATE replica_groups SET lease_expires_at = clock_timestamp() + '9 s'")
        )
        election = asyncio.create_task(one.replace_lost())
        # The election has read the group without the lease and waits for the row.
        waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")

        async def is_waiting():
            async with database.connect() as connection:
                return await connection.scalar(waiting)

        await eventually(is_waiting)
        await holder.commit()

        with pytest.raises(MasterLeaseLive):
            await election


def _released(report):
    return type(report)(0, 0, epoch=report.epoch)


async def test_groups_whose_master_sends_no_heartbeats_are_found(drive, database):  # S63
    one = drive()
    await one.make_f3()

    async def found(listened_ms=60_000):
        return await elections.list_masterless(one.controller, listened_ms=listened_ms)

    assert await found() == []
    await one.record(database, KEY_2)
    assert [group.broker_group_name for group in await found()] == ["g"]
    assert await found(listened_ms=9_999) == []
    await one.record(database, KEY_1)
    assert await found() == []


async def test_a_master_that_a_silent_process_heard_has_another_lease_to_come_back(drive, database):
    # Case A15.
    one, other = drive(), drive()
    await one.make_f3()
    await one.record(database, KEY_2)
    await other.record(database, KEY_1)

    async def age(seconds):
        async with database.begin() as connection:
            await connection.execute(
                text(
                    "UPDATE replica_reports SET heard_at = clock_timestamp()"
                    " - make_interval(secs => :seconds) WHERE broker_id = 1"
                ),
                {"seconds": seconds},
            )

    async def found(driver):
        return await elections.list_masterless(driver.controller, listened_ms=60_000)

    # Its leases last for 10 s.
    await age(15)
    assert await found(one) == []
    assert 1 in (await one.view()).liveness.alive_ids
    # The process that heard it knows better: it listened, and heard nothing.
    assert [group.broker_group_name for group in await found(other)] == ["g"]
    await age(21)
    assert [group.broker_group_name for group in await found(one)] == ["g"]
    assert 1 not in (await one.view()).liveness.alive_ids


async def test_a_broker_that_asks_does_not_replace_a_master_that_was_not_heard_yet(drive, database):
    # Case A15: the control plane began a moment ago, and the replica was the first to speak.
    one = drive()
    await one.make_f3()
    await one.record(database, KEY_2)

    async def ask(listened_ms, broker_id=2):
        evidence = elections.Evidence(listened_ms=listened_ms)
        order = elections.ElectionRequest(NAME, Ballot(broker_id), "test", evidence=evidence)
        return await elections.elect(order, one.controller)

    with pytest.raises(MasterLeaseLive) as refused:
        await ask(4_000)
    assert refused.value.left_ms == 6_000
    assert (await one.group()).master_id == 1
    assert (await ask(10_000)).group.master_id == 2
    # Who is master already needs no evidence.
    assert (await ask(0)).change is None
