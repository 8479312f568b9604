"""What SHARED mode of POP costs beside PRIMARY mode, and how long a hand-over holds up consumers.

A master and a replica run under our control plane. In each block the three ways of a POP take turns
with the same load: a PRIMARY topic at the master, a SHARED topic at the owner, and a SHARED topic
at the other member, which forwards (O28). For hand-overs two members share a queue by time (O18),
and a consumer at each member receives one message after another. The gap is the longest pause of
both together around a change of the owner (O21).
"""

import asyncio
import itertools
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import uvloop

from backend.db import share_leases
from backend.db.engine import Database, open_database
from backend.db.pipeline import pipeline_of
from backend.domain.share_lease import ShareLease
from backend.domain.share_queue import ShareQueueName
from backend.remoting.request_code import RequestCode
from tests.bench.clients.load import LoadError, build, run_load
from tests.bench.failover.group import CLUSTER, GROUP, Member
from tests.bench.failover.network import loopback
from tests.bench.failover.ours import OurGroup
from tests.bench.measure import Measure, UnsteadyError, median, spread
from tests.integration.broker.client import Client, send_fields
from tests.integration.broker.popping import handle_fields, pop_fields, popped

PORT: Final = 18_500
BLOCK_COUNT: Final = 5
BLOCK_S: Final = 2.0
WARM_UP_S: Final = 0.5
FILL_S: Final = 6.0
BODY_SIZE: Final = 128
QUEUE_COUNT: Final = 8
PRIMARY, SHARED, TURNS = "Primary", "Shared", "Turns"
GROUPS: Final = itertools.count()
FORWARDED_MIN: Final = 0.5
FORWARDED_TARGET: Final = 0.8
HAND_OVER_COUNT: Final = 8
HAND_OVER_S_MAX: Final = 120.0
AROUND_S: Final = 1.2
"""Before and after a change of the owner: a gap lies there."""

GAP_MS_MAX: Final = 1_030.0
"""At most 30 ms and one heartbeat, which comes each second."""

GAP_MS_TARGET: Final = 30.0
POLL_S: Final = 0.005
WAIT_S: Final = 30.0


def measure_share_modes() -> Iterator[Measure]:
    """Compare the modes, then let members take turns."""
    build()
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        rates, gaps = uvloop.run(_measure(Path(directory) / "group"))
    primary = [block["primary"] for block in rates]
    for way, title in (
        ("owner", "POP of a SHARED topic at its owner / PRIMARY"),
        ("forwarded", "POP of a SHARED topic, forwarded / PRIMARY"),
    ):
        ratios = [block[way] / block["primary"] for block in rates]
        is_limited = way == "forwarded"
        yield Measure(
            "O28",
            title,
            median(ratios),
            floor=FORWARDED_MIN if is_limited else None,
            target=FORWARDED_TARGET if is_limited else None,
            facts={
                "blocks": spread(ratios),
                "per second": f"{median([b[way] for b in rates]):.0f}, PRIMARY"
                f" {median(primary):.0f}",
            },
            blocks=rates,
        )
    yield Measure(
        "O21",
        "longest pause of consumers around a hand-over",
        median(gaps),
        " ms",
        ceiling=GAP_MS_MAX,
        target=GAP_MS_TARGET,
        facts={"hand-overs": len(gaps), "pauses": spread(gaps)},
    )


async def _measure(directory: Path) -> tuple[list[dict[str, float]], list[float]]:
    group = OurGroup(directory, "127.0.0.1", loopback(2).places, PORT, policy="quorum")
    try:
        await group.start()
        master = await group.await_whole()
        (replica,) = (one for one in group.members if one is not master)
        await _create(master, PRIMARY, QUEUE_COUNT)
        await _create(master, SHARED, QUEUE_COUNT, "+share.mode=SHARED")
        await _create(master, TURNS, 1, "+share.mode=SHARED,+share.timeShare=true")
        rates = await _compare(master, replica)
        gaps = await _take_turns(group, master, replica)
        return rates, gaps
    finally:
        await group.stop()


async def _create(master: Member, topic: str, queue_count: int, attributes: str = "") -> None:
    client = await Client.connect(master.port)
    fields = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "readQueueNums": queue_count,
        "writeQueueNums": queue_count,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": "false",
        "attributes": attributes,
    }
    answer = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)
    if answer.code:
        raise LoadError(f"the topic {topic} was not created: {answer.remark}")
    await client.close()


async def _compare(master: Member, replica: Member) -> list[dict[str, float]]:
    for topic in (PRIMARY, SHARED):
        await run_load(
            "send", master.address, topic, seconds=FILL_S, in_flight=64, body_size=BODY_SIZE
        )
    blocks = []
    for _ in range(BLOCK_COUNT):
        block = {"primary": await _pop(master, PRIMARY, _new_group())}
        name = _new_group()
        async with _interested(master, name):
            block["owner"] = await _pop(master, SHARED, name)
        name = _new_group()
        async with _interested(master, name):
            block["forwarded"] = await _pop(replica, SHARED, name)
        blocks.append(block)
    return blocks


