"""An order of moves chooses them in exactly one way, and says so when nothing moves."""

import pytest

from backend.domain.errors import BrokerGroupNotFound
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.plan_checks import ClusterGroups
from backend.domain.operation_errors import InvalidParameters
from backend.domain.orders.static_topic import MoveQueues
from backend.operations.planning.queue_moves import (
    check_choice,
    choose_moves,
    moves_to,
    why_nothing_moves,
)
from tests.unit.domain.logical_queue.builders import NOW, created, groups

THREE = groups("b1", "b2", "b3")
EVEN = created(4, "b1", "b2", cluster=("b1", "b2", "b3"))
"""Queues 0 and 2 are on b1, 1 and 3 on b2, and none on b3."""


def order(**values):
    return MoveQueues("east", "T", **values)


def choose(*, mapping=EVEN, cluster=THREE, **values):
    chosen = order(**values)
    check_choice(chosen)
    return choose_moves(chosen, mapping, cluster, now_ms=NOW)


@pytest.mark.parametrize(
    ("values", "moves"),
    [
        ({"destination": "b2"}, [(0, "b1", "b2"), (2, "b1", "b2")]),
        ({"destination": "b3", "queues": (3, 0)}, [(0, "b1", "b3"), (3, "b2", "b3")]),
        ({"leaving": "b1"}, [(0, "b1", "b3"), (2, "b1", "b3")]),
        ({"onto": "b3"}, [(2, "b1", "b3")]),
        ({"targets": ("b2", "b3", "b3")}, [(0, "b1", "b3"), (2, "b1", "b3")]),
        (
            {"targets": ("b3",)},
            [(0, "b1", "b3"), (1, "b2", "b3"), (2, "b1", "b3"), (3, "b2", "b3")],
        ),
    ],
)
def test_each_way_chooses_its_moves(values, moves):
    assert choose(**values) == tuple(Relocation(*one) for one in moves)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"destination": "b2", "queues": (1, 3)}, "the destination leads all of these queues"),
        ({"leaving": "b3"}, "b3 leads no queue of the topic"),
        ({"onto": "b2"}, "b2 leads its even share"),
    ],
)
def test_a_way_that_moves_nothing_says_why(values, why):
    assert choose(**values) == ()
    assert why in why_nothing_moves(order(**values))


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "give one of"),
        ({"destination": "b1", "leaving": "b2"}, "give one of"),
        ({"onto": "b1", "targets": ("b2",)}, "give one of"),
        ({"takes_back": "x", "destination": "b2"}, "give one of"),
        ({"leaving": "b1", "queues": (0,)}, "queues go with a destination"),
        ({"leaving": "b1", "force_offset": 9}, "force_offset goes with force"),
    ],
)
def test_moves_are_chosen_in_one_way(values, why):
    with pytest.raises(InvalidParameters, match=why):
        check_choice(order(**values))


@pytest.mark.parametrize(
    "values",
    [
        {"destination": "b9"},
        {"leaving": "b9"},
        {"onto": "b9"},
        {"targets": ("b1", "b9")},
    ],
)
def test_a_broker_group_that_does_not_exist_is_named(values):
    with pytest.raises(BrokerGroupNotFound, match="b9"):
        choose(**values)


def test_queues_leave_for_broker_groups_that_answer():
    cluster = ClusterGroups(THREE.names, frozenset({"b2"}))

    moves = choose(leaving="b1", cluster=cluster)

    assert moves == (Relocation(0, "b1", "b2"), Relocation(2, "b1", "b2"))
    with pytest.raises(QueueChangeRefused, match="no other broker group"):
        choose(leaving="b2", cluster=cluster)


def test_queues_leave_a_broker_group_whose_records_are_gone():
    assert len(choose(leaving="b1", cluster=groups("b2", "b3"))) == 2


def test_an_unknown_queue_is_refused():
    with pytest.raises(QueueChangeRefused, match="no logical queue 9"):
        moves_to(EVEN, {9: "b1"})
