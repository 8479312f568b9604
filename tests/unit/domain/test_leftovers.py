from backend.domain.unread_messages import UnreadMessages


def test_groups_that_are_behind_are_named_the_furthest_first():
    left = UnreadMessages({"a": 1, "b": 0, "c": 9, "d": 3, "e": 2}, frozenset(), delayed_count=4)

    assert left.count == 19
    assert left.sentence == (
        "c has 9 to read; d has 3 to read; e has 2 to read; 1 more groups are behind;"
        " 4 messages wait for their time"
    )
    assert list(left.as_value()["groups"]) == ["c", "d", "e", "a", "b"]


def test_a_group_that_is_waived_is_not_counted():
    left = UnreadMessages({"a": 1, "b": 2}, frozenset(), delayed_count=0).without(["b"])

    assert (left.count, left.without(["a"]).sentence) == (1, "nothing is left")


def test_of_many_groups_the_journal_keeps_the_furthest_behind():
    left = UnreadMessages({f"g{i}": i for i in range(200)}, frozenset(), delayed_count=0)

    value = left.as_value()

    assert (len(value["groups"]), value["group_count"], value["groups"]["g199"]) == (50, 200, 199)
    assert value["unread_count"] == sum(range(200))
