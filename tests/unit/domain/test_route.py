from backend.domain.route import (
    GroupMembers,
    RouteEntry,
    TopicRoute,
    keep_zone,
    substitute_acting_masters,
)
from backend.domain.topic import QueueSettings


def entry(addresses, *, permissions=4, acting=True, zone=None):
    members = GroupMembers("main", "broker-a", addresses, acting, zone)
    return RouteEntry(members, QueueSettings(4, 4, permissions))


def substituted(found):
    return dict(substitute_acting_masters(TopicRoute("t", (found,))).entries[0].members.addresses)


def test_the_smallest_replica_is_shown_as_master_and_the_others_stay():
    assert substituted(entry({2: "b", 3: "c"})) == {0: "b", 3: "c"}


def test_a_group_with_a_master_is_left_as_it_is():
    assert substituted(entry({0: "a", 1: "b"})) == {0: "a", 1: "b"}


def test_writable_queues_keep_their_group_as_it_is():
    assert substituted(entry({1: "b"}, permissions=6)) == {1: "b"}


def test_a_group_that_does_not_act_is_left_as_it_is():
    assert substituted(entry({1: "b"}, acting=False)) == {1: "b"}


def test_only_masters_of_the_callers_zone_are_kept_and_masterless_groups():  # S105
    near, far = entry({0: "a"}, zone="X"), entry({0: "b"}, zone="y")
    lone = entry({1: "c"}, zone="y")

    kept = keep_zone(TopicRoute("t", (near, far, lone)), "x")

    assert kept.entries == (near, lone)
