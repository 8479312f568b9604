"""A broker whose log is damaged in the middle serves what is intact and takes nothing."""

import pytest
from structlog.testing import capture_logs

from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.integration.broker.client import bodies


@pytest.fixture
async def damaged(start_broker, connect, tmp_path):
    """Give the position of the record that was spoilt, the third of five."""
    server = await start_broker()
    client = await connect(server)
    for number in range(5):
        await client.send("T", b"%d" % number)
    (_, _, (position, _, _), *_) = server.store.entries("T", 0, 0, 5)
    await client.close()
    await server.close()
    with (tmp_path / "store" / "commitlog" / f"{0:020}").open("r+b") as log:
        log.seek(position + 4)
        log.write(b"\xff")
    return position


async def test_sends_are_refused_with_the_reason_on_every_path(damaged, start_broker, connect):
    client = await connect(await start_broker())

    plain = await client.send("T", b"x")
    to_a_new_topic = await client.send("New", b"x")
    delayed = await client.send("T", b"x", properties={"DELAY": "1"})
    deletion = await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T"})

    for answer in (plain, to_a_new_topic, delayed, deletion):
        assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert f"damaged at log position {damaged}" in answer.remark
        assert "read-only" in answer.remark
    topic = await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": "T"})
    assert topic.code == ResponseCode.SUCCESS


async def test_what_is_intact_is_served_on_both_sides_of_the_damage(damaged, start_broker, connect):
    client = await connect(await start_broker())

    before = await client.pull("T", queueOffset=0)
    lost = await client.pull("T", queueOffset=2)
    behind = await client.pull("T", queueOffset=3)

    assert bodies(before) == [b"0", b"1"]
    assert lost.code == ResponseCode.SYSTEM_ERROR
    assert str(damaged) in lost.remark
    assert bodies(behind) == [b"3", b"4"]


async def test_the_damage_is_logged_and_the_broker_says_that_it_is_not_active(
    damaged, start_broker, connect
):
    with capture_logs() as logs:
        server = await start_broker()
        client = await connect(server)
        info = await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)
        await server.close()

    (event,) = [entry for entry in logs if entry["event"] == "store_damaged"]
    assert event["log_level"] == "critical"
    assert event["log_position"] == damaged
    assert event["consent_to_cut"] == f"cutDamageAt={damaged}"
    assert b'"brokerActive":"false"' in info.body
    assert not [entry for entry in logs if entry["event"] == "flush_failed"]


async def test_with_an_operators_consent_the_log_is_cut_and_the_broker_takes_messages_again(
    damaged, start_broker, connect
):
    client = await connect(await start_broker(cutDamageAt=str(damaged)))

    sent = await client.send("T", b"new")

    assert (sent.code, sent.ext["queueOffset"]) == (ResponseCode.SUCCESS, "2")
    assert bodies(await client.pull("T", queueOffset=0)) == [b"0", b"1", b"new"]


async def test_a_group_goes_on_where_the_log_was_cut(damaged, start_broker, connect):
    server = await start_broker()
    client = await connect(server)
    await client.heartbeat("g", "T")
    queue = {"consumerGroup": "g", "topic": "T"}
    for queue_id, offset in ((0, 5), (1, 3)):
        committed = {"queueId": queue_id, "commitOffset": offset}
        await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, queue | committed)
    await server.close()

    with capture_logs() as logs:
        client = await connect(await start_broker(cutDamageAt=str(damaged)))

    found = [
        await client.call(RequestCode.QUERY_CONSUMER_OFFSET, queue | {"queueId": queue_id})
        for queue_id in (0, 1)
    ]
    assert [answer.ext["offset"] for answer in found] == ["2", "0"]
    assert [entry["count"] for entry in logs if entry["event"] == "offsets_lowered"] == [2]


async def test_a_log_that_was_cut_or_whose_epochs_are_from_the_backup_is_not_counted_on(
    damaged, start_broker, tmp_path
):  # D11: others may hold what this one acknowledged and lacks now
    mark, epochs = (tmp_path / "store" / name for name in (".unverified", "epochFileCheckpoint"))
    member = {"enableControllerMode": "true", "controllerAddr": "127.0.0.1:1"}
    server = await start_broker(**member)
    server.store.close()
    intact = mark.exists()

    server = await start_broker(**member, cutDamageAt=str(damaged))
    is_doubted_once_cut = mark.exists()
    for number in (1, 2):
        server.store.begin_epoch(number)
    await server.close()
    mark.unlink()
    epochs.write_text("spoilt")
    server = await start_broker(**member)

    assert (intact, is_doubted_once_cut, mark.exists()) == (False, True, True)
    assert server.store.epochs() == [(1, damaged)]


async def test_what_was_not_flushed_when_the_machine_went_down_is_no_damage(agent, eventually):
    """ADR 18: the broker takes messages again by itself, and says what is lost."""
    client = await agent.start(flushDiskType="ASYNC_FLUSH")
    places = []
    for number in range(6):
        sent = await client.send("T", b"%d" % number)
        places.append(int(sent.ext["msgId"][16:], 16))
    checkpoint = agent.root / "store" / "checkpoint"
    await eventually(lambda: checkpoint.exists() and any(checkpoint.read_bytes()[24:32]))
    agent.kill()
    go_down(agent.root / "store", flushed=places[2], lost=places[3])

    client = await agent.start(flushDiskType="ASYNC_FLUSH")

    (told,) = agent.events("unflushed_records_lost")
    assert f"log_position={places[3]}" in told
    assert f"next_valid_position={places[4]}" in told
    assert "files were copied" in told
    assert "docs/maintenance.md" in told
    assert not agent.events("store_damaged")
    sent = await client.send("T", b"new")
    assert (sent.code, sent.ext["queueOffset"]) == (ResponseCode.SUCCESS, "3")
    assert bodies(await client.pull("T", queueOffset=0)) == [b"0", b"1", b"2", b"new"]


def go_down(store, *, flushed, lost):
    """Leave a store as a power cut would: flushed up to a position, and one record not written."""
    mark = store / "abort"
    process, _run, kind = mark.read_text().splitlines()
    mark.write_text(f"{process}\nanother run\n{kind}\n")
    with (store / "checkpoint").open("r+b") as file:
        file.seek(24)
        file.write(2 * flushed.to_bytes(8, "big"))
    with (store / "commitlog" / f"{0:020}").open("r+b") as file:
        file.seek(lost)
        file.write(bytes(64))
