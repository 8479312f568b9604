"""What a master sends to its replicas, and when: over real stores and pairs of sockets."""

import asyncio
import select
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from regent_engine import Store

from tests.waiting import PATIENCE_S
from workers.broker.configuration.settings import parse_settings
from workers.broker.replication.ha_listener import HaListener, ReplicaSession

BODY = b"." * 1000
TRANSFER_SIZE_MAX = 8000
SMALL_BUFFER = 4096
HANDSHAKE = struct.Struct(">ihhq")
REPORT = struct.Struct(">iq")
TRANSFER = struct.Struct(">iiqiqq")


@dataclass
class Watcher:
    """Who counts what replicas hold."""

    published_position: int = 0
    held_positions: dict = field(default_factory=dict)
    sent_to: set = field(default_factory=set)

    def connected(self, broker_id, *, is_learner):
        self.held_positions[broker_id] = 0
        assert not is_learner

    def sent(self, broker_id):
        self.sent_to.add(broker_id)

    def held(self, broker_id, position):
        self.held_positions[broker_id] = position

    def disconnected(self, broker_id):
        del self.held_positions[broker_id]


class Replica:
    """A replica's end of a connection, which reads when the test says so."""

    def __init__(self, broker_id, end):
        self.broker_id, self.end = broker_id, end
        self.log, self.sizes, self.confirmed = b"", [], []

    def ask(self, position=0):
        self.end.sendall(REPORT.pack(2, position))

    def take(self):
        """Take the next transfer."""
        state, size, position, _, _, confirmed = TRANSFER.unpack(self.read(TRANSFER.size))
        assert (state, position) == (2, len(self.log))
        self.log += self.read(size)
        self.sizes.append(size)
        self.confirmed.append(confirmed)

    def take_to(self, position):
        while len(self.log) < position:
            self.take()

    def read(self, size):
        data = b""
        while len(data) < size:
            data += self.end.recv(size - len(data)) or pytest.fail(
                "the master closed the connection"
            )
        return data

    def has_nothing(self):
        return not select.select([self.end], [], [], 0)[0]


@dataclass
class Master:
    """A master with its log."""

    store: Store
    settings: object
    listener: HaListener
    watcher: Watcher
    replicas: list = field(default_factory=list)

    @property
    def end(self):
        return self.store.max_position

    def append(self, count=1):
        for _ in range(count):
            self.store.append("orders", 0, BODY, b"")
        self.listener.appended()

    async def add(self, *, buffer_size=None):
        """Connect a replica, which is greeted and has asked for nothing yet."""
        ours, theirs = socket.socketpair()
        if buffer_size:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_size)
        theirs.settimeout(PATIENCE_S)
        replica = Replica(len(self.replicas) + 2, theirs)
        self.replicas.append(replica)
        await asyncio.get_running_loop().create_connection(
            lambda: ReplicaSession(self.listener, self.store, self.settings), sock=ours
        )
        theirs.sendall(HANDSHAKE.pack(1, 0, 0, replica.broker_id))
        await until(lambda: replica.broker_id in self.watcher.held_positions)
        state, size, end, epoch = struct.unpack(">iiqi", replica.read(20))
        replica.read(size)
        assert (state, end, epoch) == (1, self.end, 1)
        return replica

    async def add_following(self, **options):
        replica = await self.add(**options)
        replica.ask()
        await until(lambda: self.listener.describe(0, frozenset())[-1].next_position >= 0)
        return replica


@pytest.fixture
async def master(tmp_path):
    settings = parse_settings({"haTransferBatchSize": str(TRANSFER_SIZE_MAX)}).settings
    store = Store(str(tmp_path / "m"), segment_size_bytes=1 << 20)
    store.begin_epoch(1)
    watcher = Watcher()
    with socket.socket() as unused:
        listener = HaListener(store, settings, unused)
        listener.serve(watcher)
        made = Master(store, settings, listener, watcher)
        yield made
        listener.close_sessions()
        for replica in made.replicas:
            replica.end.close()
        store.close()


async def until(condition):
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if condition():
                return
            await asyncio.sleep(0)


def sender_count():
    """Count the engine's threads that send."""
    count = 0
    for task in Path("/proc/self/task").iterdir():
        # One that ends meanwhile has no name any more.
        with suppress(OSError):
            count += (task / "comm").read_text().strip() == "send-log"
    return count


async def test_what_is_appended_has_left_when_the_append_is_reported(master):
    replica = await master.add_following()

    master.append()
    has_left = not replica.has_nothing()
    replica.take()
    replica.ask(master.end)
    await until(lambda: master.watcher.held_positions == {2: master.end})

    assert has_left
    assert (len(replica.log), master.watcher.sent_to) == (master.end, {2})


async def test_what_may_leave_later_leaves_behind_the_answers_of_the_turn(master):
    replica = await master.add_following()

    master.store.append("orders", 0, BODY, b"")
    master.listener.send_later()
    had_nothing = replica.has_nothing()
    await asyncio.sleep(0)
    replica.take()

    assert had_nothing
    assert len(replica.log) == master.end


async def test_a_replica_that_does_not_read_delays_no_other_and_gets_all_later(master):
    slow = await master.add_following(buffer_size=SMALL_BUFFER)
    other = await master.add_following()

    for _ in range(50):
        master.append()
        other.take_to(master.end)
    slow.take_to(master.end)

    assert slow.log == other.log
    # The replica that was slow is as quick as the other again.
    await until(lambda: appended_is_there(master, slow))


def appended_is_there(master, replica):
    """Append, and return whether that has reached a replica without a thread's help."""
    master.append()
    is_there = not replica.has_nothing()
    replica.take_to(master.end)
    return is_there


async def test_much_is_sent_by_a_thread_in_transfers_of_the_size_that_is_set(master):
    master.append(100)
    replica = await master.add_following()

    # The loop has no turn meanwhile.
    replica.take_to(master.end)

    assert sum(replica.sizes) == master.end
    assert max(replica.sizes) == TRANSFER_SIZE_MAX


async def test_nothing_is_sent_before_the_replica_has_reported_its_position(master):
    replica = await master.add()

    master.append()
    master.listener.tick(time.monotonic())

    assert replica.has_nothing()


async def test_what_is_confirmed_is_sent_once_when_nothing_else_travels(master):
    replica = await master.add_following()
    master.append()
    replica.take()

    master.watcher.published_position = master.end
    for _ in range(3):
        master.listener.tick(asyncio.get_running_loop().time())
    replica.take()

    assert replica.confirmed == [0, master.end]
    assert replica.has_nothing()


async def test_a_replica_that_asks_for_more_than_there_is_is_refused(master):
    replica = await master.add()

    replica.ask(master.end + 1)
    await until(lambda: not master.watcher.held_positions)

    assert replica.end.recv(1) == b""


async def test_a_replica_that_was_dropped_is_sent_nothing_more_and_its_thread_ends(master):
    replica = await master.add_following(buffer_size=SMALL_BUFFER)
    for _ in range(50):
        master.append()
    # A thread that has just begun gives itself its name, by which it is counted, a moment later.
    await until(lambda: sender_count() == 1)

    master.listener.close_sessions()
    await until(lambda: sender_count() == 0)
    sent = b"".join(iter(lambda: replica.end.recv(1 << 16), b""))

    assert len(sent) < master.end
