"""The tables of static topics: what they hold, what they refuse, and who may write them."""

import asyncio
from dataclasses import replace
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from backend.clients.clock import SystemClock
from backend.db import logical_queues
from backend.domain.logical_queue.change import (
    ChangeState,
    decide,
    roll_back,
    with_activated,
    with_prepared,
    with_sealed,
    with_spread,
    with_unsealed,
)
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.errors import (
    QueueChangeRefused,
    QueueMappingMoved,
    StaticTopicExists,
    StaticTopicNotFound,
)
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.planning import plan_creation, plan_deletion, plan_shrink
from backend.services.logical_queue.changes import advance_change, begin_change, begin_creation
from tests.unit.domain.logical_queue.builders import NOW, created, groups, segment, topic

C = "c"
CLOCK = SystemClock()
FAR = 2**62
ANOTHER = "INSERT INTO logical_queue_segments SELECT topic_id, global_id, 1, broker_group_name,"
PLAIN = ", false, false FROM logical_queue_segments"


class Truth:
    """The tables, and the transactions of changes."""

    def __init__(self, database):
        self.database = database

    async def read(self):
        async with self.database.connect() as connection:
            return await logical_queues.find(connection, C, "T")

    async def write(self, mapping, *, cluster=C):
        async with self.database.begin() as connection:
            await logical_queues.add(connection, cluster, mapping, at=CLOCK.now())

    async def begin(self, plan, change_id=None):
        change_id = change_id or uuid4()
        stores = {"database": self.database, "clock": CLOCK}
        return change_id, await begin_change(change_id, C, "T", plan, **stores)

    async def advance(self, change_id, step, *values):
        return await advance_change(
            change_id,
            C,
            "T",
            lambda change: step(change, *values),
            database=self.database,
            clock=CLOCK,
        )

    async def execute(self, sql):
        async with self.database.begin() as connection:
            await connection.execute(text(sql))


@pytest.fixture
def truth(database):
    return Truth(database)


def moving(*global_ids, source="b1", destination="b2", now_ms=NOW):
    def plan(mapping):
        moves = [Relocation(one, source, destination) for one in global_ids]
        return plan_moves(mapping, moves, groups=groups("b1", "b2"), now_ms=now_ms)

    return plan


def full_topic():
    """A topic with all that a mapping can hold: a chain, an open segment, reuse, an ended queue."""
    chain = [
        segment(0, "b1:q0", end=101, first_stored_ms=5, last_stored_ms=9),
        segment(1, "b2:q0", logical=101, end=100),
        segment(2, "b1:q2", logical=201, start=7),
    ]
    forced = [segment(3, "b2:q1"), segment(4, "b1:q1", logical=FAR)]
    sealed = [segment(0, "b2:q2", end=4)]
    made = topic(chain, forced, sealed, epoch=FAR, reused={("b1", 2): 7}, sealed_ids={2})
    return replace(made, forced=frozenset({(1, 3)}), sealed_ids=frozenset({2}))


async def test_a_mapping_is_read_as_it_was_written(truth):
    mapping = full_topic()

    await truth.write(mapping)

    found = await truth.read()
    assert (found.mapping, found.unfinished) == (mapping, None)


async def test_a_topic_that_is_not_there_is_named(database):
    async with database.connect() as connection:
        with pytest.raises(StaticTopicNotFound, match="'T'"):
            await logical_queues.get(connection, C, "T")


async def test_a_global_topic_exists_once_in_all_clusters(truth):
    await truth.write(created(2, "b1"))

    with pytest.raises(StaticTopicExists):
        await truth.write(created(2, "b1"), cluster="other")


@pytest.mark.parametrize(
    "broken",
    [
        "UPDATE logical_queue_segments SET broker_group_name = 'b1', queue_id = 0",
        "UPDATE logical_queue_segments SET broker_group_name = 'b9'",
        "UPDATE logical_queue_segments SET physical_start = -1",
        "UPDATE logical_queue_segments SET physical_start = 5",
        "UPDATE logical_queue_segments SET logical_start = NULL",
        "UPDATE logical_queue_segments SET physical_end = 5",
        "UPDATE logical_queue_segments SET state = 'read_only'",
        "UPDATE logical_queue_segments SET global_id = 65536 WHERE global_id = 0",
        f"{ANOTHER} queue_id + 9, 50, 0, NULL, NULL, NULL, 'normal' {PLAIN}",
        f"{ANOTHER} queue_id + 9, 0, 0, 1, NULL, NULL, 'read_only' {PLAIN}",
        "UPDATE static_topic_queue_counts SET write_count = read_count + 1",
        "UPDATE static_topics SET epoch = 0",
        "UPDATE static_topics SET block_size = 0",
    ],
)
async def test_the_database_refuses_rows_that_break_an_invariant(truth, broken):
    await truth.write(created(4, "b1", "b2"))

    with pytest.raises(IntegrityError):
        await truth.execute(broken)