def _new_group() -> str:
    """Name another consumer group: each turn begins at the first message."""
    return f"popping{next(GROUPS)}"


async def _pop(member: Member, topic: str, group: str) -> float:
    result = await run_load(
        "pop", member.address, topic,
        seconds=BLOCK_S, warm_up=WARM_UP_S, group=group, broker=GROUP,
    )  # fmt: skip
    rate: float = result["per_second"]
    return rate


@asynccontextmanager
async def _interested(member: Member, group: str) -> AsyncIterator[None]:
    """Let a member own all queues of the SHARED topic: a consumer receives there, now and then."""
    client = await Client.connect(member.port)
    await client.heartbeat(group, SHARED)

    async def receive() -> None:
        while True:
            for queue_id in range(QUEUE_COUNT):
                await _receive(client, SHARED, group, queueId=queue_id)
            await asyncio.sleep(1)

    for queue_id in range(QUEUE_COUNT):
        async with asyncio.timeout(WAIT_S):
            while not await _receive(client, SHARED, group, queueId=queue_id, pollTime=500):
                pass
    receiving = asyncio.create_task(receive())
    try:
        yield
    finally:
        receiving.cancel()
        await asyncio.gather(receiving, return_exceptions=True)
        await client.close()


async def _receive(client: Client, topic: str, group: str, **fields: int) -> int:
    """Receive one message at most, and acknowledge it."""
    wanted = pop_fields(topic, group, **{"maxMsgNums": 1} | fields)
    answer = await client.call(RequestCode.POP_MESSAGE, wanted)
    found = popped(answer) if answer.code == 0 else []
    for message in found:
        handle = message.handle.replace("broker-t", GROUP)
        await client.call(RequestCode.ACK_MESSAGE, handle_fields(message, group, extraInfo=handle))
    return len(found)


@dataclass
class _Turns:
    """When messages were received, and when the owner changed, by one clock."""

    received_s: list[float] = field(default_factory=list)
    changed_s: list[float] = field(default_factory=list)
    is_over: bool = False
    """Ends the clients, each after the answer that it waits for."""

    def gap_ms(self, changed_s: float) -> float | None:
        """Return the longest pause around a change of the owner."""
        near = [at for at in self.received_s if abs(at - changed_s) <= AROUND_S]
        pauses = [1e3 * (after - before) for before, after in itertools.pairwise(near)]
        return max(pauses, default=None)


async def _take_turns(group: OurGroup, master: Member, replica: Member) -> list[float]:
    """Let consumers at both members receive from one queue until it has changed hands often."""
    turns, name = _Turns(), _new_group()
    database = open_database(group.database_url)
    tasks = [
        asyncio.create_task(one)
        for one in (
            _produce(turns, master),
            _consume(turns, master, name),
            _consume(turns, replica, name),
        )
    ]
    try:
        async with asyncio.timeout(HAND_OVER_S_MAX):
            await _watch(turns, database, name)
    except TimeoutError as error:
        reason = f"an owner within {HAND_OVER_S_MAX:.0f} s"
        raise UnsteadyError(len(turns.changed_s), HAND_OVER_COUNT, reason) from error
    finally:
        turns.is_over = True
        await asyncio.gather(*tasks)
        await database.dispose()
    gaps = [turns.gap_ms(at) for at in turns.changed_s]
    return [gap for gap in gaps if gap is not None]


async def _produce(turns: _Turns, master: Member) -> None:
    client = await Client.connect(master.port)
    while not turns.is_over:
        await client.call(RequestCode.SEND_MESSAGE_V2, send_fields(TURNS), b"." * BODY_SIZE)


async def _consume(turns: _Turns, member: Member, group: str) -> None:
    client = await Client.connect(member.port)
    await client.heartbeat(group, TURNS)
    while not turns.is_over:
        if await _receive(client, TURNS, group, pollTime=1_000):
            turns.received_s.append(time.perf_counter())


async def _watch(turns: _Turns, database: Database, group: str) -> None:
    """Note when the owner changes."""
    last = ShareLease()
    while len(turns.changed_s) < HAND_OVER_COUNT:
        lease = await _lease(database, group)
        if last.epoch and lease.epoch > last.epoch:
            turns.changed_s.append(time.perf_counter())
        last = lease
        await asyncio.sleep(POLL_S)
    await asyncio.sleep(AROUND_S)


async def _lease(database: Database, group: str) -> ShareLease:
    key = (CLUSTER, GROUP)
    leases = (await share_leases.list_of_groups(pipeline_of(database), [key])).get(key, {})
    return leases.get(ShareQueueName(TURNS, 0, group), ShareLease())
