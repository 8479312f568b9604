"""Lists of the members of groups that a broker has known for a short time."""

import asyncio
import random

import pytest

from backend.remoting import java_json
from backend.remoting.bodies import ConsumerData, ConsumerIds, SubscriptionData
from tests.unit.broker.neighbours import Answer, Others
from workers.broker.errors import Refusal
from workers.broker.routing import member_lists
from workers.broker.routing.member_lists import COMPLETE_MS, FRESH_MS, MemberLists
from workers.broker.routing.neighbours import ASKED_COUNT_MAX, Neighbours
from workers.broker.tables.clients import Client, Consumers


class Clock:
    now_ms = 1_000_000

    def __call__(self):
        return self.now_ms


def answer(*client_ids, code=0):
    return Answer(java_json.encode(ConsumerIds(ids=list(client_ids))), code)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def consumers():
    return Consumers(lambda: None)


@pytest.fixture
def join(consumers, clock):
    def join(client_id, *topics, channel=None):
        subscriptions = [SubscriptionData(topic=topic, version=1) for topic in (*topics, "T")]
        client = Client(client_id, "10.0.0.1:5", "JAVA", 513, seen_at_ms=clock.now_ms)
        data = ConsumerData(group_name="g", subscriptions=subscriptions)
        consumers.register(data, channel or client_id, client, with_subscriptions=True)

    return join


@pytest.fixture
def lists_of(consumers, clock):
    def build(others):
        neighbours = Neighbours(others, others.in_route, random.Random(1))
        return MemberLists(consumers, neighbours, clock)

    return build


async def test_members_that_only_other_broker_groups_know_are_added(join, lists_of):
    others = Others(a=answer("c3", "c1"), b=answer("c2"))
    lists = lists_of(others)
    join("c1")

    assert await lists.find("g") == ["c1", "c2", "c3"]

    assert lists.find_own("g") == ["c1"]
    assert sorted(others.asked) == ["a", "b"]


async def test_a_group_that_was_known_for_long_enough_is_complete(join, lists_of, clock):
    others = Others(a=answer("c2"))
    lists = lists_of(others)
    join("c1")

    clock.now_ms += COMPLETE_MS - 1
    young = await lists.find("g")
    clock.now_ms += 1
    join("c1")

    assert (young, await lists.find("g"), others.asked) == (["c1", "c2"], ["c1"], ["a"])


async def test_a_group_without_a_member_here_is_unknown_although_others_know_it(lists_of):
    others = Others(a=answer("c1"))

    assert await lists_of(others).find("g") is None

    assert others.asked == []


async def test_a_group_that_no_other_broker_group_knows_is_served_as_it_is(join, lists_of):
    join("c1")

    for others in (Others(), Others(a=answer(code=1)), Others(a=Answer(b"no JSON"))):
        assert await lists_of(others).find("g") == ["c1"]


async def test_a_broker_group_that_fails_hides_no_other_one(join, lists_of):
    others = Others(a=Refusal(2, "it does not answer"), b=answer("c2"))
    join("c1")

    assert await lists_of(others).find("g") == ["c1", "c2"]


async def test_an_answer_waits_for_a_broker_group_for_a_short_time_only(
    join, lists_of, monkeypatch
):
    monkeypatch.setattr(member_lists, "WAIT_S", 0.05)
    others = Others(a=answer("c3"), b=answer("c2"))
    others.gates["a"] = asyncio.Event()
    lists = lists_of(others)
    join("c1")

    assert await lists.find("g") == ["c1", "c2"]
    others.gates["a"].set()

    assert await lists.find("g") == ["c1", "c2", "c3"]
    assert sorted(others.asked) == ["a", "b"]


async def test_all_members_that_ask_at_once_cause_one_question(join, lists_of, clock):
    others = Others(a=answer("c2"))
    lists = lists_of(others)
    join("c1")

    together = await asyncio.gather(*(lists.find("g") for _ in range(5)))
    clock.now_ms += FRESH_MS - 1
    join("c4")
    fresh = await lists.find("g")
    assert others.asked == ["a"]
    clock.now_ms += 1
    await lists.find("g")

    assert (together, fresh) == ([["c1", "c2"]] * 5, ["c1", "c4", "c2"])
    assert others.asked == ["a", "a"]


async def test_a_member_that_left_is_not_added_until_it_comes_back(consumers, join, lists_of):
    lists = lists_of(Others(a=answer("c1", "c2")))
    join("c1")
    join("c2")

    consumers.unregister("g", "c2")
    left = await lists.find("g")
    join("c2")

    assert (left, await lists.find("g")) == (["c1"], ["c1", "c2"])


async def test_a_member_that_closes_one_of_two_connections_has_not_left(consumers, join, lists_of):
    lists = lists_of(Others(a=answer("c2")))
    join("c1")
    join("c2", channel="first")
    join("c2", channel="second")

    consumers.drop_channel("first")

    assert consumers.find("g").departed == set()
    assert await lists.find("g") == ["c1", "c2"]


async def test_the_routes_of_subscribed_topics_name_broker_groups_too(join, lists_of):
    others = Others(a=answer("c2"), b=answer("c3"))
    others.routes = {"T": {"a"}, "U": {"b"}}
    join("c1", "U")

    assert await lists_of(others).find("g") == ["c1", "c2", "c3"]


async def test_some_of_many_broker_groups_are_asked(join, lists_of):
    others = Others(**{f"b{number}": answer("c2") for number in range(30)})
    join("c1")

    assert await lists_of(others).find("g") == ["c1", "c2"]

    assert len(set(others.asked)) == len(others.asked) == ASKED_COUNT_MAX
