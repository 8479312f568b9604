"""Which client had a connection that is gone."""

from workers.broker.shares.departed_clients import DEPARTED_COUNT_MAX, DepartedClients


def test_a_client_that_left_is_known_by_its_connection_and_group():
    departed = DepartedClients()

    departed.note(7, "g", "c1")
    departed.note(8, "g", None)

    assert departed.find(7, "g") == "c1"
    assert departed.find(7, "h") is None
    assert departed.find(8, "g") is None


def test_only_the_clients_that_left_last_are_remembered():
    departed = DepartedClients()

    for connection_id in range(DEPARTED_COUNT_MAX + 1):
        departed.note(connection_id, "g", f"c{connection_id}")

    assert departed.find(0, "g") is None
    assert departed.find(1, "g") == "c1"
    assert departed.find(DEPARTED_COUNT_MAX, "g") == f"c{DEPARTED_COUNT_MAX}"


def test_a_client_that_leaves_a_second_time_is_among_the_last():
    departed = DepartedClients()

    for connection_id in range(DEPARTED_COUNT_MAX):
        departed.note(connection_id, "g", f"c{connection_id}")
    departed.note(0, "g", "c0")
    departed.note(DEPARTED_COUNT_MAX, "g", "last")

    assert departed.find(0, "g") == "c0"
    assert departed.find(1, "g") is None
