"""A mapping goes into a file of RocketMQ's form and comes back, with the moves that are open."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.logical_queue.broker_copy import BrokerTopic, PreparedQueue, SealRecord
from backend.domain.logical_queue.change import MoveStep, QueueMove, with_prepared
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.errors import (
    InvalidQueueMapping,
    QueueChangeRefused,
    QueueMappingBroken,
)
from backend.domain.logical_queue.interchange import plan_import, read_plan_file, to_plan_file
from backend.domain.logical_queue.mapping import EndedQueue, copies_of
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.planning import plan_shrink
from backend.domain.logical_queue.segment import OffsetMode
from backend.domain.logical_queue.stock_json import (
    PlanFileKind,
    decode_plan_file,
    encode_plan_file,
)
from backend.domain.logical_queue.topic_settings import read_settings, with_settings
from tests.unit.domain.logical_queue.builders import NOW, created, groups, segment, topic

NAMES = ("b1", "b2", "b3")


def rich():
    """Return a topic with a long list, a reused queue, an open forced segment and settings."""
    mapping = topic(
        [segment(0, "b1:q0", end=101), segment(1, "b2:q0", 101, end=100)],
        [segment(0, "b1:q1"), segment(1, "b3:q0", 20_000)],
        [segment(3, "b2:q1", 201, start=7)],
        reused={("b2", 1): 7},
        forced=frozenset({(1, 0)}),
        sealed_ids=frozenset({0}),
        ended=(EndedQueue(3, 2, 70), EndedQueue(4, 0, 0)),
    )
    return replace(mapping, offset_mode=OffsetMode.BLOCK, block_size=500)


def written(mapping, moves=()):
    return encode_plan_file(to_plan_file(mapping, moves, {}))


def read(text):
    return read_plan_file(decode_plan_file(text))


def moving(mapping):
    relocations = [Relocation(0, "b1", "b3"), Relocation(2, "b1", "b3")]
    return plan_moves(mapping, relocations, groups=groups(*NAMES), now_ms=NOW)


@given(st.integers(1, 9), st.integers(1, 3))
def test_a_mapping_is_read_as_it_was_written(count, broker_count):
    mapping = created(count, *NAMES[:broker_count], cluster=NAMES)

    assert read(written(mapping)).mapping == mapping


def test_all_of_a_topic_is_in_the_file():
    mapping = rich()

    found = read(written(mapping))

    assert (found.mapping, found.pending) == (mapping, {})
    assert written(found.mapping) == written(mapping)


def test_open_moves_end_with_undecided_segments_and_are_planned_again():
    change = moving(created(4, "b1", "b2", cluster=NAMES))
    text = written(change.after, change.moves)

    plan, found = decode_plan_file(text), read(text)
    again = plan_import(found, None, {}, names=NAMES, now_ms=NOW)

    assert (plan.kind, plan.incoming, plan.outgoing) == (PlanFileKind.REMAPPING, ("b3",), ("b1",))
    assert [str(one) for one in found.pending.values()] == [
        "[g1 b3:q0 L-1 S0 E-]",
        "[g1 b3:q1 L-1 S0 E-]",
    ]
    assert (again.after, again.moves) == (change.after, change.moves)
    assert written(again.after, again.moves) == text


def test_a_move_goes_on_at_the_step_that_brokers_confirm_l54():
    mapping = created(4, "b1", "b2", cluster=NAMES)
    change = with_prepared(moving(mapping), 0, Prepared(5, 40))
    held = {
        name: BrokerTopic(copy.mapping, copy.counts) for name, copy in copies_of(mapping).items()
    }
    held["b3"] = replace(held["b3"], prepared={0: PreparedQueue(change.epoch, 5, 40)})
    text = written(change.after, change.moves)

    prepared = plan_import(read(text), None, held, names=NAMES, now_ms=NOW)
    held["b1"] = replace(held["b1"], seals={0: SealRecord(change.epoch, 0, Seal(9))})
    sealed = plan_import(read(text), None, held, names=NAMES, now_ms=NOW)
    held["b3"] = replace(held["b3"], prepared={0: PreparedQueue(change.epoch - 1, 5, 40)})
    older = plan_import(read(text), None, held, names=NAMES, now_ms=NOW)

    assert prepared.move(0) == change.move(0)
    assert sealed.move(0) == replace(change.move(0), step=MoveStep.SEALED, seal=Seal(9))
    assert older.move(0) == QueueMove(Relocation(0, "b1", "b3"))
    assert prepared.move(2).step is MoveStep.PLANNED


def test_a_file_that_breaks_an_invariant_is_refused():
    mapping = created(4, "b1", "b2")
    broken = replace(mapping, queues=mapping.queues[1:])

    with pytest.raises(QueueMappingBroken, match="INV-16"):
        read(written(broken))
    with pytest.raises(QueueMappingBroken, match="a queue has no segment"):
        read(written(replace(mapping, queues=())))


def test_a_present_topic_keeps_its_segments():
    mapping = created(4, "b1", "b2", cluster=NAMES)
    newer = replace(mapping, epoch=mapping.epoch + 1_000)

    def bring_in(other, **more):
        return plan_import(read(written(other)), mapping, {}, names=NAMES, now_ms=NOW, **more)

    assert bring_in(newer).after == newer
    with pytest.raises(QueueChangeRefused, match="of the file already"):
        bring_in(mapping)
    with pytest.raises(QueueChangeRefused, match="older than epoch"):
        bring_in(replace(mapping, epoch=mapping.epoch - 1))
    for epoch in (mapping.epoch - 1, mapping.epoch):
        raised = bring_in(replace(mapping, epoch=epoch), is_forced=True)
        assert raised.after.epoch == mapping.epoch + 1_000
    fewer = replace(created(3, "b1", "b2", cluster=NAMES), epoch=newer.epoch)
    with pytest.raises(QueueChangeRefused, match="no logical queue 3: shrink"):
        bring_in(fewer)
    other = created(4, "b2", "b3", cluster=NAMES)
    with pytest.raises(QueueChangeRefused, match="other segments of logical queue 0"):
        bring_in(replace(other, epoch=newer.epoch))


def test_a_file_without_ends_takes_no_end_from_a_present_topic():
    """Tools of stock record no end (H-1), and brokers refuse to forget one (INV-29)."""
    present = topic(
        [segment(0, "b1:q0", end=101), segment(1, "b2:q0", 101)],
        [segment(0, "b1:q1")],
        counts={"b1": 5, "b3": 0},
    )
    file = replace(
        topic([segment(0, "b1:q0"), segment(1, "b2:q0", 101)], [segment(0, "b1:q1")]),
        epoch=present.epoch + 1_000,
        forced=frozenset({(0, 0)}),
    )

    change = plan_import(read(written(file)), present, {}, names=NAMES, now_ms=NOW)

    assert change.after == replace(present, epoch=file.epoch)


def test_new_queues_of_a_file_are_new_ones():
    mapping = created(2, "b1", "b2", cluster=NAMES)
    grown = replace(created(3, "b1", "b2", cluster=NAMES), epoch=mapping.epoch + 1_000)

    change = plan_import(read(written(grown)), mapping, {}, names=NAMES, now_ms=NOW)

    assert change.after == grown
    ended = replace(mapping, ended=(EndedQueue(2, 0, 70),))
    with pytest.raises(QueueChangeRefused, match="queue 2 of the file is not a new one"):
        plan_import(read(written(grown)), ended, {}, names=NAMES, now_ms=NOW)


def test_queues_that_are_being_sealed_can_not_be_written():
    change = plan_shrink(created(4, "b1", "b2"), 2, groups=groups("b1", "b2"), now_ms=NOW)

    with pytest.raises(QueueChangeRefused, match="being sealed"):
        to_plan_file(change.after, change.moves, {})


@pytest.mark.parametrize(
    "attributes",
    [
        {"lq.offsetMode": "other"},
        {"lq.blockSize": "0"},
        {"lq.blockSize": "x"},
        {"lq.endedQueues": "1:2"},
        {"lq.endedQueues": "1:2:-3"},
    ],
)
def test_malformed_settings_are_refused(attributes):
    with pytest.raises(InvalidQueueMapping):
        read_settings(attributes)


def test_default_settings_need_no_attribute_and_others_stay():
    plain = created(2, "b1")

    assert with_settings({"a": "b", "lq.endedQueues": "1:2:3"}, plain) == {"a": "b"}
    assert read_settings(with_settings({}, rich())).ended == rich().ended
