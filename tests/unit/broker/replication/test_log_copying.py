"""How a replica hears of the log that the engine copies for it: over real stores and sockets."""

import asyncio
import socket
from dataclasses import dataclass, field

import pytest
from regent_engine import MasterLink, ProtocolError, ReplicaLink, Store, StoreError

from tests.waiting import PATIENCE_S
from workers.broker.configuration.settings import parse_settings
from workers.broker.replication.log_copying import Copying

BODY = b"." * 1000
SETTINGS = parse_settings({}).settings


@dataclass
class Pair:
    """A master's end without a loop, and a replica that copies."""

    master: Store
    replica: Store
    socket: socket.socket
    end: MasterLink
    copying: Copying
    heard: list = field(default_factory=list)

    def append(self, count=1, *, confirmed=0):
        for _ in range(count):
            self.master.append("orders", 0, BODY, b"")
        self.end.pump(confirmed)

    def report(self):
        """Give what the replica reports next."""
        return self.end.receive(self.socket.recv(12))[1]

    async def until(self, condition):
        async with asyncio.timeout(PATIENCE_S):
            while True:
                if condition():
                    return
                await asyncio.sleep(0.001)


@pytest.fixture
async def make(tmp_path):
    made = []

    def build(*, reports_appended=True, rest_s=0.0):
        master = Store(str(tmp_path / "m"), segment_size_bytes=1 << 20)
        master.begin_epoch(1)
        replica = Store(str(tmp_path / "r"), segment_size_bytes=1 << 20)
        ours, theirs = socket.socketpair()
        ours.settimeout(PATIENCE_S)
        end = MasterLink(master, ours.fileno(), 4000)
        link = ReplicaLink(replica, broker_id=2, known_epoch=1)
        end.receive(link.handshake())
        assert link.receive(theirs.recv(1 << 16))
        heard = []
        copying = Copying(
            link,
            theirs,
            reports_appended=reports_appended,
            rest_s=rest_s,
            on_progress=lambda _copying, confirmed: heard.append(confirmed),
        )
        theirs.close()
        pair = Pair(master, replica, ours, end, copying, heard)
        made.append(pair)
        assert pair.report() == 0
        return pair

    yield build
    for pair in made:
        pair.copying.stop()
        pair.copying.close()
        pair.end.close()
        pair.socket.close()
        pair.master.close()
        pair.replica.close()


async def test_what_comes_is_appended_and_reported_without_the_loop(make):
    pair = make()

    pair.append(100)
    held = 0
    while held < pair.master.max_position:
        held = pair.report()

    assert pair.replica.max_position == pair.master.max_position
    assert pair.replica.read("orders", 0, 0).next_offset > 0
    assert pair.heard == []


async def test_the_loop_hears_what_is_confirmed_but_not_of_more_than_is_held(make):
    pair = make()

    pair.append(confirmed=1 << 40)
    await pair.until(lambda: pair.heard)

    assert pair.heard[-1] == pair.replica.max_position == pair.master.max_position


async def test_news_that_come_while_it_rests_are_heard_together(make):
    pair = make(rest_s=0.2)

    for _ in range(20):
        pair.append(confirmed=1)
        pair.report()
    await pair.until(lambda: pair.heard)

    assert len(pair.heard) == 1


async def test_what_must_be_on_the_disk_is_reported_once_it_is_flushed(make):
    pair = make(reports_appended=False)

    pair.append()
    await pair.until(lambda: pair.heard)
    pair.socket.settimeout(0)
    with pytest.raises(BlockingIOError):
        pair.report()
    pair.copying.report(pair.replica.max_position)

    assert pair.report() == pair.replica.max_position


async def test_a_master_that_hangs_up_is_reported(make):
    pair = make()

    pair.end.close()

    with pytest.raises(ConnectionError, match="hung up"):
        await pair.copying.tick(SETTINGS)


async def test_a_master_that_breaks_the_protocol_is_left(make):
    pair = make()

    pair.socket.sendall(b"\x00\x00\x00\x07" + bytes(32))

    with pytest.raises(ProtocolError):
        await pair.copying.tick(SETTINGS)


async def test_damage_is_never_taken_over(make):  # D13
    pair = make()
    pair.append()
    held = pair.report()
    size = held
    header = bytearray(36)
    header[3], header[4:8] = 2, size.to_bytes(4)
    header[8:16], header[19] = held.to_bytes(8), 1

    pair.socket.sendall(header + bytes(4) + size.to_bytes(4) + bytes(size - 8))

    with pytest.raises((StoreError, ProtocolError)):
        await pair.copying.tick(SETTINGS)
    assert pair.replica.max_position == held


async def test_nothing_is_appended_once_it_is_stopped(make):
    pair = make()
    pair.append()
    held = pair.report()

    pair.copying.stop()

    with pytest.raises(ConnectionError):
        pair.append()
    assert pair.replica.max_position == held


async def test_a_silent_master_is_shown_life_and_then_left(make):
    pair = make()
    lively, impatient = (
        parse_settings({name: "100"}).settings
        for name in ("haSendHeartbeatInterval", "haHousekeepingInterval")
    )

    await pair.copying.tick(lively)
    shown = pair.report()

    assert shown == 0
    with pytest.raises(ConnectionError, match="silent"):
        await pair.copying.tick(impatient)
