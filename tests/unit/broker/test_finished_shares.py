"""What is kept of share queues while the master of a group is absent."""

import pytest

from backend.remoting.bodies.shares import FinishedShareBody
from workers.broker.shares import finished_shares
from workers.broker.shares.finished_shares import FinishedShares, name_of, united


def share(*ranges, topic="orders", queue_id=0, number=1, reset_epoch=0):
    return FinishedShareBody(
        topic=topic,
        queue_id=queue_id,
        consumer_group="g",
        number=number,
        reset_epoch=reset_epoch,
        ranges=list(ranges),
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "regentFinished.json"


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ([], [], []),
        ([(0, 3)], [], [(0, 3)]),
        ([(0, 3), (5, 6)], [(3, 5)], [(0, 6)]),
        ([(0, 9)], [(2, 4), (11, 12)], [(0, 9), (11, 12)]),
        ([(0, 0), (4, 5)], [(0, 0)], [(4, 5)]),
    ],
)
def test_states_of_two_members_are_united_in_any_order(one, other, both):
    assert united(one, other) == united(other, one) == both


async def test_what_was_saved_is_there_after_a_restart(path):
    finished = FinishedShares(path)
    finished.keep(share((0, 3)))
    finished.keep(share((0, 2), (5, 6)))
    await finished.save()

    assert list(FinishedShares(path).kept.values()) == [share((0, 3), (5, 6))]


@pytest.mark.parametrize("later", [{"number": 2}, {"reset_epoch": 7}])
def test_what_was_finished_before_a_reset_says_nothing(path, later):
    finished = FinishedShares(path)
    finished.keep(share((0, 9)))
    finished.keep(share((0, 1), **later))
    finished.keep(share((0, 9)))

    assert list(finished.kept.values()) == [share((0, 1), **later)]


async def test_what_changed_since_the_master_has_taken_it_stays(path):
    finished = FinishedShares(path)
    finished.keep(share((0, 1)))
    finished.keep(share((0, 1), queue_id=1))
    passed = list(finished.kept.values())
    finished.keep(share((0, 2), queue_id=1))

    await finished.forget(passed)

    assert list(finished.kept.values()) == [share((0, 2), queue_id=1)]
    assert FinishedShares(path).kept == finished.kept


def test_pages_have_each_share_queue_once_also_if_some_are_dropped_meanwhile(path, monkeypatch):
    monkeypatch.setattr(finished_shares, "PAGE_RANGE_COUNT", 3)
    finished = FinishedShares(path)
    shares = [share((0, 1), (2, 3), topic=topic, queue_id=one) for topic in "ab" for one in (0, 1)]
    for one in reversed(shares):
        finished.keep(one)

    found, after = [], ("", -1, "")
    while page := finished.page(after):
        assert len(page) == 1
        found += page
        after = name_of(page[-1])

    assert found == shares


def test_a_share_queue_with_too_many_ranges_for_a_page_is_a_page(path, monkeypatch):
    monkeypatch.setattr(finished_shares, "PAGE_RANGE_COUNT", 1)
    finished = FinishedShares(path)
    finished.keep(share((0, 1), (2, 3)))

    assert finished.page(("", -1, "")) == [share((0, 1), (2, 3))]
