from backend.remoting.bodies import ConsumerData, SubscriptionData
from workers.broker.tables.clients import CHANNEL_LIFE_MS, Client, Consumers, Producers


def ignore():
    """Hear of a change."""


def client(client_id="c1", seen_at_ms=0):
    return Client(
        client_id, address="10.0.0.1:5", language="JAVA", version=513, seen_at_ms=seen_at_ms
    )


def data(*topics, group="g", version=1, **fields):
    subscriptions = [SubscriptionData(topic=topic, version=version) for topic in topics]
    return ConsumerData(group_name=group, subscriptions=subscriptions, **fields)


def register(consumers, channel, consumer, *, member=None, with_subscriptions=True):
    return consumers.register(
        consumer, channel, member or client(), with_subscriptions=with_subscriptions
    )


def test_a_new_member_and_a_new_topic_change_the_group():
    consumers = Consumers(ignore)

    first = register(consumers, "ch1", data("T"))
    again = register(consumers, "ch1", data("T"))
    joined = register(consumers, "ch2", data("T"), member=client("c2"))
    more = register(consumers, "ch1", data("T", "U"))
    fewer = register(consumers, "ch1", data("T"))

    changes = [first, again, joined, more, fewer]
    assert [one.is_rebalance_due for one in changes] == [True, False, True, True, True]
    assert [one.topics for one in changes] == [["T"], [], [], ["U"], []]


def test_the_newest_subscription_wins():
    consumers = Consumers(ignore)
    register(consumers, "ch1", data("T", version=5))

    older = register(consumers, "ch2", data("T", version=3), member=client("c2"))
    assert consumers.find("g").subscriptions["T"].version == 5
    newer = register(consumers, "ch2", data("T", version=9), member=client("c2"))

    assert consumers.find("g").subscriptions["T"].version == 9
    assert (older.topics, newer.topics) == ([], ["T"])
    assert not newer.is_rebalance_due


def test_a_light_heartbeat_keeps_what_is_stored():
    consumers = Consumers(ignore)
    register(consumers, "ch1", data("T"))

    changed = register(consumers, "ch1", data(), with_subscriptions=False)

    assert changed == (False, [])
    assert list(consumers.find("g").subscriptions) == ["T"]


def test_a_fingerprint_differs_until_it_is_stored():
    consumers = Consumers(ignore)
    register(consumers, "ch1", data("T"))

    found = [consumers.compare_fingerprint("g", number) for number in (7, 7, 8)]

    assert found == [True, False, True]


def test_enumerations_sent_by_position_are_spelled_out():
    consumers = Consumers(ignore)

    register(consumers, "ch1", data(consume_from_where=4, consume_type=1, message_model=0))

    group = consumers.find("g")
    assert group.consume_from_where == "CONSUME_FROM_FIRST_OFFSET"
    assert group.consume_type == "CONSUME_PASSIVELY"
    assert group.is_broadcasting


def test_a_dropped_channel_leaves_all_its_groups_and_empty_ones_end():
    consumers = Consumers(ignore)
    register(consumers, "ch1", data("T", group="g"))
    register(consumers, "ch1", data("T", group="h"))
    register(consumers, "ch2", data("T", group="h"), member=client("c2"))

    assert sorted(consumers.drop_channel("ch1")) == ["g", "h"]
    assert consumers.find("g") is None
    assert [member.client_id for member in consumers.find("h").members.values()] == ["c2"]
    assert consumers.drop_channel("ch1") == []


def test_a_channel_without_heartbeats_is_silent():
    consumers, producers = Consumers(ignore), Producers()
    register(consumers, "old", data("T"), member=client(seen_at_ms=0))
    register(consumers, "new", data("T"), member=client("c2", seen_at_ms=CHANNEL_LIFE_MS))
    producers.register("pg", "old", client(seen_at_ms=0))

    assert consumers.silent_channels(CHANNEL_LIFE_MS) == set()
    assert consumers.silent_channels(CHANNEL_LIFE_MS + 1) == {"old"}
    assert producers.silent_channels(CHANNEL_LIFE_MS + 1) == {"old"}


def test_a_producer_group_ends_with_its_last_member():
    producers = Producers()
    producers.register("pg", "ch1", client())
    producers.register("pg", "ch2", client("c2"))

    producers.drop_channel("ch1")
    assert list(producers.find("pg")) == ["ch2"]
    producers.unregister("pg", "ch2")
    producers.unregister("pg", "ch2")

    assert producers.find("pg") is None


def sub(topic, expression, version):
    return SubscriptionData(topic=topic, expression=expression, version=version)


def wants(*subscriptions, **fields):
    return ConsumerData(group_name="g", subscriptions=list(subscriptions), **fields)


def own(consumers, channel, topic="T"):
    return consumers.subscription_of(consumers.find("g"), channel, topic).expression


def test_what_a_client_sends_last_is_in_force_whatever_its_version():
    # Case A10.
    consumers = Consumers(ignore)
    register(consumers, "ch1", wants(sub("T", "A", 3_600_000)))

    changed = register(consumers, "ch1", wants(sub("T", "B", 1), consume_type="CONSUME_ACTIVELY"))

    group = consumers.find("g")
    assert changed.topics == ["T"]
    assert group.subscriptions["T"] == sub("T", "B", 1)
    assert group.consume_type == "CONSUME_ACTIVELY"
    assert own(consumers, "ch1") == "B"


