"""The load generator of the benchmarks against an agent, and against brokers that misbehave."""

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest
from regent_engine import Decoder

from backend.remoting.command import Command, answer
from tests.bench.clients.load import BINARY, LoadError, build, run_load
from tests.integration.broker.agent import Agent
from tests.integration.broker.client import Client
from tests.waiting import eventually

FRAME_SIZE_MAX = 1 << 20
WHOLE = {"lost": 0, "wrong_body": 0, "shared_offset": 0, "out_of_order": 0}

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(scope="module", autouse=True)
def _binary():
    build()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with Agent(tmp_path_factory.mktemp("agent"), is_forked=True) as agent:

        async def start():
            client = await agent.start()
            await client.close()

        asyncio.run(start())
        yield f"127.0.0.1:{agent.port}"
        agent.stop()


@asynccontextmanager
async def serving(handler: Handler):
    """Run a server that the test makes up."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"{host}:{port}"
    finally:
        server.close()


async def commands(reader: asyncio.StreamReader):
    """Give the requests of a connection, those that came at once together."""
    decoder = Decoder(FRAME_SIZE_MAX)
    while data := await reader.read(1 << 16):
        yield decoder.receive(data)


def stored(command: Command, **fields) -> bytes:
    return answer(command, ext={"queueId": "0", "queueOffset": str(command.opaque)}, **fields)


async def relay(reader, writer, *, address: str, change_request, change_answer) -> None:
    """Stand between the generator and a broker, and change single frames."""
    there, back = await asyncio.open_connection(*address.split(":"))

    async def pump(source, sink, change):
        try:
            while True:
                length = await source.readexactly(4)
                sink.write(change(length + await source.readexactly(int.from_bytes(length))))
        except (asyncio.IncompleteReadError, ConnectionError):
            sink.close()

    await asyncio.gather(pump(reader, back, change_request), pump(there, writer, change_answer))


def same(frame: bytes) -> bytes:
    return frame


async def read_back_through(address, *, change_request=same, change_answer=same, topic):
    """Send ten messages through a relay and give what reading back finds."""
    handler = partial(
        relay, address=address, change_request=change_request, change_answer=change_answer
    )
    async with serving(handler) as relay_address:
        words = ["--address", relay_address, "--topic", topic, "--count", "10", "--queues", "1"]
        process = await asyncio.create_subprocess_exec(
            *(BINARY, "send", *words, "--read-back", "--timeout", "1"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        printed, errors = await process.communicate()
    assert process.returncode == 1, errors
    assert b"do not hold what the broker acknowledged" in errors
    return json.loads(printed)["read_back"]


def cut_first_record(frame: bytes) -> bytes:
    """Take the first message out of the answer to a pull."""
    body_at = 8 + int.from_bytes(frame[5:8])
    body = frame[body_at:]
    if not body:
        return frame
    frame = frame[:body_at] + body[int.from_bytes(body[:4]) :]
    return (len(frame) - 4).to_bytes(4) + frame[4:]


def change_last_byte(frame: bytes) -> bytes:
    """Change the body of a send; the key of the third message ends with its number."""
    return frame[:-1] + b"y" if b"000000000003\\u0002" in frame else frame


@pytest.mark.parametrize(("connections", "in_flight"), [(1, 1), (3, 16)])
def test_every_acknowledged_message_is_counted_and_read_back(address, connections, in_flight):
    words = ["--address", address, "--topic", f"Whole{connections}", "--count", "500"]
    words += ["--connections", str(connections), "--in-flight", str(in_flight), "--queues", "4"]

    finished = subprocess.run(
        [BINARY, "send", *words, "--read-back"], capture_output=True, text=True, check=True
    )

    result = json.loads(finished.stdout)
    assert (result["sent"], result["acknowledged"], result["refused"]) == (500, 500, {})
    assert result["read_back"] == {"checked": 500, **WHOLE}
    assert 0 < result["latency_us"]["p50"] <= result["latency_us"]["max"]


async def test_reading_back_finds_a_message_that_the_broker_lost(address):
    found = await read_back_through(address, change_answer=cut_first_record, topic="Lost")

    assert found == {"checked": 10, **WHOLE, "lost": 1}


async def test_reading_back_finds_a_body_that_is_another(address):
    found = await read_back_through(address, change_request=change_last_byte, topic="Changed")

    assert found == {"checked": 10, **WHOLE, "wrong_body": 1}


async def test_each_connection_keeps_so_many_sends_in_flight():
    most = []

    async def answer_when_full(reader, writer):
        waiting = []
        async for batch in commands(reader):
            waiting += batch
            if len(waiting) >= 7:
                most.append(len(waiting))
                writer.write(b"".join(map(stored, waiting)))
                waiting.clear()

    async with serving(answer_when_full) as address:
        result = await run_load("send", address, "T", connections=2, in_flight=7, count=56)

    assert result["acknowledged"] == 56
    assert most == [7] * 8


async def test_an_open_loop_keeps_its_rate_and_counts_latency_from_the_due_time():
    async def stall_then_answer(reader, writer):
        stalled_until = asyncio.get_running_loop().time() + 0.4
        async for batch in commands(reader):
            await asyncio.sleep(stalled_until - asyncio.get_running_loop().time())
            writer.write(b"".join(map(stored, batch)))

    async with serving(stall_then_answer) as address:
        result = await run_load("send", address, "T", rate=500, seconds=0.4)

    # A closed loop would have sent one message and waited.
    assert (result["sent"], result["acknowledged"]) == (200, 200)
    assert result["latency_us"]["p50"] > 100_000


async def test_refusals_are_counted_by_code():
    async def refuse(reader, writer):
        async for batch in commands(reader):
            for one in batch:
                writer.write(answer(one, code=2, remark='[PCBUSY_CLEAN_QUEUE] "busy"'))

    async with serving(refuse) as address:
        result = await run_load("send", address, "T", count=5)

    assert (result["acknowledged"], result["refused"]) == (0, {"2": 5})
    assert "PCBUSY" in result["refusal"]


async def test_a_broker_that_does_not_answer_is_an_error():
    async def say_nothing(reader, _writer):
        await reader.read()

    async with serving(say_nothing) as address:
        with pytest.raises(LoadError, match=r"no answer within 0\.1 s"):
            await run_load("send", address, "T", count=1, timeout=0.1)


async def test_pulls_and_wakes_are_measured(address):
    await run_load("send", address, "Pulled", count=1000, in_flight=64)

    pulled = await run_load("pull", address, "Pulled", seconds=0.2)
    await run_load("send", address, "Held", count=1, queues=2)
    woken = await run_load("wake", address, "Held", queues=2, pulls=50, rounds=2, pause_ms=50)

    assert pulled["messages"] > 0
    assert len(woken["rounds_us"]) == 2
    assert all(us > 0 for us in woken["rounds_us"])


async def test_consumers_by_pop_receive_each_message_once_and_acknowledge_it(address):
    await run_load("send", address, "Popped", count=500, in_flight=64)

    async def pops(**more):
        return await run_load("pop", address, "Popped", group="g", broker="broker-t", **more)

    runs = []

    async def all_came():
        runs.append(await pops(seconds=0.4, in_flight=3))
        return sum(one["messages"] for one in runs) >= 500

    await eventually(all_came)
    again = await pops(seconds=0.1)

    assert sum(one["messages"] for one in runs) == 500
    assert any(one["per_second"] > 0 for one in runs)
    # All are acknowledged.
    assert (again["messages"], again["empty_answers"]) == (0, 8)


@pytest.mark.parametrize("refused", [200_050, 200_051])
async def test_a_pop_or_an_acknowledgement_that_is_refused_is_an_error(address, refused):
    async def refuse(reader, writer):
        """Answer POPs as a broker did, with its messages, and refuse one kind of request."""
        async for batch in commands(reader):
            for one in batch:
                code = 13 if one.code == refused else 0
                ext = {"popTime": "1", "invisibleTime": "2", "reviveQid": "3"}
                ext["startOffsetInfo"] = "0 0 0"
                writer.write(answer(one, code=code, ext=ext, body=b"" if code else record))

    await run_load("send", address, "Refused", count=1)
    client = await Client.connect(int(address.rsplit(":", 1)[1]))
    record = (await client.pull("Refused")).body
    await client.close()

    async with serving(refuse) as refusing:
        with pytest.raises(LoadError, match="was answered with code 13"):
            await run_load(
                "pop", refusing, "Refused", group="g", broker="b", seconds=0.1, in_flight=1
            )


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--help"], 0, "Examples:"),
        ([], 2, "Usage:"),
        (["send", "--topic", "T"], 1, "--seconds or --count is missing"),
        (["pull", "--bodysize", "8"], 1, "--address is missing"),
        (["wake", "--address", "127.0.0.1:1", "--topic", "T"], 1, "cannot connect to 127.0.0.1:1"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(words, code, message):
    finished = subprocess.run([BINARY, *words], capture_output=True, text=True, check=False)

    assert finished.returncode == code
    assert message in finished.stdout + finished.stderr
