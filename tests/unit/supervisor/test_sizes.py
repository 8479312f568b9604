"""What runs, from what was asked for and what a directory holds."""

import pytest

from backend.supervisor.errors import CannotStart
from backend.supervisor.sizes import Sizes, decide_sizes


def sizes(found, *, groups=None, replicas=None) -> Sizes:
    return decide_sizes(found, group_count=groups, replica_count=replicas)


def test_a_new_directory_gets_two_groups_of_one():
    assert sizes({}).replica_counts == {"broker-a": 1, "broker-b": 1}


def test_what_is_there_starts_again_without_options():
    found = {"broker-a": 3, "broker-b": 1, "broker-c": 2}

    assert sizes(found) == Sizes(replica_counts=found, resting=())


def test_more_groups_are_added_as_large_as_the_ones_there():
    assert sizes({"broker-a": 3}, groups=2).replica_counts == {"broker-a": 3, "broker-b": 3}


def test_more_replicas_are_added_to_every_group():
    found = {"broker-a": 1, "broker-b": 2}

    assert sizes(found, replicas=3).replica_counts == {"broker-a": 3, "broker-b": 3}


def test_groups_that_are_not_asked_for_rest():
    found = {"broker-a": 1, "broker-b": 1}

    assert sizes(found, groups=1) == Sizes({"broker-a": 1}, resting=("broker-b",))
    assert sizes(found, groups=0) == Sizes({}, resting=("broker-a", "broker-b"))


def test_fewer_replicas_are_refused_with_the_options_that_work():
    with pytest.raises(CannotStart, match=r"broker-b has 3 replicas.*--replicas 3"):
        sizes({"broker-a": 1, "broker-b": 3}, replicas=2)


def test_a_resting_group_may_have_more_replicas_than_asked_for():
    assert sizes({"broker-a": 1, "broker-b": 3}, groups=1, replicas=1).resting == ("broker-b",)
