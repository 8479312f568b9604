"""Which requests a replica passes on, and what becomes of those that the master leaves open."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from regent_engine import HEADER_SIZE_MAX, Decoder

from backend.remoting.command import answer, notice, request
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.waiting import PATIENCE_S
from workers.broker.errors import Refusal
from workers.broker.metrics.meters import Meters
from workers.broker.replication import passing_on
from workers.broker.replication.passing_on import (
    IN_FLIGHT_COUNT_MAX,
    PassingOn,
    may_pass_on,
)

SEND = RequestCode.SEND_MESSAGE_V2
NOT_TAKEN = 7002
MARKED = {"regentPassedOn": "true"}
FENCED = {"regentFence": "1"}


class Hot:
    """Knows whether sends are handed up."""

    is_handing_up = False

    def set_handing_up(self, handing_up):
        self.is_handing_up = handing_up


class Master:
    """Keeps its requests, and answers as the test chooses."""

    def __init__(self, code=0):
        self.code, self.asked, self.address = code, [], ""
        self.connection_count = 0
        self.arrived = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.writers = []

    async def serve(self, reader, writer):
        self.connection_count += 1
        self.writers.append(writer)
        decoder = Decoder(1 << 20)
        async with asyncio.TaskGroup() as tasks:
            while data := await reader.read(1 << 16):
                for command in decoder.receive(data):
                    self.asked.append(command)
                    self.arrived.set()
                    tasks.create_task(self.reply(command, writer))
        writer.close()

    async def reply(self, command, writer):
        await self.may_answer.wait()
        if not command.is_oneway:
            writer.write(answer(command, code=self.code, ext={"by": self.address}))

    def hang_up(self):
        self.may_answer.set()
        for writer in self.writers:
            writer.transport.abort()


def address_of(server):
    return f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def serving(master):
    server = await asyncio.start_server(master.serve, "127.0.0.1", 0)
    master.address = address_of(server)
    try:
        yield master
    finally:
        server.close()
        master.hang_up()


@pytest.fixture
async def master():
    async with serving(Master()) as master:
        yield master


@pytest.fixture
def meters():
    return Meters(0)


@pytest.fixture
async def passing(meters):
    passing = PassingOn(Hot(), meters, lambda: True)
    yield passing
    passing.close()


def command_of(code=SEND, ext=None, *, opaque=7, body=b"m", is_oneway=False):
    build = notice if is_oneway else request
    (command,) = Decoder(1 << 20).receive(build(code, opaque=opaque, ext=ext, body=body))
    return command


def decoded(frame):
    (command,) = Decoder(1 << 20).receive(frame)
    return command


def reported(meters):
    return (meters.passed_on_count, meters.passed_on_unanswered_count, meters.not_passed_on_count)


def test_a_request_is_passed_on_once_and_steps_are_not():
    assert may_pass_on({"a": "b"})
    assert not may_pass_on(MARKED)
    assert not may_pass_on(FENCED)


async def test_a_broker_that_never_had_a_role_passes_nothing_on(passing):
    assert passing.take(command_of()) is None


async def test_a_master_passes_nothing_on_and_takes_what_was_passed_on(passing, master):
    passing.follow(master.address)
    passing.lead()

    assert passing.take(command_of()) is None
    assert passing.take(command_of(ext=MARKED)) is None


async def test_what_a_setting_rules_out_is_not_passed_on(meters, master):
    passing = PassingOn(Hot(), meters, lambda: False)
    passing.follow(master.address)

    assert passing.take(command_of()) is None


@pytest.mark.parametrize("role", ["none", "replica", "paused", "closed"])
async def test_who_is_not_master_says_that_it_took_nothing_of_another_replica(
    passing, master, role
):
    if role != "none":
        passing.follow(master.address)
    if role == "paused":
        passing.pause()
    if role == "closed":
        passing.close()

    with pytest.raises(Refusal) as refusal:
        passing.take(command_of(SEND, MARKED))

    assert refusal.value.code == NOT_TAKEN
    assert master.asked == []


async def test_the_master_gets_a_request_as_it_came_and_its_answer_is_the_clients(
    passing, master, meters
):
    passing.follow(master.address)

    reply = decoded(await passing.take(command_of(ext={"b": "orders"}, opaque=71, body=b"body")))

    (asked,) = master.asked
    assert (asked.code, asked.ext, asked.body) == (SEND, {"b": "orders"} | MARKED, b"body")
    assert (reply.opaque, reply.code, reply.ext) == (71, 0, {"by": master.address})
    assert reported(meters) == (1, 0, 0)


async def test_requests_reach_the_master_in_their_order_over_one_connection(passing, master):
    passing.follow(master.address)

    await asyncio.gather(*(passing.take(command_of(body=b"%d" % n)) for n in range(300)))

    assert [int(command.body) for command in master.asked] == list(range(300))
    assert master.connection_count == 1


async def test_no_more_are_under_way_than_are_allowed(passing, master, eventually):
    passing.follow(master.address)
    master.may_answer.clear()
    waiting = [
        asyncio.ensure_future(passing.take(command_of())) for _ in range(IN_FLIGHT_COUNT_MAX + 1)
    ]
    await eventually(lambda: len(master.asked) >= IN_FLIGHT_COUNT_MAX)
    under_way_count = len(master.asked)
    master.may_answer.set()

    assert all(decoded(reply).code == 0 for reply in await asyncio.gather(*waiting))
    assert (under_way_count, len(master.asked)) == (IN_FLIGHT_COUNT_MAX, IN_FLIGHT_COUNT_MAX + 1)


async def test_a_oneway_request_stays_oneway_and_is_answered_with_nothing(passing, master):
    passing.follow(master.address)

    reply = await passing.take(command_of(is_oneway=True))
    async with asyncio.timeout(PATIENCE_S):
        await master.arrived.wait()

    assert (reply, master.asked[0].is_oneway) == (b"", True)


async def test_a_master_that_hangs_up_leaves_a_request_in_doubt(passing, master, meters):
    passing.follow(master.address)
    master.may_answer.clear()
    waiting = asyncio.ensure_future(passing.take(command_of()))
    await master.arrived.wait()

    master.hang_up()

    with pytest.raises(Refusal, match="it is unknown whether") as refusal:
        await waiting
    assert (refusal.value.code, reported(meters)) == (14, (0, 1, 0))


async def test_a_request_that_the_master_would_not_read_is_refused_and_others_are_served(
    passing, master, meters
):
    passing.follow(master.address)
    # It can be read here, and not with the mark.
    size = HEADER_SIZE_MAX - len(request(SEND, opaque=7, ext={"a": ""}))
    (command,) = Decoder().receive(request(SEND, opaque=7, ext={"a": "." * size}))
    master.may_answer.clear()
    served = asyncio.ensure_future(passing.take(command_of()))
    await master.arrived.wait()

    with pytest.raises(Refusal) as caught:
        await passing.take(command)

    assert caught.value.code == ResponseCode.MESSAGE_ILLEGAL
    master.may_answer.set()
    assert decoded(await served).code == 0
    assert reported(meters) == (1, 0, 0)


async def test_a_master_that_is_not_reached_was_not_asked(passing, meters):
    passing.follow("127.0.0.1:1")

    with pytest.raises(Refusal, match="cannot be asked") as refusal:
        await passing.take(command_of())
    assert (refusal.value.code, reported(meters)) == (14, (0, 0, 1))


async def test_a_silent_master_is_given_up_in_time(passing, master, monkeypatch):
    passing.follow(master.address)
    # Where the connection is still to come about, the time may be over before anything was asked.
    await passing.take(command_of())
    monkeypatch.setattr(passing_on, "TIMEOUT_S", 0.05)
    master.may_answer.clear()

    with pytest.raises(Refusal, match="it is unknown whether"):
        await passing.take(command_of())


async def test_a_request_that_a_former_master_did_not_take_goes_to_the_next_one(passing, master):
    async with serving(Master(code=NOT_TAKEN)) as former:
        passing.follow(former.address)
        waiting = asyncio.ensure_future(passing.take(command_of()))
        await former.arrived.wait()

        passing.pause()
        passing.follow(master.address)

        assert decoded(await waiting).ext == {"by": master.address}
        assert len(former.asked) == 1


async def test_a_master_that_is_none_is_not_asked_again_and_again(passing, master, monkeypatch):
    monkeypatch.setattr(passing_on, "WAIT_S_MAX", 0.05)
    master.code = NOT_TAKEN
    passing.follow(master.address)

    with pytest.raises(Refusal, match="no other one is known") as refusal:
        await passing.take(command_of())
    assert (refusal.value.code, len(master.asked)) == (14, 1)


async def test_a_request_that_comes_while_masters_change_goes_to_the_next_one(passing, master):
    passing.pause()
    waiting = asyncio.ensure_future(passing.take(command_of()))
    await asyncio.sleep(0)

    passing.follow(master.address)

    assert decoded(await waiting).ext == {"by": master.address}


async def test_who_becomes_master_itself_answers_what_waited_for_a_master(passing, master):
    passing.follow(master.address)
    passing.pause()
    waiting = asyncio.ensure_future(passing.take(command_of()))
    await asyncio.sleep(0)

    passing.lead()

    assert await waiting is None
    assert master.asked == []


async def test_what_was_not_passed_on_before_a_stop_is_refused(passing, master):  # I9
    """The state of this broker is older than what the master has answered since."""
    passing.follow(master.address)
    waiting = asyncio.ensure_future(passing.take(command_of()))

    passing.close()

    with pytest.raises(Refusal, match="stopping"):
        await waiting
    assert master.asked == []


async def test_a_master_that_does_not_come_is_waited_for_in_bounded_time(passing, monkeypatch):
    monkeypatch.setattr(passing_on, "WAIT_S_MAX", 0.05)
    passing.pause()

    assert await passing.take(command_of()) is None


async def test_what_is_under_way_when_the_master_changes_is_still_answered(passing, master):
    passing.follow(master.address)
    master.may_answer.clear()
    waiting = asyncio.ensure_future(passing.take(command_of()))
    await master.arrived.wait()

    passing.lead()
    master.may_answer.set()

    assert decoded(await waiting).ext == {"by": master.address}


async def test_two_replicas_that_take_each_other_for_the_master_make_no_loop(meters, monkeypatch):
    monkeypatch.setattr(passing_on, "WAIT_S_MAX", 0.05)
    asked = []

    def replica(name):
        passing = PassingOn(Hot(), meters, lambda: True)

        async def serve(reader, writer):
            decoder = Decoder(1 << 20)
            while data := await reader.read(1 << 16):
                for command in decoder.receive(data):
                    asked.append(name)
                    try:
                        passage = passing.take(command)
                        reply = b"" if passage is None else await passage
                    except Refusal as refusal:
                        reply = answer(command, code=refusal.code)
                    writer.write(reply)
            writer.close()

        return passing, serve

    (one, serve_one), (two, serve_two) = replica("one"), replica("two")
    servers = [
        await asyncio.start_server(serve, "127.0.0.1", 0) for serve in (serve_one, serve_two)
    ]
    addresses = [address_of(server) for server in servers]
    one.follow(addresses[1])
    two.follow(addresses[0])

    with pytest.raises(Refusal):
        await one.take(command_of())

    assert asked == ["two"]
    one.close()
    two.close()
    for server in servers:
        server.close()


async def test_sends_are_handed_up_as_long_as_they_are_for_another(meters, master):
    hot = Hot()
    passing = PassingOn(hot, meters, lambda: True)
    seen = []
    for change in (
        lambda: passing.follow(master.address),
        passing.lead,
        passing.pause,
        lambda: passing.follow(master.address),
        passing.close,
        lambda: passing.follow(master.address),
        passing.pause,
    ):
        change()
        seen.append(hot.is_handing_up)

    assert seen == [True, False, True, True, False, False, False]
