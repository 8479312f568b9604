import asyncio

import msgspec
import pytest

from backend.remoting import java_json
from backend.remoting.bodies import QueueData, TopicRouteData
from workers.broker.routing.topic_routes import FRESH_MS, RouteUnknown, TopicRoutes

TOPIC_NOT_EXIST = 17


class Answer:
    def __init__(self, code=0, queues=(), body=None):
        self.code, self.remark = code, "no route"
        data = [
            QueueData(
                broker_name=name, permissions=perm, read_queue_count=count, write_queue_count=9
            )
            for name, perm, count in queues
        ]
        self.body = java_json.encode(TopicRouteData(queues=data)) if body is None else body


class NameServer:
    def __init__(self, answer):
        self.answer, self.count = answer, 0

    async def ask(self, _code, ext):
        assert ext["topic"] == "T"
        self.count += 1
        await asyncio.sleep(0)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Clock:
    now_ms = 1_000_000

    def __call__(self):
        return self.now_ms


async def test_the_readable_queues_of_all_brokers_are_fetched_once_in_a_while():
    # Case C8.
    server, clock = NameServer(Answer(queues=[("b", 6, 2), ("a", 4, 1), ("c", 2, 8)])), Clock()
    routes = TopicRoutes(clock)

    together = await asyncio.gather(*(routes.readable_queues("T", server) for _ in range(3)))
    clock.now_ms += FRESH_MS - 1
    fresh = await routes.readable_queues("T", server)
    assert server.count == 1
    clock.now_ms += 1
    await routes.readable_queues("T", server)

    assert [*together, fresh] == [(("b", 0), ("b", 1), ("a", 0))] * 4
    assert server.count == 2


async def test_a_topic_that_no_name_server_knows_has_no_queues():
    routes = TopicRoutes(Clock())

    assert await routes.readable_queues("T", NameServer(Answer(TOPIC_NOT_EXIST))) is None


@pytest.mark.parametrize(
    "failure",
    [ConnectionError("gone"), TimeoutError(), Answer(code=1), Answer(body=b"no JSON")],
)
async def test_while_no_name_server_answers_the_last_answer_holds(failure):
    # Case C8: unknown is not none.
    clock = Clock()
    routes, server = TopicRoutes(clock), NameServer(Answer(queues=[("a", 6, 1)]))
    with pytest.raises(RouteUnknown):
        await routes.readable_queues("T", NameServer(failure))
    await routes.readable_queues("T", server)
    clock.now_ms += FRESH_MS

    reported = await routes.readable_queues("T", NameServer(failure))

    assert reported == (("a", 0),)


async def test_the_queues_of_a_static_topic_are_its_logical_ones():
    """H-29: clients that balance by themselves read the same ones."""
    mapping = {
        "topic": "T",
        "bname": "a",
        "scope": "__global__",
        "totalQueues": 3,
        "epoch": 5,
        "dirty": False,
        "currIdMap": {"0": 4, "1": 2},
    }
    route = TopicRouteData(
        queues=[QueueData(broker_name="a", permissions=6, read_queue_count=9, write_queue_count=9)],
        topic_queue_mapping_by_broker={"a": mapping},
    )
    broken = msgspec.structs.replace(route, topic_queue_mapping_by_broker={"a": {}})

    async def queues_of(one):
        server = NameServer(Answer(body=java_json.encode(one)))
        return await TopicRoutes(Clock()).readable_queues("T", server)

    assert await queues_of(route) == tuple(("__syslo__global__", number) for number in range(3))
    with pytest.raises(RouteUnknown):
        await queues_of(broken)
