"""A mapping is built from the copies of all brokers, or every obstacle is named (L65)."""

from dataclasses import replace

import pytest

from backend.domain.logical_queue.broker_copy import BrokerTopic, PreparedQueue, SealRecord
from backend.domain.logical_queue.errors import QueueMappingBroken
from backend.domain.logical_queue.expiry import dropped_places
from backend.domain.logical_queue.mapping import RetiredQueue, copies_of
from backend.domain.logical_queue.rebuild import leftovers, rebuild
from tests.unit.domain.logical_queue.builders import segment, topic


def held_by_brokers(mapping):
    """Return what brokers hold after a change has ended."""
    retired = {}
    for one in mapping.retired:
        retired.setdefault(one.broker_group_name, {})[one.queue_id] = one
    return {
        name: BrokerTopic(copy.mapping, copy.counts, retired=retired.get(name, {}))
        for name, copy in copies_of(mapping).items()
    }


def moved_topic():
    chain = [segment(0, "b1:q0", end=101), segment(1, "b2:q0", 101, end=100)]
    reused = segment(2, "b1:q2", 201, start=7)
    mapping = topic(
        [*chain, reused],
        [segment(0, "b1:q1"), segment(1, "b3:q0", 9_999)],
        [segment(0, "b2:q1")],
        reused={("b1", 2): 7},
    )
    retired = RetiredQueue("b2", 2, 1, 0, 5)
    counts = {**mapping.counts, "b2": mapping.counts["b2"].covering(2)}
    forced = frozenset({(1, 0)})
    return replace(mapping, retired=(retired,), counts=counts, forced=forced)


def test_a_mapping_is_built_as_it_was_l65():
    mapping = moved_topic()

    assert rebuild("T", held_by_brokers(mapping)) == mapping


def test_a_queue_without_a_leader_is_named():
    held = held_by_brokers(moved_topic())
    del held["b3"]

    with pytest.raises(QueueMappingBroken, match="INV-16") as broken:
        rebuild("T", held)

    assert any("the first one is 1" in one for one in broken.value.findings)


def test_a_change_that_was_under_way_is_named():
    held = held_by_brokers(moved_topic())
    sealed = replace(held["b2"], seals={2: SealRecord(5_000, 0)})
    prepared = replace(held["b3"], prepared={2: PreparedQueue(5_000, 1, 0)})
    held |= {"b2": sealed, "b3": prepared}

    with pytest.raises(QueueMappingBroken) as broken:
        rebuild("T", held)

    assert list(broken.value.findings) == [
        "logical queue 2: broker group b2: it is sealed in epoch 5000",
        "logical queue 2: broker group b3: it is reserved in epoch 5000",
    ]


def test_the_seal_of_a_queue_that_a_shrink_ended_is_no_leftover():
    mapping = topic([segment(0, "b1:q0")], [segment(0, "b1:q1", end=4)], sealed_ids=frozenset({1}))
    held = held_by_brokers(mapping)
    held["b1"] = replace(held["b1"], seals={1: SealRecord(5_000, 0)})

    assert leftovers(held) == ()
    assert rebuild("T", held) == mapping


def test_nothing_is_built_from_nothing():
    with pytest.raises(QueueMappingBroken, match="no broker group leads a queue"):
        rebuild("T", {})


def test_the_places_that_a_queue_has_lost_are_those_of_former_segments():
    before = topic([segment(0, "b1:q0", end=5), segment(1, "b2:q0", 5, end=0)])
    after = topic([segment(0, "b1:q0", end=5), segment(2, "b1:q1", 5)])

    assert dropped_places(before, after, 0) == {("b2", 0)}
    assert dropped_places(before, before, 0) == {("b2", 0)}
    assert dropped_places(before, after, 9) == frozenset()