async def test_one_unfinished_change_is_the_most_that_a_topic_has(truth):
    await truth.write(created(4, "b1", "b2"))
    await truth.begin(moving(0))

    with pytest.raises(IntegrityError):
        await truth.execute(
            "INSERT INTO logical_queue_changes SELECT gen_random_uuid(), cluster_name, topic_name,"
            " kind, epoch, state, before, after, moves, converged, stale, began_at, changed_at,"
            " ended_at FROM logical_queue_changes"
        )


async def test_a_move_is_kept_step_by_step(truth):
    mapping = created(4, "b1", "b2")
    await truth.write(mapping)

    change_id, change = await truth.begin(moving(0))
    assert (await truth.read()).unfinished.change == change
    for step, *values in (
        (with_prepared, 0, Prepared(2)),
        (with_sealed, 0, Seal(101, 7, 8)),
        (decide, 0),
        (with_activated, 0),
        (with_spread, "b1"),
    ):
        change = await truth.advance(change_id, step, *values)
        found = await truth.read()
        assert found.unfinished.change == change
        assert found.mapping == change.after
    done = await truth.advance(change_id, with_spread, "b2")

    found = await truth.read()
    assert (done.state, found.unfinished) == (ChangeState.DONE, None)
    assert found.mapping == done.after
    assert str(found.mapping.queue(0).segments[0]) == "[g0 b1:q0 L0 S0 E101]"
    assert str(found.mapping.queue(0).segments[1]) == "[g1 b2:q2 L101 S0 E-]"
    assert found.mapping.epoch > mapping.epoch


async def test_a_prepared_queue_is_no_part_of_the_mapping_and_its_place_is_taken(truth):
    await truth.write(created(4, "b1", "b2"))
    change_id, _ = await truth.begin(moving(0, 2))
    await truth.advance(change_id, with_prepared, 0, Prepared(2))

    assert len((await truth.read()).mapping.queue(0).segments) == 1
    with pytest.raises(IntegrityError):
        await truth.advance(change_id, with_prepared, 2, Prepared(2))


async def test_an_empty_segment_goes_and_its_queue_is_retired(truth):
    await truth.write(created(4, "b1", "b2"))
    change_id, _ = await truth.begin(moving(0))
    for step, *values in (
        (with_prepared, 0, Prepared(2)),
        (with_sealed, 0, Seal(0)),
        (decide, 0),
    ):
        await truth.advance(change_id, step, *values)

    mapping = (await truth.read()).mapping
    assert [str(one) for one in mapping.queue(0).segments] == ["[g1 b2:q2 L0 S0 E-]"]
    assert [one.place for one in mapping.retired] == [("b1", 0)]


async def test_a_step_that_comes_twice_changes_nothing(truth):
    await truth.write(created(4, "b1", "b2"))
    change_id, begun = await truth.begin(moving(0))

    assert await truth.begin(moving(0), change_id) == (change_id, begun)
    once = await truth.advance(change_id, with_prepared, 0, Prepared(2))
    before = await truth.read()
    twice = await truth.advance(change_id, with_prepared, 0, Prepared(2))

    assert (once, before) == (twice, await truth.read())


async def test_a_change_is_rolled_back_before_its_commit_point(truth):
    mapping = created(4, "b1", "b2")
    await truth.write(mapping)
    change_id, begun = await truth.begin(moving(0))
    await truth.advance(change_id, with_prepared, 0, Prepared(2))
    await truth.advance(change_id, with_sealed, 0, Seal(101))

    await truth.advance(change_id, roll_back)
    await truth.advance(change_id, with_unsealed, 0)
    for name in ("b1", "b2"):
        change = await truth.advance(change_id, with_spread, name)

    found = await truth.read()
    assert (change.state, found.unfinished) == (ChangeState.ABORTED, None)
    assert found.mapping.queues == mapping.queues
    assert found.mapping.epoch > begun.epoch
    with pytest.raises(IntegrityError):
        # The place of the prepared queue is free again, and other rules still hold.
        await truth.execute("UPDATE logical_queue_segments SET queue_id = 0")
    await truth.begin(moving(0))


async def test_a_committed_change_only_goes_forward(truth):
    await truth.write(created(4, "b1", "b2"))
    change_id, _ = await truth.begin(moving(0))
    for step, *values in ((with_prepared, 0, Prepared(2)), (with_sealed, 0, Seal(1)), (decide, 0)):
        await truth.advance(change_id, step, *values)
    before = await truth.read()

    with pytest.raises(QueueChangeRefused, match="forward"):
        await truth.advance(change_id, roll_back)

    assert await truth.read() == before


