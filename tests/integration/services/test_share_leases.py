"""Leases of share queues in Postgres: every process decides, and a changed row is not written."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from sqlalchemy import text

from backend.db import share_leases
from backend.db.pipeline import pipeline_of
from backend.domain.errors import (
    BrokerGroupNotControlled,
    BrokerProcessUnknown,
    InvalidName,
    ShareSuccessorNotInSync,
)
from backend.domain.share_lease import (
    HeldLease,
    LeaseHeartbeat,
    LeaseState,
    Member,
    ShareLease,
    Wish,
)
from backend.domain.share_queue import ShareQueueName
from backend.services.controller.replica_reports import (
    forget_replica_reports,
    record_replica_reports,
)
from backend.services.share_queue.leases import arbitrate_leases, hand_over_leases
from tests.pools import opened_database

pytestmark = pytest.mark.usefixtures("group")
SQ = ShareQueueName("orders", 0, "billing")
MANY = [ShareQueueName("orders", queue_id, "billing") for queue_id in range(1_000)]


@pytest.fixture
async def group(drive):
    """Make the group g of the cluster c: master 1, and 1, 2 and 3 in its set."""
    controller = drive()
    await controller.make_f3()
    return controller


@pytest.fixture
async def other_database(database_url):
    """Give the pool of another process of the control plane."""
    async with opened_database(database_url, application_name="other") as database:
        yield database


def beat(database, broker_id, *, held=(), wanted=(), released=(), life=1, has_messages=True):
    heartbeat = LeaseHeartbeat(
        Member(broker_id, life),
        {name: HeldLease(epoch, has_messages) for name, epoch in dict(held).items()},
        {name: Wish(0, has_messages) for name in wanted},
        dict(released),
    )
    return arbitrate_leases(heartbeat, "c", "g", database=database)


async def row_of(database):
    held = await share_leases.find(pipeline_of(database), "c", "g", 1, [SQ])
    return held.leases[SQ]


def reporter(group, database):
    """Return what records the heartbeat of a process of a broker at one control plane process."""
    report = group.controller.heartbeat_source.reports_of("c", "g")[2]

    async def hear(broker_id, life, heard_by):
        key = ("c", "g", broker_id)
        told = {key: replace(report, life=life, timeout_ms=60_000, age_ms=0)}
        await record_replica_reports(told, lease_asked={}, heard_by=heard_by, database=database)

    return hear


async def scalar(database, statement):
    async with database.connect() as connection:
        return await connection.scalar(text(statement))


async def let_pass(database, seconds):
    """Set all instants of the leases back, as if the time had passed."""
    statement = text("""
UPDATE share_leases
   SET ends_at = ends_at - make_interval(secs => :s),
       slice_ends_at = slice_ends_at - make_interval(secs => :s),
       waiters = (SELECT coalesce(jsonb_agg(jsonb_set(one, '{until}', to_jsonb(
                             CAST(one ->> 'until' AS timestamptz) - make_interval(secs => :s)))
                             ORDER BY place), '[]')
                    FROM jsonb_array_elements(waiters) WITH ORDINALITY AS w (one, place))
