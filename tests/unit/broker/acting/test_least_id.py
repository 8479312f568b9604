"""What a change of the least id means, each row of control-plane.md 5.3 by itself."""

import pytest

from workers.broker.acting.least_id import Least, LeastId, least_of

MASTER, FIRST, SECOND = "10.0.0.1:10911", "10.0.0.2:10911", "10.0.0.3:10911"


@pytest.fixture
def least():
    least = LeastId()
    least.begin(Least(0, MASTER))
    return least


def test_the_same_least_id_is_no_news(least):
    assert least.take(Least(0, MASTER)) is None


def test_a_larger_least_id_means_that_its_holder_left(least):  # S106
    news = least.take(Least(1, FIRST))

    assert news == Least(1, FIRST, MASTER)
    assert least.take(Least(1, FIRST)) is None


def test_a_notice_names_who_left(least):  # S103
    assert least.take(Least(1, FIRST, SECOND)) == Least(1, FIRST, SECOND)


def test_a_smaller_least_id_means_that_its_holder_returned(least):  # S108, S109
    least.take(Least(2, SECOND))

    assert least.take(Least(1, FIRST)) == Least(1, FIRST)
    assert least.take(Least(0, MASTER)) == Least(0, MASTER)


def test_another_address_of_the_same_id_is_news(least):
    assert least.take(Least(0, SECOND)) == Least(0, SECOND)


def test_no_replica_acts_before_it_heard_of_another_least_id():
    assert LeastId().known.broker_id == 0


def test_no_members_have_no_least_one():
    assert least_of({}) is None
    assert least_of({2: SECOND, 1: FIRST}) == Least(1, FIRST)