async def test_of_two_drivers_that_begin_at_once_one_is_refused_l55(truth):
    await truth.write(created(4, "b1", "b2"))

    outcomes = await asyncio.gather(
        *(truth.begin(moving(one)) for one in (0, 2, 0, 2)), return_exceptions=True
    )

    refused = [one for one in outcomes if isinstance(one, QueueChangeRefused)]
    assert len(refused) == 3
    assert all("is not finished" in str(one) for one in refused)
    [(change_id, change)] = [one for one in outcomes if one not in refused]
    found = await truth.read()
    assert (found.unfinished.id, found.unfinished.change) == (change_id, change)


async def test_of_two_drivers_of_one_change_each_adds_its_answer(truth):
    await truth.write(created(8, "b1", "b2"))
    ids = (0, 2, 4, 6)
    change_id, _ = await truth.begin(moving(*ids))

    await asyncio.gather(
        *(
            truth.advance(change_id, with_prepared, one, Prepared(4 + at))
            for at, one in enumerate(ids)
            for _ in range(2)
        )
    )

    moves = (await truth.read()).unfinished.change.moves
    assert [one.prepared for one in moves] == [Prepared(4 + at) for at in range(4)]


async def test_a_driver_that_decided_from_an_older_mapping_writes_nothing(truth, database):
    await truth.write(created(4, "b1", "b2"))
    read = await truth.read()
    await truth.begin(moving(0))
    before = await truth.read()

    with pytest.raises(QueueMappingMoved):
        async with database.begin() as connection:
            await logical_queues.save(connection, read, full_topic(), at=CLOCK.now())

    assert await truth.read() == before


async def test_epochs_rise_though_the_clock_was_set_back(truth):
    mapping = created(4, "b1", "b2")
    await truth.write(mapping)

    _, change = await truth.begin(moving(0, now_ms=5))

    assert change.epoch == mapping.epoch + 1_000
    assert (await truth.read()).mapping.epoch == change.epoch


async def test_of_two_creations_at_once_one_is_refused(truth):
    def creation():
        return plan_creation("T", 4, targets=["b1"], groups=groups("b1", "b2"), now_ms=NOW)

    outcomes = await asyncio.gather(
        *(
            begin_creation(uuid4(), C, creation(), database=truth.database, clock=CLOCK)
            for _ in range(3)
        ),
        return_exceptions=True,
    )

    assert sum(isinstance(one, StaticTopicExists) for one in outcomes) == 2
    found = await truth.read()
    assert found.unfinished.change == creation()
    assert found.mapping.counts.keys() == {"b1", "b2"}


async def test_a_deleted_topic_goes_with_its_last_broker_and_its_change_stays(truth, database):
    mapping = created(4, "b1", "b2")
    await truth.write(mapping)
    change_id, _ = await truth.begin(
        lambda held: plan_deletion(held, {}, now_ms=NOW, is_purge=True)
    )

    await truth.advance(change_id, with_spread, "b1")
    assert (await truth.read()).mapping.queues == ()
    await truth.advance(change_id, with_spread, "b2")

    assert await truth.read() is None
    async with database.connect() as connection:
        stored = await logical_queues.find_change(connection, change_id, "T")
    assert (stored.change.state, stored.change.before) == (ChangeState.DONE, mapping)
    # The name is free again.
    await truth.write(mapping)


async def test_a_queue_that_takes_no_more_messages_is_read_as_such(truth):
    await truth.write(created(4, "b1", "b2"))

    change_id, _ = await truth.begin(
        lambda held: plan_shrink(held, 3, groups=groups("b1", "b2"), now_ms=NOW)
    )
    await truth.advance(change_id, with_sealed, 3, Seal(9))
    await truth.advance(change_id, decide, 3)

    found = await truth.read()
    assert found.mapping.sealed_ids == {3}
    assert found.mapping.writable_count == 3


async def test_the_static_topics_of_all_clusters_are_listed(truth, database):
    await truth.write(created(4, "b1", "b2"))
    await truth.write(replace(created(2, "b1"), topic_name="A"), cluster="d")
    change_id, _ = await truth.begin(moving(0))

    async with database.connect() as connection:
        listed = await logical_queues.list_all(connection)
        is_static = [await logical_queues.is_static(connection, C, one) for one in ("A", "T")]

    assert [(one.cluster_name, one.mapping.topic_name) for one in listed] == [(C, "T"), ("d", "A")]
    assert [one.unfinished and one.unfinished.id for one in listed] == [change_id, None]
    assert is_static == [False, True]
