import asyncio
from contextlib import aclosing

from redis.exceptions import ConnectionError as RedisConnectionError

from backend.api import feeds
from backend.api.feeds import QUEUE_SIZE, Feed
from tests.waiting import PATIENCE_S


async def collect(feed, count):
    async with aclosing(feed.listen()) as items:
        return [await anext(items) for _ in range(count)]


async def running(feed, until):
    task = asyncio.create_task(feed.run())
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await until
    finally:
        task.cancel()


def source_of(*rounds):
    remaining = list(rounds)

    async def open_source():
        # Listeners come before items, as they would with a real source.
        await asyncio.sleep(0.01)
        for item in remaining.pop(0) if remaining else ():
            if isinstance(item, Exception):
                raise item
            yield item
        if not remaining:
            await asyncio.Event().wait()

    return open_source


async def test_every_listener_hears_every_item():
    feed = Feed("test", source_of([1, 2]))

    both = asyncio.gather(collect(feed, 2), collect(feed, 2))

    assert await running(feed, both) == [[1, 2], [1, 2]]
    assert feed.listener_count == 0


async def test_a_source_that_fails_is_listened_to_again(monkeypatch):
    monkeypatch.setattr(feeds, "RETRY_DELAY_S", 0.01)
    feed = Feed("test", source_of([1, RedisConnectionError("gone")], [2]))

    assert await running(feed, collect(feed, 2)) == [1, 2]


async def test_a_slow_listener_misses_the_oldest():
    feed = Feed("test", source_of([]))
    listener = feed.listen()
    waiting = asyncio.ensure_future(anext(listener))
    await asyncio.sleep(0)

    for number in range(QUEUE_SIZE + 10):
        feed._spread(number)

    first = await waiting
    assert first == 10
    await listener.aclose()
