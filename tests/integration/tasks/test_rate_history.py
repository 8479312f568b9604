"""What clusters took in and gave out lately: added up round by round, and kept for a day."""

import pytest

from backend.domain.cluster_scope import ClusterScope
from backend.domain.errors import ClusterNotFound, InvalidSpan
from backend.services.samples.rate_history import (
    MEANS_KEY,
    MINUTES_MAX,
    ROUNDS_KEY,
    Rates,
    note_rates,
    show_rates,
)
from tests.integration.tasks.conftest import register
from tests.unit.tasks.test_sample_rates import sample

MINUTE_MS = 60_000
FIVE_MS = 5 * MINUTE_MS
ROUND_MS = 5_000
EVERYWHERE = ClusterScope()


def rated(messages_in, messages_out=None, **values):
    return sample(
        messages_in_per_second=messages_in,
        messages_out_per_second=messages_out,
        bytes_in_per_second=None if messages_in is None else 100 * messages_in,
        **values,
    )


@pytest.fixture
def now_ms(clock):
    """Give the time that it is, which begins five minutes."""
    assert clock.now_ms() % FIVE_MS == 0
    return clock.now_ms()


@pytest.fixture
def show(database, redis, clock):
    async def run(minutes=60, *, cluster_name=None, within=EVERYWHERE):
        return await show_rates(
            minutes,
            cluster_name=cluster_name,
            within=within,
            redis=redis,
            database=database,
            clock=clock,
        )

    return run


async def test_a_round_adds_up_masters_for_what_comes_in_and_all_for_what_goes_out(
    show, redis, now_ms
):
    samples = [
        rated(10.0, 1.0),
        rated(20.0, 2.0, broker_name="broker-b"),
        # A replica takes in what its master took in.
        rated(20.0, 4.0, broker_name="broker-b", broker_id=2),
        rated(None, None, broker_name="broker-c"),
    ]

    await note_rates(redis, samples, at_ms=now_ms)

    (point,) = await show()
    assert (point.at_ms, point.rates) == (now_ms, Rates(30.0, 7.0, 3_000.0, None))


async def test_clusters_are_separate_and_together_only_within_reach(
    show, redis, database, clock, now_ms
):
    await register(database, clock, "10.0.0.1:10911", cluster_name="west")
    samples = [rated(1.0), rated(2.0, cluster_name="west"), rated(4.0, cluster_name="north")]
    await note_rates(redis, samples, at_ms=now_ms)

    together = await show()
    of_one = await show(cluster_name="west")
    within = await show(within=ClusterScope.of(["west", "east"]))
    none = await show(within=ClusterScope.of(["south"]))

    found = [[point.rates.messages_in for point in points] for points in (together, of_one, within)]
    assert (found, none) == ([[7.0], [2.0], [3.0]], [])


async def test_beyond_an_hour_there_is_the_mean_of_every_five_minutes_that_have_ended(
    show, redis, clock, now_ms
):
    for number in range(130):
        at_ms = now_ms + number * ROUND_MS
        clock.advance(milliseconds=at_ms - clock.now_ms())
        await note_rates(redis, [rated(float(number), None)], at_ms=at_ms)
        # The same round once more, as by a worker that was taken for dead.
        await note_rates(redis, [rated(float(number), None)], at_ms=at_ms)

    rounds, means = await show(60), await show(61)

    assert [point.rates.messages_in for point in rounds] == [float(number) for number in range(130)]
    assert [(point.at_ms - now_ms, point.rates.messages_in) for point in means] == [
        (0, 29.5),
        (FIVE_MS, 89.5),
    ]
    assert {point.rates.messages_out for point in (*rounds, *means)} == {None}


async def test_only_the_time_asked_for_is_shown_and_only_a_day_is_kept(show, redis, clock, now_ms):
    for minute in range(MINUTES_MAX + 90):
        at_ms = now_ms + minute * MINUTE_MS
        await note_rates(redis, [rated(1.0)], at_ms=at_ms)
    clock.advance(milliseconds=at_ms - clock.now_ms())

    assert len(await show(5)) == 6
    assert len(await show(120)) == 23
    assert len(await show(MINUTES_MAX)) == MINUTES_MAX // 5 - 1
    assert await redis.zcard(ROUNDS_KEY) == 61
    assert await redis.zcard(MEANS_KEY) == MINUTES_MAX // 5 - 1


async def test_a_clock_that_is_set_back_leaves_no_rates_of_the_future(show, redis, now_ms):
    for at_ms in (now_ms, now_ms + 2 * FIVE_MS, now_ms + 4 * FIVE_MS):
        await note_rates(redis, [rated(9.0)], at_ms=at_ms)

    await note_rates(redis, [rated(1.0)], at_ms=now_ms + FIVE_MS)

    assert [point.rates.messages_in for point in await show()] == [9.0, 1.0]
    assert [point.at_ms - now_ms for point in await show(61)] == [0]


async def test_what_another_version_wrote_is_passed_over(show, redis, now_ms):
    await redis.zadd(ROUNDS_KEY, {b'{"form": "another"}': now_ms})

    await note_rates(redis, [rated(1.0)], at_ms=now_ms + MINUTE_MS)

    assert [point.rates.messages_in for point in await show()] == [1.0]


@pytest.mark.parametrize("minutes", [-1, 0, MINUTES_MAX + 1, 2**63])
async def test_a_time_that_is_not_kept_is_refused(show, minutes):
    with pytest.raises(InvalidSpan, match="1 to 1440 minutes"):
        await show(minutes)


async def test_a_unknown_cluster_is_refused(show):
    with pytest.raises(ClusterNotFound):
        await show(cluster_name="nowhere")


async def test_a_round_that_comes_late_removes_none_that_came_before_it(show, redis, now_ms):
    for at_ms in (0, 61_000, 59_000, 66_000):
        await note_rates(redis, [rated(1.0)], at_ms=now_ms + at_ms)

    assert [point.at_ms - now_ms for point in await show()] == [0, 59_000, 61_000, 66_000]


async def test_five_minutes_that_end_twice_have_one_mean(show, redis, now_ms):
    # The clock was set back once they had ended.
    for at_ms in (0, 301_000, 20_000, 302_000):
        await note_rates(redis, [rated(at_ms / 1_000)], at_ms=now_ms + at_ms)

    means = [(point.at_ms - now_ms, point.rates.messages_in) for point in await show(61)]
    assert means == [(0, 10.0)]
