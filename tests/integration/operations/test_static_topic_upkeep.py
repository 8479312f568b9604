"""Upkeep of static topics on real agents: expiry, reuse, and the check with its findings."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from backend.clients.clock import SystemClock
from backend.db import suspicions
from backend.domain.event import TOPIC_SEGMENTS_EXPIRED, EventFilter
from backend.domain.finding import FindingCode
from backend.domain.logical_queue.segment import UNDECIDED
from backend.domain.operation import OperationState as S
from backend.remoting.request_code import RequestCode
from backend.services.logical_queue.checking import CheckOutcome, check_and_keep
from backend.services.logical_queue.convergence import ConvergeOutcome, converge
from backend.services.logical_queue.expiring import ExpireOutcome, expire
from backend.services.upkeep.events import list_events, number_events
from backend.services.upkeep.findings import FindingFilter, list_findings, scan_findings
from tests.integration.operations.agents import CLUSTER, running_agents
from tests.integration.operations.crashing import Crash
from tests.integration.operations.test_static_topics import A, B, Topic
from tests.lost_rows import forget_rows
from tests.pools import opened_database
from tests.waiting import eventually

SYSTEM_BUSY = 2
SEGMENTS, OLDEST = "logical_queue_segments", "global_id = 0 AND generation = 0"
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
GROUP = {"consumerGroup": "g", "topic": "orders", "queueId": 0}
SHORT_LIVED = {
    "fileReservedTime": "0",
    "mappedFileSizeCommitLog": "65536",
    "cleanResourceInterval": "3600000",
}


class Upkeep(Topic):
    """A static topic, and the tasks that look after it."""

    @property
    def clients(self):
        agents = self.agents
        return {
            "database": agents.database,
            "brokers": agents.context.brokers,
            "clock": agents.world.clock,
        }

    async def expire(self):
        return await expire(**self.clients)

    async def converge(self):
        return await converge(**self.clients)

    async def check_all(self):
        return await check_and_keep(**self.clients)

    async def commit(self, name, offset):
        fields = GROUP | {"commitOffset": offset}
        answer = await self.call(
            name, lambda client: client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)
        )
        assert answer.code == 0, answer.remark

    async def position(self, name):
        fields = GROUP | {"setZeroIfNotFound": "false"}
        answer = await self.call(
            name, lambda client: client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
        )
        return int(answer.ext["offset"]) if answer.code == 0 else None

    async def lose_messages(self):
        """Fill the log of broker-a with another queue, and let all but its last file expire."""
        await self.send(A, *[b"x" * 2_000] * 100, queue_id=1)
        store = self.agents.agent(A).store
        await eventually(lambda: store.flushed_position == store.max_position)
        await self.agents.call(RequestCode.DELETE_EXPIRED_COMMITLOG)
        await eventually(lambda: store.offsets("orders", 0) == (10, 10))

    async def findings(self):
        """Scan until what is suspected now is a finding; give those that are open."""
        for _ in range(2):
            await scan_findings(
                database=self.agents.database,
                clock=self.agents.world.clock,
                looking_since=LONG_AGO,
            )
            self.agents.world.clock.advance(seconds=80)
        page = await list_findings(
            size=9,
            before=None,
            chosen=FindingFilter(code=FindingCode.STATIC_TOPIC_DIFFERS, is_open=True),
            database=self.agents.database,
        )
        return list(page.items)


@pytest.fixture
def topic(agents):
    return Upkeep(agents)


@pytest.fixture
async def aging(database, database_url, redis, tmp_path):
    """A queue that has moved from broker-a, where all of its messages have expired.

    Group g had read them, and nothing of the next segment.
    """
    async with (
        opened_database(database_url, application_name="workers") as workers,
        running_agents(database, workers, redis, tmp_path, SystemClock(), **SHORT_LIVED) as agents,
    ):
        topic = Upkeep(agents)
        await topic.create(2, broker_groups=[A])
        await topic.send(A, *[b"%d" % one for one in range(10)])
        for name in (A, B):
            await topic.call(name, lambda client: client.heartbeat("g", "orders"))
        await topic.commit(A, 10)
        await topic.move(0)
        await topic.send(B, *[b"%d" % one for one in range(10, 15)])
        await topic.lose_messages()
        yield topic


async def test_a_segment_without_data_goes_and_its_queue_is_used_again_l12_l34_l35(aging):
    topic, clock = aging, aging.agents.world.clock

    assert await topic.expire() == ExpireOutcome(1, 0, 0)
    assert await topic.expire() == ExpireOutcome()
    clock.advance(seconds=60)
    assert await topic.expire() == ExpireOutcome(0, 1, 0)

    assert await topic.shown() == "[g1 broker-b:q0 L10 S0 E-]"
    assert await topic.converge() == ConvergeOutcome(1, 0, 0, 1)
    assert await topic.converge() == ConvergeOutcome()
    held = topic.agents.agent(A).static_topics.find("orders")
    assert (sorted(held.retired), sorted(held.mapping.hosted)) == ([0], [1])
    assert await topic.position(B) == 10
    assert await topic.is_sound()
    moved = await topic.move(0, to=A)
    assert moved.state is S.DONE, moved.outcome
    assert await topic.shown() == "[g1 broker-b:q0 L10 S0 E5] [g2 broker-a:q0 L15 S10 E-]"
    assert await topic.send(A, b"15") == [15]
    assert await topic.position(A) == 10
    assert await topic.is_sound()


async def test_an_expired_segment_is_an_event_of_its_broker_group(aging):
    await aging.expire()
    aging.agents.world.clock.advance(seconds=60)
    await aging.expire()

    database = aging.agents.database
    await number_events(database=database)
    page = await list_events(
        after=0,
        size=9,
        chosen=EventFilter(kinds=frozenset({TOPIC_SEGMENTS_EXPIRED})),
        database=database,
    )
    [event] = page.events
    assert (event.subject, event.details["topics"]) == (A, ["orders"])


@pytest.mark.parametrize("fatal", [("after the effect", 0), ("commit", 0)])
async def test_an_expiry_that_was_cut_off_is_repeated(aging, fatal):
    wire = aging.agents.world.wire
    await aging.expire()
    aging.agents.world.clock.advance(seconds=60)

    wire.arm(fatal)
    with pytest.raises(Crash):
        await aging.expire()
    wire.disarm()

    assert await aging.expire() == ExpireOutcome(0, 1, 0)
    assert await aging.shown() == "[g1 broker-b:q0 L10 S0 E-]"
    assert await aging.position(B) == 10


async def test_no_segment_goes_while_positions_can_not_be_read(aging):
    await aging.expire()
    aging.agents.world.clock.advance(seconds=60)
    await aging.agents.stop(B)
    await eventually(lambda: _is_away(aging, B))

    assert await aging.expire() == ExpireOutcome()

    assert await aging.shown() == "[g0 broker-a:q0 L0 S0 E10] [g1 broker-b:q0 L10 S0 E-]"


async def test_a_segment_that_has_messages_again_is_not_dropped(aging):
    await aging.expire()
    async with aging.agents.database.begin() as connection:
        # As after a restored store: the end was beyond what is empty now.
        await connection.execute(text(f"UPDATE {SEGMENTS} SET physical_end = 11 WHERE {OLDEST}"))
    aging.agents.world.clock.advance(seconds=60)

    assert await aging.expire() == ExpireOutcome()
    assert (await aging.stored()).empty_since == {}


async def test_a_route_that_lacks_queues_is_a_difference_l9(topic, agents):
    await topic.create(4)
    assert await topic.is_sound()

    await agents.client.request(
        agents.server.address, RequestCode.DELETE_TOPIC_IN_NAMESRV, ext={"topic": "orders"}
    )

    found = (await topic.check()).differences
    assert [(one.name, one.broker_group_name) for one in found] == [("INV-16", A), ("INV-16", B)]
    assert found[0].where == f"name server {agents.server.address}, broker-a"
    assert "namesrvAddr" in found[0].next_step


async def test_an_undecided_segment_alone_is_a_difference_l66(topic, agents):
    await topic.create(2, broker_groups=[A])
    held = agents.agent(A).static_topics.find("orders")
    [segment] = held.mapping.hosted[0]
    broken = {**held.mapping.hosted, 0: (replace(segment, logical_start=UNDECIDED),)}
    agents.agent(A).static_topics.put(
        "orders", replace(held, mapping=replace(held.mapping, hosted=broken))
    )

    found = (await topic.check()).differences

    [named] = [one for one in found if one.name == "INV-9"]
    assert (named.where, named.broker_group_name) == (
        "broker group broker-a, logical queue 0",
        A,
    )
    pulled = await topic.call(A, lambda client: client.pull("orders", queueOffset=0))
    assert pulled.code == SYSTEM_BUSY


async def test_a_difference_that_lasts_is_a_finding_and_ends_with_it_l9_l67(topic, agents):
    await topic.create(4)
    assert await topic.check_all() == CheckOutcome(1, 0, 0)
    days_ms = 60 * 24 * 3_600_000
    async with agents.database.begin() as connection:
        await connection.execute(text(f"UPDATE static_topics SET epoch = epoch + {days_ms}"))

    assert await topic.check_all() == CheckOutcome(1, 1, 0)
    [opened] = await topic.findings()
    assert await topic.converge() == ConvergeOutcome(2, 0, 0)
    assert await topic.check_all() == CheckOutcome(1, 0, 0)
    closed = await topic.findings()

    assert (opened.key.topic_name, opened.key.broker_group_name) == ("orders", None)
    assert "regent topic static check orders" in opened.advice
    named = opened.evidence["differences"]
    assert any(one.startswith("INV-6: the control plane: it is ") for one in named), named
    assert closed == []


async def test_a_mapping_without_rows_is_a_difference_too(topic, agents):
    await topic.create(4)
    await forget_rows(agents.database, "static_topics", "logical_queue_changes")

    assert await topic.check_all() == CheckOutcome(1, 1, 0)

    [lost] = (await topic.check()).differences
    assert (lost.name, lost.what) == (
        "not_recorded",
        "it has no mapping, and broker-a, broker-b have one",
    )


async def test_what_is_not_compared_as_a_whole_keeps_its_suspicion(topic, agents):
    await topic.create(4)
    async with agents.database.begin() as connection:
        await connection.execute(text("UPDATE static_topics SET epoch = epoch + 5"))
    await topic.check_all()
    async with agents.database.begin() as connection:
        await connection.execute(text("UPDATE static_topics SET epoch = epoch - 5"))
    await agents.stop(B)
    await eventually(lambda: _is_away(topic, B))

    assert await topic.check_all() == CheckOutcome(1, 0, 1)

    async with agents.database.connect() as connection:
        [held] = await suspicions.list_all(connection)
    assert (held.cluster_name, held.subject) == (CLUSTER, "orders")


async def _is_away(topic, name):
    return name in (await topic.check()).silent
