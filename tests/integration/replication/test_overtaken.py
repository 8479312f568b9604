"""Replicas whose master deletes what they still need: they come back, or say why they don't."""

from contextlib import suppress

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.replication import GetLogPosition
from tests.integration.broker.client import messages

SEGMENT_BYTES = 64 << 10
SMALL = {
    "mappedFileSizeCommitLog": str(SEGMENT_BYTES),
    "fileReservedSize": str(2 * SEGMENT_BYTES),
    "cleanResourceInterval": "50",
    "flushIntervalCommitLog": "20",
}
BODY = b"x" * 8_000


@pytest.fixture
async def brokers():
    client = RemotingClient()
    yield Brokers(client)
    await client.aclose()


async def send_many(group, number, count):
    for _ in range(count):
        assert (await group.send(number, BODY)).code == 0


async def read_held(client):
    """Read the queue from what the broker itself says is its beginning.

    A replica that has just started again knows of no queue yet.
    """
    low = await client.call(31, {"topic": "orders", "queueId": "0"})
    if low.code != 0:
        return {}
    held, offset = {}, int(low.ext["offset"])
    while True:
        answer = await client.pull("orders", queueId=0, queueOffset=offset, sysFlag=4)
        if answer.code != 0:
            return held
        held |= {record.queue_offset: record.body for record in messages(answer)}
        offset = int(answer.ext["nextBeginOffset"])


def segments(group, number):
    folder = group.agents[number - 1].root / "store" / "commitlog"
    found = {}
    for path in folder.glob("0*"):
        # A living agent may delete it meanwhile.
        with suppress(FileNotFoundError):
            found[int(path.name)] = path.read_bytes()
    return found


async def leave_behind(group, eventually, *, end):
    """Have the second broker lead, and delete all of the log before a position."""
    group.kill(1)
    await group.await_state(2, 2, {2})
    await group.start(1)
    await group.await_state(2, 2, {1, 2})
    await send_many(group, 2, 40)
    await eventually(lambda: min(segments(group, 2)) > end)


async def test_a_replica_that_was_away_for_longer_than_its_log_is_kept_starts_empty(
    group, eventually
):
    """It held a beginning of its master's log, all of which has expired, epoch and all."""
    await group.add_many(3, **SMALL)
    await send_many(group, 1, 3)
    group.kill(3)
    await group.await_state(1, 1, {1, 2})
    end = max(segments(group, 3)) + SEGMENT_BYTES
    identity = (group.agents[2].root / "store" / ".broker.meta").read_bytes()
    await leave_behind(group, eventually, end=end)

    await group.start(3)
    await group.await_state(2, 2, {1, 2, 3})

    assert len(group.agents[2].events("log_begun_anew")) == 1
    assert (group.agents[2].root / "store" / ".broker.meta").read_bytes() == identity
    for _ in range(2):
        assert (await group.send(2, b"later")).code == 0

        async def holds_the_same():
            master, replica = [await read_held(group.client(number)) for number in (2, 3)]
            # The master goes on deleting.
            return (
                b"later" in replica.values()
                and b"later" in master.values()
                and min(replica) > 3
                and all(replica.get(offset) == body for offset, body in master.items())
            )

        await eventually(holds_the_same)
        # A log that started again is a log like any other, and may lead.
        group.kill(3)
        await group.await_state(2, 2, {1, 2})
        await group.start(3)
        await group.await_state(2, 2, {1, 2, 3})
        assert not group.agents[2].events("log_begun_anew")
    # One after the other: of two that go at once either may be elected before it is missed.
    group.kill(1)
    await group.await_state(2, 2, {2, 3})
    group.kill(2)
    await group.await_state(3, 3, {3})
    assert min(segments(group, 3)) > end


async def test_a_damaged_replica_all_of_whose_log_has_expired_at_its_master_starts_empty(
    group, eventually
):  # ADR 17
    await group.add_many(3, **SMALL)
    await send_many(group, 1, 3)
    await group.await_equal_logs()
    group.kill(3)
    await group.await_state(1, 1, {1, 2})
    end = max(segments(group, 3)) + SEGMENT_BYTES
    path = group.agents[2].root / "store" / "commitlog" / f"{min(segments(group, 3)):020}"
    with path.open("r+b") as log:
        log.seek(path.read_bytes().index(BODY))
        log.write(b"y")
    await leave_behind(group, eventually, end=end)

    await group.start(3)
    await group.await_state(2, 2, {1, 2, 3})

    names = ("store_damaged", "log_begun_anew", "log_mended")
    assert [len(group.agents[2].events(name)) for name in names] == [1, 1, 1]
    assert (await group.send(2, b"later")).code == 0

    async def holds_it():
        return b"later" in (await read_held(group.client(3))).values()

    await eventually(holds_it)


async def test_a_log_that_its_master_never_had_is_kept_and_the_replica_says_so(
    group, eventually, brokers
):
    await group.add_many(3, **SMALL)
    await send_many(group, 1, 3)
    group.kill(3)
    await group.await_state(1, 1, {1, 2})
    # As if another master than the one of the group's history had written its end.
    (epochs,) = (group.agents[2].root / "store").glob("epochFileCheckpoint")
    former = epochs.read_text().splitlines()[2:]
    epochs.write_text("\n".join([str(len(former) + 1), "0", *former, "2-8000", ""]))
    before = segments(group, 3)
    await leave_behind(group, eventually, end=max(before) + SEGMENT_BYTES)

    await group.start(3)

    async def says_so():
        told = await brokers.ask(f"127.0.0.1:{group.agents[2].port}", GetLogPosition())
        return not told.is_following and "Copy this broker's store" in (told.obstacle or "")

    await eventually(says_so)
    assert segments(group, 3).items() >= before.items()
    assert (await group.state())[2] == {1, 2}
    assert not group.agents[2].events("log_begun_anew")
