"""Samples from brokers that speak remoting, through Redis, to subscribers."""

import asyncio
from contextlib import aclosing

import pytest
from msgspec.structs import replace

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.domain.cluster_scope import ClusterScope
from backend.services.samples import latest_samples, observe
from backend.services.samples.collection import collect_samples
from backend.services.samples.full_disks import read_full_disks
from backend.services.samples.observed import LATEST_KEY, PENDING_KEY
from backend.services.samples.rate_history import show_rates
from tests.integration.tasks.conftest import FakeBroker, is_watched, register
from tests.waiting import PATIENCE_S, eventually


@pytest.fixture
async def brokers():
    client = RemotingClient()
    yield Brokers(client)
    await client.aclose()


@pytest.fixture
def collect(database, redis, brokers, clock):
    async def run():
        return await collect_samples(database=database, redis=redis, brokers=brokers, clock=clock)

    return run


async def test_a_first_sample_has_counters_and_no_rates(collect, broker, database, redis, clock):
    await register(database, clock, broker.address)

    outcome = await collect()

    [sample] = await latest_samples(redis, "east")
    assert (outcome.sampled_count, outcome.silent_count) == (1, 0)
    assert (sample.broker_name, sample.own_id, sample.messages_in) == ("broker-a", 2, 100)
    assert sample.messages_in_per_second is None
    assert sample.topics[0].queues[0].max_offset == 100
    assert sample.observed_at_ms == clock.now_ms()


async def test_a_second_sample_has_rates(collect, broker, database, redis, clock):
    await register(database, clock, broker.address)
    await collect()
    broker.sample = replace(
        broker.sample, observed_at_ms=broker.sample.observed_at_ms + 5_000, messages_in=600
    )

    await collect()

    [sample] = await latest_samples(redis, "east")
    assert sample.messages_in_per_second == 100.0
    assert broker.connection_count == 1
    assert await redis.xlen(PENDING_KEY) == 2


async def test_a_broker_that_falls_silent_keeps_its_counters_and_loses_its_rates(
    collect, broker, database, redis, clock
):
    await register(database, clock, broker.address)
    await collect()
    broker.sample = replace(broker.sample, observed_at_ms=broker.sample.observed_at_ms + 5_000)
    await collect()
    broker.sample = None

    outcome = await collect()

    [sample] = await latest_samples(redis, "east")
    assert outcome.silent_count == 1
    assert sample.messages_in == 100
    assert sample.messages_in_per_second is None
    assert await redis.xlen(PENDING_KEY) == 2


@pytest.mark.parametrize(
    "nonsense",
    [{"messages_in": 2**63}, {"booted_at_ms": 10**18}, {"observed_at_ms": -1}],
    ids=["a count", "an instant to come", "an instant that was"],
)
async def test_figures_that_no_history_can_hold_are_no_sample(
    collect, broker, database, redis, clock, nonsense
):
    await register(database, clock, broker.address)
    broker.sample = replace(broker.sample, **nonsense)

    outcome = await collect()

    # One that waited for the archive would stop it for good, for every broker.
    assert (outcome.sampled_count, outcome.silent_count) == (0, 1)
    assert not await redis.exists(LATEST_KEY, PENDING_KEY)


async def test_one_silent_broker_does_not_cost_the_others_theirs(collect, broker, database, clock):
    await register(database, clock, broker.address)
    await register(database, clock, "127.0.0.1:1", broker_group_name="broker-b")

    outcome = await collect()

    assert (outcome.sampled_count, outcome.silent_count) == (1, 1)


async def test_an_address_that_another_broker_has_taken_over_is_not_believed(
    collect, broker, database, redis, clock
):
    await register(database, clock, broker.address, broker_group_name="broker-z")

    outcome = await collect()

    assert outcome.silent_count == 1
    assert await latest_samples(redis, "east") == []


async def test_clusters_are_kept_separate(collect, broker, database, redis, clock):
    other = FakeBroker()
    await other.start()
    other.sample = replace(other.sample, cluster_name="west")
    await register(database, clock, broker.address)
    await register(database, clock, other.address, cluster_name="west")

    await collect()
    await other.stop()

    [east] = await latest_samples(redis, "east")
    [west] = await latest_samples(redis, "west")
    assert (east.cluster_name, west.cluster_name) == ("east", "west")


async def test_what_a_round_adds_up_to_can_be_asked_for_later(
    collect, broker, database, redis, clock
):
    await register(database, clock, broker.address)
    await collect()
    broker.sample = replace(
        broker.sample, observed_at_ms=broker.sample.observed_at_ms + 5_000, messages_in=600
    )
    clock.advance(seconds=5)
    await collect()
    broker.sample = None
    clock.advance(seconds=5)
    await collect()

    points = await show_rates(
        5, cluster_name="east", within=ClusterScope(), redis=redis, database=database, clock=clock
    )

    # Without an answer there is no point: that is not zero (D21).
    assert [point.rates.messages_in for point in points] == [None, 100.0]


async def test_watchers_get_each_sample_once(collect, broker, database, redis, clock):
    await register(database, clock, broker.address)

    async with aclosing(observe(redis)) as samples, asyncio.timeout(PATIENCE_S):
        first = asyncio.create_task(anext(samples))
        await eventually(lambda: is_watched(redis, "regent:samples"))
        await collect()
        sample = await first

    assert sample.broker_name == "broker-a"


async def test_a_latest_sample_of_another_version_is_passed_over(redis):
    await redis.hset(LATEST_KEY, "east/broker-a/0", b'{"form": "another"}')

    assert await latest_samples(redis, "east") == []


async def test_a_brokers_rates_go_on_through_a_change_of_its_role(
    collect, broker, database, redis, clock
):
    # Case B2: the samples of id 0 were those of one machine, and then of another.
    await register(database, clock, broker.address, broker_id=2)
    broker.sample = replace(broker.sample, broker_id=2)
    await collect()
    await register(database, clock, broker.address, broker_id=0)
    at_ms = broker.sample.observed_at_ms + 5_000
    broker.sample = replace(broker.sample, broker_id=0, observed_at_ms=at_ms, messages_in=600)

    await collect()

    [sample] = await latest_samples(redis, "east")
    assert (str(sample.name), sample.broker_id) == ("broker-a-2", 0)
    assert sample.messages_in_per_second == 100.0


async def test_a_sample_that_was_kept_under_a_role_is_replaced(
    collect, broker, database, redis, clock
):
    # As control planes of before left it in Redis.
    await register(database, clock, broker.address)
    await collect()
    [kept] = (await redis.hgetall(LATEST_KEY)).values()
    await redis.delete(LATEST_KEY)
    await redis.hset(LATEST_KEY, "east/broker-a/0", kept)
    assert [str(one.name) for one in await latest_samples(redis, "east")] == ["broker-a-2"]

    await collect()

    assert [key.decode() for key in await redis.hkeys(LATEST_KEY)] == ["east/broker-a-2"]


@pytest.mark.parametrize(("free", "is_full"), [(10_000, True), (11_000, False)])
async def test_a_disk_past_the_warning_level_is_noted_for_health(
    collect, broker, database, redis, clock, free, is_full
):
    # Case A16, by another way: such a broker takes no messages.
    await register(database, clock, broker.address)
    broker.sample = replace(broker.sample, disk_total_bytes=100_000, disk_free_bytes=free)

    await collect()

    assert bool(await read_full_disks(redis)) is is_full
