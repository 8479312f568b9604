"""Routes of static topics: the merge by epoch, and what clients get to see."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.logical_queue.mapping import MappingInfo
from backend.domain.logical_queue.route import (
    CAPABLE_VERSION,
    NO_BROKER,
    Acceptance,
    LegacyMode,
    StaticCount,
    StaticTopic,
    accept,
    by_scope,
    choose_front,
    client_endpoints,
    knows_static_topics,
    mappings_for_clients,
    merge,
    synthetic_broker_name,
    with_count,
)
from backend.domain.logical_queue.segment import INT64_MAX

DAY_MS = 86_400_000


def info(name, epoch, count, *led, **others):
    return MappingInfo("T", name, epoch, count, led=dict.fromkeys(led, 0), **others)


def infos(*ones):
    return {one.broker_group_name: one for one in ones}


def leaders(route):
    return [route.leader_name(one) for one in range(route.queue_count)]


def test_the_synthetic_broker_name_is_that_of_stock():
    assert synthetic_broker_name("__global__") == "__syslo__global__"
    assert synthetic_broker_name("c1") == "__syslo__c1"


def test_the_higher_epoch_leads():
    route = merge(infos(info("b1", 5, 2, 0, 1), info("b2", 6, 2, 0)))

    assert leaders(route) == ["b2", "b1"]


@pytest.mark.parametrize("apart", [60 * DAY_MS, 2**31, 2**32, 2**53, INT64_MAX - 5])
def test_epochs_that_are_far_apart_are_compared_in_full_width_l67(apart):
    """Stock casts the difference to 32 bits, and takes the older copy (H-12)."""
    older, newer = info("b1", 5, 1, 0), info("b2", 5 + apart, 1, 0)

    for order in ([older, newer], [newer, older]):
        assert leaders(merge(infos(*order))) == ["b2"]
        assert set(client_endpoints(infos(*order)).values()) == {"b2"}
    held, outcome = accept({"b1": info("b1", 5 + apart, 1, 0)}, "b1", older)
    assert outcome is Acceptance.OUTDATED
    assert held["b1"].epoch == 5 + apart


def test_two_leaders_in_one_epoch_change_nothing_until_that_is_resolved():
    before = merge(infos(info("b1", 5, 1, 0)))

    held = infos(info("b1", 6, 1, 0), info("b2", 6, 1, 0))
    after = merge(held, before)

    assert leaders(after) == ["b1"]
    assert set(client_endpoints(mappings_for_clients(held, after)).values()) == {"b1"}
    assert after.conflicts == {0: ("b1", "b2")}
    assert merge(infos(info("b1", 6, 1, 0), info("b2", 6, 1, 0))) is None


def test_within_an_epoch_the_newest_generation_leads():
    """The source has the mapping of an earlier queue of the change, and the other queue moves."""
    source = info("b1", 6, 2, 1, generations={1: 0})
    destination = info("b2", 6, 2, 0, 1, generations={0: 1, 1: 1})
    before = merge(infos(source, info("b2", 6, 2, 0, generations={0: 1})))

    route = merge(infos(source, destination), before)

    assert leaders(route) == ["b2", "b2"]
    assert route.conflicts == {}


@pytest.mark.parametrize("generations", [({0: 1}, {0: 1}), ({0: 0}, {}), ({}, {0: 3})])
def test_leaders_of_one_generation_or_of_an_unknown_one_are_in_conflict(generations):
    first, second = generations
    before = merge(infos(info("b1", 5, 1, 0)))
    held = infos(info("b1", 6, 1, 0, generations=first), info("b2", 6, 1, 0, generations=second))

    route = merge(held, before)

    assert leaders(route) == ["b1"]
    assert route.conflicts == {0: ("b1", "b2")}


def test_a_topic_is_visible_once_all_its_queues_have_a_leader_l4():
    part = infos(info("b1", 5, 3, 0), info("b2", 5, 3, 1))

    assert merge(part) is None
    assert leaders(merge({**part, "b3": info("b3", 5, 3, 2)})) == ["b1", "b2", "b3"]


def test_a_count_that_another_process_shows_is_shown_with_holes_l4():
    """So a process that starts while a broker is down does not hide its topics."""
    shown = with_count(None, StaticCount("T", "__global__", 5, 3))
    part = infos(info("b1", 5, 3, 0), info("b2", 7, 3, 1))

    assert leaders(merge(part, shown)) == ["b1", "b2", NO_BROKER]
    assert leaders(merge({"b1": info("b1", 4, 2, 0)}, shown)) == ["b1", NO_BROKER, NO_BROKER]
    assert leaders(merge({"b1": info("b1", 4, 1, 0)}, shown)) == ["b1", NO_BROKER, NO_BROKER]


def test_a_count_of_an_older_epoch_changes_nothing():
    route = merge(infos(info("b1", 5, 1, 0)))

    assert with_count(route, StaticCount("T", "__global__", 5, 3)).queue_count == 1
    assert with_count(route, StaticCount("T", "__global__", 6, 3)).queue_count == 3


def test_more_queues_are_visible_once_all_of_them_have_a_leader_l6():
    before = merge(infos(info("b1", 5, 4, 0, 1), info("b2", 5, 4, 2, 3)))

    part = merge(infos(info("b1", 6, 6, 0, 1, 4), info("b2", 5, 4, 2, 3)), before)
    whole = merge(infos(info("b1", 6, 6, 0, 1, 4), info("b2", 6, 6, 2, 3, 5)), part)

    assert (part.queue_count, len(part.leaders)) == (4, 4)
    assert leaders(whole) == ["b1", "b1", "b2", "b2", "b1", "b2"]


def test_a_move_is_visible_although_other_brokers_have_the_older_epoch():
    before = merge(infos(info("b1", 5, 2, 0), info("b2", 5, 2, 1)))

    after = merge(infos(info("b1", 5, 2, 0), info("b2", 6, 2, 0, 1)), before)

    assert leaders(after) == ["b2", "b2"]


def test_a_smaller_count_of_a_newer_epoch_is_taken():
    before = merge(infos(info("b1", 5, 3, 0, 1, 2)))

    assert merge(infos(info("b1", 6, 2, 0, 1)), before).queue_count == 2
    assert merge(infos(info("b1", 6, 2, 0)), before).queue_count == 3


def test_a_lower_epoch_never_replaces_a_higher_one_l50():
    held = infos(info("b1", 6, 1, 0))

    assert accept(held, "b1", info("b1", 5, 1)) == (held, Acceptance.OUTDATED)
    assert accept(held, "b1", info("b1", 6, 1, 0)) == (held, Acceptance.UNCHANGED)
    assert accept(held, "b1", info("b1", 6, 2, 0)) == (held, Acceptance.CONTRADICTS)
    assert accept(held, "b1", info("b1", 7, 1))[0]["b1"].epoch == 7


@pytest.mark.parametrize(
    "bad", [info("b1", 9, 1, 0, is_dirty=True), info("b2", 9, 1, 0), info("b1", 9, -1, 0)]
)
def test_a_dirty_or_foreign_mapping_is_refused(bad):
    held = infos(info("b1", 6, 1, 0))

    assert accept(held, "b1", bad) == (held, Acceptance.REFUSED)


def test_name_servers_that_hear_the_same_in_another_order_agree_l49():
    heard = [info("b1", 5, 2, 0, 1), info("b2", 6, 2, 0), info("b1", 6, 2, 1), info("b1", 5, 2, 0)]

    routes = []
    for order in (heard, heard[::-1]):
        held, route = {}, None
        for one in order:
            held, _ = accept(held, one.broker_group_name, one)
            route = merge(held, route)
        routes.append(route)

    assert routes[0] == routes[1]
    assert leaders(routes[0]) == ["b2", "b1"]


@given(
    st.lists(
        st.builds(
            info,
            st.sampled_from(["b1", "b2", "b3"]),
            st.sampled_from([1, 2, 2**31, INT64_MAX]),
            st.integers(0, 3),
            st.integers(-1, 4),
            st.integers(-1, 4),
        )
    )
)
def test_a_client_merges_what_the_route_says_whatever_is_registered(registered):
    held, route = {}, None
    for one in registered:
        held, _ = accept(held, one.broker_group_name, one)
        route = merge(held, route)

    if route is not None:
        assert set(route.leaders) <= set(range(route.queue_count))
        endpoints = client_endpoints(mappings_for_clients(held, route))
        assert list(endpoints) == [("__syslo__global__", one) for one in range(route.queue_count)]
        assert list(endpoints.values()) == leaders(route)


def test_a_client_of_stock_sees_holes_as_queues_without_a_broker():
    found = client_endpoints(infos(info("b1", 5, 3, 0, 2)))

    assert found == {
        ("__syslo__global__", 0): "b1",
        ("__syslo__global__", 1): NO_BROKER,
        ("__syslo__global__", 2): "b1",
    }


def test_scopes_are_sets_of_queues_of_their_own():
    both = infos(info("b1", 5, 1, 0, scope="c1"), info("b2", 9, 2, 0, 1, scope="c2"))

    assert {scope: list(found) for scope, found in by_scope(both).items()} == {
        "c1": ["b1"],
        "c2": ["b2"],
    }
    assert client_endpoints(both)["__syslo__c1", 0] == "b1"
    assert len(client_endpoints(both)) == 3


LEADERS = merge(infos(info("b1", 5, 4, 0, 1), info("b2", 5, 4, 2, 3)))


def static_topic(mode, *routes):
    return StaticTopic({f"s{at}": one for at, one in enumerate(routes)}, {}, mode)


def test_an_old_client_does_not_see_a_static_topic_l57():
    topic = static_topic(LegacyMode.HIDE, LEADERS)

    assert topic.front_of("T", {"b1", "b2"}) is None


def test_an_old_client_sees_all_queues_on_one_front_l58():
    topic = static_topic(LegacyMode.PROXY, LEADERS)
    name, count = topic.front_of("T", {"b1", "b2"})
    other = {"b1": "b2", "b2": "b1"}[name]

    assert count == 4
    assert topic.front_of("T", {other}) == (other, 4)
    assert topic.front_of("T", ()) is None
    assert topic.front_of("T", {"b3"}) is None


def test_two_sets_of_queues_have_no_front():
    assert static_topic(LegacyMode.PROXY, LEADERS, LEADERS).front_of("T", {"b1", "b2"}) is None


@pytest.mark.parametrize(
    ("version", "is_java", "sends_lqv", "knows"),
    [
        (CAPABLE_VERSION, True, False, True),
        (CAPABLE_VERSION - 1, True, False, False),
        (CAPABLE_VERSION, False, False, False),
        (0, False, True, True),
    ],
)
def test_java_from_5_0_0_on_and_who_says_so_know_static_topics(version, is_java, sends_lqv, knows):
    assert knows == knows_static_topics(version=version, is_java=is_java, sends_lqv=sends_lqv)


def test_a_front_stays_when_another_broker_goes():
    names = [f"b{number}" for number in range(9)]
    fronts = {f"t{number}": choose_front(f"t{number}", names) for number in range(50)}

    for topic_name, front in fronts.items():
        rest = [one for one in names if one == front or one != "b4"]
        assert choose_front(topic_name, rest) == front
    assert len(set(fronts.values())) > 4


def test_a_registered_mapping_keeps_what_the_other_registrations_said():
    held, _ = accept(infos(info("b1", 5, 1, 0)), "b2", replace(info("b2", 5, 1), scope="x"))

    assert sorted(held) == ["b1", "b2"]