def test_a_client_of_several_goes_by_what_it_sent_itself():
    # Case A10.
    consumers = Consumers(ignore)
    register(consumers, "ch1", wants(sub("T", "A", 100)))
    register(consumers, "ch2", wants(sub("T", "B", 200)), member=client("c2"))
    assert (own(consumers, "ch1"), own(consumers, "ch2")) == ("A", "B")
    assert not consumers.agree_on("g", "T")

    changed = register(consumers, "ch1", wants(sub("T", "C", 50)))

    assert changed.topics == ["T"]
    assert (own(consumers, "ch1"), own(consumers, "ch2")) == ("C", "B")
    # The client that changed nothing undoes no change of another one.
    register(consumers, "ch2", wants(sub("T", "C", 20)), member=client("c2"))
    assert register(consumers, "ch1", wants(sub("T", "C", 50))).topics == []
    assert consumers.find("g").subscriptions["T"].version == 20
    assert consumers.agree_on("g", "T")


def test_the_subscription_of_a_new_connection_takes_effect_and_the_old_one_changes_nothing():
    # Case A10, a similar input.
    consumers = Consumers(ignore)
    register(consumers, "old", wants(sub("T", "A", 300), sub("U", "*", 1)))
    register(consumers, "new", wants(sub("T", "B", 200)))

    late = register(consumers, "old", wants(sub("T", "A", 400), message_model="BROADCASTING"))

    group = consumers.find("g")
    assert late.topics == ["T"]
    assert group.subscriptions["T"] == sub("T", "B", 200)
    assert not group.is_broadcasting
    assert (own(consumers, "old"), own(consumers, "new")) == ("A", "B")
    # Once it is gone, the older one is the client again.
    consumers.drop_channel("new")
    register(consumers, "old", wants(sub("T", "D", 1)))
    assert group.subscriptions["T"].expression == "D"


def test_a_topic_that_another_member_names_is_not_dropped():
    consumers = Consumers(ignore)
    register(consumers, "ch1", data("T", "U"))
    register(consumers, "ch2", data("T"), member=client("c2"))

    assert sorted(consumers.find("g").subscriptions) == ["T", "U"]
    register(consumers, "ch1", data("T"))
    assert sorted(consumers.find("g").subscriptions) == ["T"]


def test_a_light_heartbeat_keeps_a_clients_own_subscription():
    consumers = Consumers(ignore)
    register(consumers, "ch1", wants(sub("T", "A", 1)))

    register(consumers, "ch1", data(), with_subscriptions=False)

    assert own(consumers, "ch1") == "A"


def wanting(tags, version):
    subscription = SubscriptionData(topic="T", expression=tags, version=version)
    return ConsumerData(group_name="g", subscriptions=[subscription])


def test_the_subscription_of_a_member_that_left_is_in_force_no_longer():
    # Case A10.
    consumers = Consumers(ignore)
    register(consumers, "ch1", wanting("x", 1))
    register(consumers, "ch2", wanting("y", 2), member=client("c2"))
    consumers.unregister("g", "ch2")

    changed = register(consumers, "ch1", wanting("x", 1))

    assert consumers.find("g").subscriptions["T"].expression == "x"
    assert changed.topics == ["T"]
    assert consumers.agree_on("g", "T")


def test_a_light_heartbeat_over_another_connection_keeps_what_the_client_sent():
    # Case A10.
    consumers = Consumers(ignore)
    register(consumers, "old", data("T", "U"))
    register(consumers, "new", data(), with_subscriptions=False)
    consumers.drop_channel("old")

    register(consumers, "ch2", data("T"), member=client("c2"))

    assert set(consumers.find("g").subscriptions) == {"T", "U"}


def test_every_change_of_a_group_is_announced():
    changes = []
    consumers = Consumers(lambda: changes.append(len(changes)))

    register(consumers, "ch1", data("T"))
    after_joining = len(changes)
    consumers.unregister("g", "ch2")
    after_nothing = len(changes)
    consumers.unregister("g", "ch1")

    assert (after_joining, after_nothing, len(changes)) == (1, 1, 2)


def test_a_heartbeat_is_announced_only_if_it_changes_what_pulls_are_checked_by():
    changes = []
    consumers = Consumers(lambda: changes.append(len(changes)))
    register(consumers, "ch1", wants(sub("T", "A", 1)))
    register(consumers, "ch2", wants(sub("T", "A", 1)), member=client("c2"))

    def is_announced(channel="ch1", *, member=None, with_subscriptions=True, **fields):
        before = len(changes)
        subscriptions = fields.pop("subscriptions", [sub("T", "A", 1)])
        register(
            consumers,
            channel,
            wants(*subscriptions, **fields),
            member=member,
            with_subscriptions=with_subscriptions,
        )
        return len(changes) > before

    assert not is_announced()
    assert not is_announced(member=client(seen_at_ms=5))
    assert not is_announced(subscriptions=[], with_subscriptions=False)
    assert not is_announced(consume_from_where="CONSUME_FROM_FIRST_OFFSET")
    assert is_announced(subscriptions=[sub("T", "B", 1)])
    assert not is_announced(subscriptions=[sub("T", "B", 1)])
    assert is_announced(subscriptions=[sub("T", "B", 2)])
    assert is_announced(subscriptions=[])
    assert is_announced()
    assert is_announced("ch3", member=client("c3"))
    assert is_announced(message_model="BROADCASTING")
    # The group keeps its subscription, but the member's own one is another: they disagree.
    register(consumers, "old", wants(sub("T", "A", 1)), member=client("c4"))
    register(consumers, "new", wants(sub("T", "A", 1)), member=client("c4"))
    assert is_announced("old", member=client("c4"), subscriptions=[sub("T", "C", 1)])
    assert not consumers.agree_on("g", "T")
