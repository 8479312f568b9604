"""What a process remembers of groups: the latest state, once, and only so many."""

from backend.db.replica_groups import HeldGroup
from backend.domain.election import Liveness
from backend.domain.replica_group import ReplicaGroup
from backend.services.controller import group_changes
from backend.services.controller.group_changes import BrokerGroupName, KnownGroups

NAME = BrokerGroupName("g", "c")


def held(revision, *, cluster="c", group="g"):
    return HeldGroup(1, revision, ReplicaGroup(cluster, group), Liveness())


def test_a_group_is_relied_on_by_one_at_a_time():
    known = KnownGroups()
    known.keep(held(7))

    assert known.take(NAME).revision == 7
    assert known.take(NAME) is None


def test_an_earlier_state_that_was_read_late_is_not_kept():
    known = KnownGroups()
    known.keep(held(7))
    known.keep(held(6))

    assert known.find("c", "g").revision == 7


def test_a_group_that_another_process_changed_is_forgotten():
    known = KnownGroups()
    known.keep(held(7))

    known.drop_before(7, "c", "g")
    assert known.find("c", "g").revision == 7

    known.drop_before(8, "c", "g")
    assert known.find("c", "g") is None


def test_a_group_named_without_its_cluster_is_not_taken_from_memory():  # D2
    known = KnownGroups()
    known.keep(held(7))

    assert known.take(BrokerGroupName("g")) is None


def test_only_the_groups_used_last_are_remembered(monkeypatch):
    monkeypatch.setattr(group_changes, "KNOWN_GROUPS_MAX", 2)
    known = KnownGroups()
    for revision, name in enumerate("abac"):
        known.keep(held(revision, group=name))

    assert [known.find("c", name) is not None for name in "abc"] == [True, False, True]
