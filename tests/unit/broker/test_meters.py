from datetime import datetime

import pytest

from workers.broker.metrics.meters import Meters, TurnTimes, ms_to_midnight


def at(*moment):
    return int(datetime(*moment).timestamp() * 1000)  # noqa: DTZ001 - days are local


def pulled(meters, count):
    meters.pulled("g", "T", messages=count, size_bytes=count)


def test_a_morning_keeps_what_was_counted_until_then():
    # Case C2.
    meters = Meters(at(2026, 3, 1, 22))
    pulled(meters, 5)
    meters.note_day(at(2026, 3, 1, 23, 59, 59), 10)
    assert [one.put_count for one in meters.mornings(at(2026, 3, 1, 23, 59, 59), 10)] == [0, 0]

    meters.note_day(at(2026, 3, 2), 12)
    pulled(meters, 1)
    today, yesterday = meters.mornings(at(2026, 3, 2, 12), 100)

    assert (today.put_count, today.got_count) == (12, 5)
    assert (yesterday.put_count, yesterday.got_count) == (0, 0)
    meters.note_day(at(2026, 3, 3), 150)
    today, yesterday = meters.mornings(at(2026, 3, 3, 1), 151)
    assert (today.put_count, yesterday.put_count) == (150, 12)


def test_a_machine_that_slept_for_days_had_no_messages_yesterday():
    # Case C2.
    meters = Meters(at(2026, 3, 1))

    today, yesterday = meters.mornings(at(2026, 3, 4), 7)

    assert (today.put_count, yesterday.put_count) == (7, 7)


def test_a_clock_that_is_set_back_begins_no_day():
    # Case C2.
    meters = Meters(at(2026, 3, 1))
    meters.note_day(at(2026, 3, 2), 7)

    meters.note_day(at(2026, 3, 1, 23), 8)
    today, _ = meters.mornings(at(2026, 3, 2, 1), 9)

    assert today.put_count == 7


def test_midnight_is_local():
    assert ms_to_midnight(at(2026, 3, 1, 23, 59, 59)) == 1000


def test_times_are_grouped_by_range_as_stock_does():
    # Case C2.
    times = TurnTimes(11_000, [1, 2, 1, *[0] * 9, 1])

    assert times.distribution() == (
        "[<=0ms]:1 [0~10ms]:2 [10~50ms]:1 [50~100ms]:0 [100~200ms]:0 [200~500ms]:0 "
        "[500ms~1s]:0 [1~2s]:0 [2~3s]:0 [3~4s]:0 [4~5s]:0 [5~10s]:0 [10s~]:1 "
    )


@pytest.mark.parametrize(("share", "expected"), [(0.5, 10), (0.99, 10), (1.0, 3_000)])
def test_a_percentile_is_the_end_of_its_range(share, expected):
    # Case C2.
    times = TurnTimes(2_500, [0, 99, *[0] * 6, 1, *[0] * 4])

    assert times.percentile(share) == min(expected, 2_500)
    assert TurnTimes(0, [0] * 13).percentile(0.99) == 0
