"""Which silent brokers are given up, and which not because no process listened."""

import asyncio

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.db import brokers
from backend.services.cluster.topology import watch
from backend.services.controller.heartbeats import BrokerIdentity, Observer, record_heartbeats
from backend.services.controller.liveness import scan_liveness
from tests.integration.tasks.conftest import is_watched, register
from tests.waiting import PATIENCE_S, eventually

BROKER_A = BrokerIdentity("east", "broker-a", 0)
BROKER_B = BrokerIdentity("east", "broker-b", 0)


@pytest.fixture
async def two_brokers(database, clock):
    await register(database, clock, "127.0.0.1:10911", broker_group_name="broker-a")
    await register(database, clock, "127.0.0.1:10921", broker_group_name="broker-b")
    clock.advance(minutes=1)


@pytest.fixture
def scan(database, redis, clock):
    async def run(client=redis):
        return await scan_liveness(database=database, redis=client, clock=clock)

    return run


async def online(database) -> set[str]:
    async with database.connect() as connection:
        return {broker.broker_group_name for broker in await brokers.list_online(connection)}


@pytest.mark.usefixtures("two_brokers")
async def test_a_silent_broker_is_given_up_and_announced(scan, database, redis, clock):
    now = clock.now_ms()
    await record_heartbeats(redis, {BROKER_A: now, BROKER_B: now - 10_001})
    watcher = watch(redis)
    heard = asyncio.create_task(anext(watcher))
    await eventually(lambda: is_watched(redis, "regent:topology"))

    outcome = await scan()

    assert outcome.offline == (BROKER_B,)
    assert await online(database) == {"broker-a"}
    assert (await asyncio.wait_for(heard, PATIENCE_S)).cluster_name == "east"
    await watcher.aclose()


@pytest.mark.usefixtures("two_brokers")
async def test_a_broker_within_its_timeout_stays(scan, database, redis, clock):
    now = clock.now_ms()
    await record_heartbeats(redis, {BROKER_A: now, BROKER_B: now - 10_000})

    outcome = await scan()

    assert outcome.offline == ()
    assert await online(database) == {"broker-a", "broker-b"}


@pytest.mark.usefixtures("two_brokers")
async def test_a_fresh_registration_has_the_effect_of_a_heartbeat(scan, database, redis, clock):
    now = clock.now_ms()
    await record_heartbeats(redis, {BROKER_A: now, BROKER_B: now - 30_000})
    await register(database, clock, "127.0.0.1:10921", broker_group_name="broker-b")

    outcome = await scan()

    assert outcome.offline == ()


@pytest.mark.usefixtures("two_brokers")
async def test_when_no_broker_is_heard_none_is_given_up(scan, database, redis, clock):
    now = clock.now_ms()
    await record_heartbeats(redis, {BROKER_A: now - 60_000, BROKER_B: now - 60_000})

    outcome = await scan()

    assert (outcome.offline, outcome.unjudged_count) == ((), 2)
    assert await online(database) == {"broker-a", "broker-b"}


class Elapsed:
    now_ms = 5_000.0

    def __call__(self):
        return self.now_ms


@pytest.mark.usefixtures("two_brokers")
async def test_a_silence_that_the_observer_slept_through_is_no_silence(
    scan, database, redis, clock
):
    # Case A15.
    elapsed = Elapsed()
    observer = Observer("one", clock, elapsed)
    elapsed.now_ms += 60_000
    clock.advance(minutes=1)
    await record_heartbeats(redis, dict.fromkeys([BROKER_A, BROKER_B], clock.now_ms()))

    # While the observer is paused, it reports nothing.
    await record_heartbeats(redis, {}, observer=observer)
    elapsed.now_ms += 16_000
    clock.advance(seconds=16)
    await record_heartbeats(redis, {BROKER_A: clock.now_ms()})
    assert (await scan()).offline == ()

    # Then it has listened for too short a time.
    observer.begin()
    await record_heartbeats(redis, {}, observer=observer)
    assert (await scan()).offline == ()
    assert await online(database) == {"broker-a", "broker-b"}

    elapsed.now_ms += 10_001
    clock.advance(milliseconds=10_001)
    await record_heartbeats(redis, {BROKER_A: clock.now_ms()}, observer=observer)
    assert (await scan()).offline == (BROKER_B,)


@pytest.mark.parametrize("minutes", [10, -10])
@pytest.mark.usefixtures("two_brokers")
async def test_a_wall_clock_that_is_set_gives_no_broker_up(scan, redis, clock, minutes):
    # Case A9.
    elapsed = Elapsed()
    observer = Observer("one", clock, elapsed)
    elapsed.now_ms += 60_000
    clock.advance(minutes=1)
    await record_heartbeats(
        redis, dict.fromkeys([BROKER_A, BROKER_B], clock.now_ms()), observer=observer
    )

    clock.advance(minutes=minutes)
    elapsed.now_ms += 500
    await record_heartbeats(redis, {BROKER_A: clock.now_ms()}, observer=observer)

    assert (await scan()).offline == ()


@pytest.mark.usefixtures("two_brokers")
async def test_an_observer_that_ended_without_a_word_keeps_no_broker_alive_for_ever(
    scan, redis, clock
):
    await record_heartbeats(redis, {}, observer=Observer("dead", clock, Elapsed()))
    elapsed = Elapsed()
    living = Observer("living", clock, elapsed)
    elapsed.now_ms += 40_000
    clock.advance(seconds=40)
    now_ms = clock.now_ms()
    await record_heartbeats(redis, {BROKER_A: now_ms, BROKER_B: now_ms - 30_000}, observer=living)

    assert (await scan()).offline == (BROKER_B,)


@pytest.mark.usefixtures("two_brokers")
async def test_an_instant_that_redis_lost_starts_again(scan, redis, clock):
    await record_heartbeats(redis, {BROKER_A: clock.now_ms()})

    first = await scan()
    clock.advance(seconds=11)
    await record_heartbeats(redis, {BROKER_A: clock.now_ms()})
    second = await scan()

    assert (first.offline, first.unjudged_count) == ((), 1)
    assert second.offline == (BROKER_B,)


@pytest.mark.usefixtures("two_brokers")
async def test_without_redis_no_broker_is_given_up(scan, database, tmp_path):
    unreachable = Redis.from_url(f"unix://{tmp_path}/no-redis.sock")

    with pytest.raises(RedisError):
        await scan(unreachable)

    assert await online(database) == {"broker-a", "broker-b"}
    await unreachable.aclose()


async def test_without_brokers_there_is_nothing_to_judge(scan):
    outcome = await scan()

    assert (outcome.offline, outcome.unjudged_count) == ((), 0)