""")
    async with database.begin() as connection:
        await connection.execute(statement, {"s": seconds})


async def test_o16_the_first_interest_is_granted_and_stored(database):
    decided = await beat(database, 2, wanted=[SQ])

    assert (decided.granted, decided.revoked) == ({SQ: 1}, [])
    stored = await row_of(database)
    assert (stored.epoch, stored.state, stored.owner) == (1, LeaseState.HELD, Member(2, 1))
    assert stored.slice_ends_at is None


async def test_a_sole_owner_keeps_its_lease_and_its_end_is_by_the_clock_of_postgres_o17(
    database,
):
    # O24: so the clock of a member moves no end.
    await beat(database, 2, wanted=[SQ])

    for _ in range(20):
        await let_pass(database, 3)
        before = await scalar(database, "SELECT clock_timestamp()")
        decided = await beat(database, 2, held={SQ: 1})
        after = await scalar(database, "SELECT clock_timestamp()")
        assert (decided.granted, decided.revoked) == ({}, [])

    ends_at = await scalar(database, "SELECT ends_at FROM share_leases")
    assert before <= ends_at - timedelta(seconds=10) <= after


async def test_owners_take_turns_in_the_order_of_their_first_interest_o18(database):
    await beat(database, 1, wanted=[SQ])
    await beat(database, 3, wanted=[SQ])
    await beat(database, 2, wanted=[SQ])
    owner, epoch, owners = 1, 1, []

    for _ in range(6):
        await let_pass(database, 2)
        assert (await beat(database, owner, held={SQ: epoch})).revoked == [SQ]
        assert not (await beat(database, owner, wanted=[SQ], released={SQ: epoch})).granted
        granted = {}
        for broker_id in (1, 2, 3):
            if broker_id != owner:
                decided = await beat(database, broker_id, wanted=[SQ])
                granted |= dict.fromkeys([broker_id] if decided.granted else [])
                epoch = decided.granted.get(SQ, epoch)
        (owner,) = granted
        owners.append(owner)

    assert (owners, epoch) == ([3, 2, 1, 3, 2, 1], 7)


async def test_no_member_gets_an_empty_share_queue_and_the_first_message_ends_the_wait_o20(
    database,
):
    for broker_id in (3, 1, 2):
        await beat(database, broker_id, wanted=[SQ], has_messages=False)

    assert (await row_of(database)).epoch == 0
    assert [one.broker_id for one in (await row_of(database)).waiters] == [3, 1, 2]
    assert (await beat(database, 3, wanted=[SQ])).granted == {SQ: 1}


async def test_after_an_absence_of_the_control_plane_the_epoch_of_the_sequencer_is_adopted_o25(
    database,
):
    await beat(database, 2, wanted=[SQ])
    await let_pass(database, 60)

    decided = await beat(database, 1, held={SQ: 2})

    assert (decided.granted, decided.revoked) == ({}, [])
    assert (await row_of(database)).is_owned_by(Member(1, 1), 2)
    assert (await beat(database, 2, held={SQ: 1})).revoked == [SQ]


async def test_only_the_master_may_have_taken_an_epoch_by_itself_o25(database):
    await beat(database, 2, wanted=[SQ])

    assert (await beat(database, 3, held={SQ: 2})).revoked == [SQ]

    assert await row_of(database) == ShareLease(epoch=2)


async def test_a_repeated_request_is_answered_alike_by_another_process_o26(
    database, other_database
):
    first = await beat(database, 2, wanted=[SQ])
    again = await beat(other_database, 2, wanted=[SQ])

    assert first.granted == again.granted == {SQ: 1}


async def test_of_two_processes_with_the_same_state_one_writes_o27(database, other_database, group):
    owned = ShareLease().granted(Member(1, 1), 1, group.controller.clock.now())
    for lease in (owned, owned.freed()):
        one = await share_leases.find(pipeline_of(database), "c", "g", 1, [SQ])
        other = await share_leases.find(pipeline_of(other_database), "c", "g", 2, [SQ])

        assert await share_leases.write(pipeline_of(database), one, {SQ: lease})
        assert not await share_leases.write(
            pipeline_of(other_database), other, {SQ: ShareLease(epoch=9)}
        )
        assert await row_of(database) == lease


async def test_members_at_two_processes_at_once_get_one_owner_for_each_share_queue_o27(
    database, other_database
):
    names = MANY[:50]

    decided = await asyncio.gather(
        *(
            beat(source, broker_id, wanted=names)
            for source in (database, other_database)
            for broker_id in (1, 2, 3)
        )
    )

    owners = {
        (name, broker_id)
        for one, broker_id in zip(decided, (1, 2, 3, 1, 2, 3), strict=True)
        for name in one.granted
    }
    assert len(owners) == len({name for name, _ in owners}) == len(names)
    assert {epoch for one in decided for epoch in one.granted.values()} == {1}


async def test_a_heartbeat_with_many_share_queues_is_two_statements(database, monkeypatch):
    pipeline = pipeline_of(database)
    sent = []
    fetch = pipeline.fetch

    def noted(statement, values):
        if statement.name != b"notify":
            sent.append(statement.name)
        return fetch(statement, values)

    monkeypatch.setattr(pipeline, "fetch", noted)

    granted = (await beat(database, 2, wanted=MANY)).granted
    renewed = await beat(database, 2, held=granted)

    assert set(granted.values()) == {1}
    assert len(granted) == len(MANY)
    assert (renewed.granted, renewed.revoked) == ({}, [])
    assert sent == [b"read_share_leases", b"write_share_leases"] * 2


async def test_a_group_without_a_controller_has_no_leases(database):
    heartbeat = LeaseHeartbeat(Member(1, 1), {}, {}, {})

    with pytest.raises(BrokerGroupNotControlled):
        await arbitrate_leases(heartbeat, "c", "unknown", database=database)


@pytest.mark.parametrize("name", [ShareQueueName("a b", 0, "g"), ShareQueueName("t", 0, "")])
async def test_an_invalid_name_is_refused(database, name):
    with pytest.raises(InvalidName):
        await beat(database, 1, wanted=[name])


async def test_q90_the_end_of_a_session_frees_the_leases_and_the_places_of_its_broker(
    database, group
):
    hear, heard_by = reporter(group, database), uuid4()
    for broker_id in (1, 2, 3):
        await hear(broker_id, 1, heard_by)
    await beat(database, 2, wanted=[SQ])
    await beat(database, 3, wanted=[SQ])
    await beat(database, 1, wanted=[SQ])

    await forget_replica_reports(
        [("c", "g", 2), ("c", "g", 3)], heard_by=heard_by, database=database
    )

    freed = await row_of(database)
    assert (freed.owner, freed.epoch) == (None, 1)
    assert [one.broker_id for one in freed.waiters] == [1]
    assert (await beat(database, 1, wanted=[SQ])).granted == {SQ: 2}


async def test_a_broker_that_another_process_hears_keeps_its_leases_q90(database, group):
    hear, first, second = reporter(group, database), uuid4(), uuid4()
    await hear(2, 1, first)
    await hear(2, 1, second)
    await beat(database, 2, wanted=[SQ])

    await forget_replica_reports([("c", "g", 2)], heard_by=first, database=database)

    assert (await row_of(database)).is_owned_by(Member(2, 1), 1)


async def test_a_late_heartbeat_of_a_former_process_changes_nothing(database, group):
    hear = reporter(group, database)
    await beat(database, 2, wanted=[SQ], life=7)
    await hear(2, 8, uuid4())
    granted = await beat(database, 2, wanted=[SQ], life=8)

    with pytest.raises(BrokerProcessUnknown):
        await beat(database, 2, released={SQ: 1}, life=7)

    assert granted.granted == {SQ: 2}
    assert (await row_of(database)).is_owned_by(Member(2, 8), 2)


async def test_o30_a_hand_over_revokes_and_grants_to_the_named_member(database):
    await beat(database, 1, wanted=[SQ])
    await beat(database, 3, wanted=[SQ])

    await hand_over_leases([SQ, MANY[5]], "c", "g", 2, database=database)

    assert (await beat(database, 1, held={SQ: 1})).revoked == [SQ]
    await beat(database, 1, released={SQ: 1})
    assert (await beat(database, 3, wanted=[SQ])).granted == {}
    assert (await beat(database, 2)).granted == {SQ: 2}


async def test_a_hand_over_to_a_member_that_is_not_in_sync_changes_nothing(database):
    await beat(database, 1, wanted=[SQ])
    before = await row_of(database)

    with pytest.raises(ShareSuccessorNotInSync):
        await hand_over_leases([SQ], "c", "g", 9, database=database)
    with pytest.raises(BrokerGroupNotControlled):
        await hand_over_leases([SQ], "c", "unknown", 2, database=database)

    assert await row_of(database) == before
