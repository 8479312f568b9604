"""What a master sends to its replicas, and when: over real stores, without sockets."""

import asyncio
import socket
from dataclasses import dataclass, field

import pytest
from regent_engine import ReplicaLink, Store

from workers.broker.replication.ha_listener import HaListener, ReplicaSession
from workers.broker.settings import parse_settings

BODY = b"." * 1000
TRANSFER_SIZE_MAX = 8000


@dataclass
class Watcher:
    """Who counts what replicas hold."""

    published_position: int = 0
    held_positions: dict = field(default_factory=dict)

    def connected(self, broker_id, *, is_learner):
        self.held_positions[broker_id] = 0
        assert not is_learner

    def sent(self, broker_id):
        pass

    def held(self, broker_id, position):
        self.held_positions[broker_id] = position

    def disconnected(self, broker_id):
        pass


class Replica:
    """A replica with its store, and the connection to it, which takes as much as the test says."""

    def __init__(self, listener, master_store, settings, root, broker_id):
        self.store = Store(str(root), segment_size_bytes=1 << 20)
        self._link = ReplicaLink(self.store, broker_id=broker_id, known_epoch=1)
        self.frames, self.is_full, self.is_gone = [], False, False
        self.session = ReplicaSession(listener, master_store, settings)
        self.session.connection_made(self)
        self.session.data_received(self._link.handshake())
        self.take()
        self.session.data_received(self._link.begin())

    def take(self):
        """Take what was sent, and report it."""
        for frame in self.frames:
            self._link.receive(frame)
        self.frames.clear()
        report = self._link.report(self.store.max_position)
        if report is not None:
            self.session.data_received(report)

    def get_extra_info(self, name):
        return ("10.0.0.2", 4000) if name == "peername" else None

    def set_write_buffer_limits(self, *, high):
        pass

    def write(self, frame):
        assert not self.is_gone
        self.frames.append(frame)
        if self.is_full:
            self.session.pause_writing()

    def abort(self):
        self.is_gone = True


@dataclass
class Master:
    """A master with its log."""

    root: object
    store: Store
    settings: object
    listener: HaListener
    watcher: Watcher
    replicas: list = field(default_factory=list)

    def append(self, count=1):
        self.store.append_many("orders", 0, [BODY] * count, [b""] * count)
        self.listener.appended()

    def add(self):
        broker_id = len(self.replicas) + 2
        root = self.root / f"r{broker_id}"
        replica = Replica(self.listener, self.store, self.settings, root, broker_id)
        self.replicas.append(replica)
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
        made = Master(tmp_path, store, settings, listener, watcher)
        yield made
        for replica in made.replicas:
            replica.store.close()
        store.close()


async def turns_until(condition):
    async with asyncio.timeout(10):
        while True:
            if condition():
                return
            await asyncio.sleep(0)


async def test_what_is_appended_has_left_when_the_append_is_told_of(master):
    replica = master.add()

    master.append()
    sent = len(replica.frames)
    replica.take()

    assert sent == 1
    assert master.watcher.held_positions == {2: master.store.max_position}


async def test_a_full_connection_waits_by_itself_and_goes_on_when_it_has_room(master):
    slow, other = master.add(), master.add()
    slow.is_full = True

    for _ in range(3):
        master.append()

    assert (len(slow.frames), len(other.frames)) == (1, 3)
    slow.is_full = False
    slow.session.resume_writing()
    assert len(slow.frames) == 2
    slow.take()
    assert slow.store.max_position == master.store.max_position


async def test_of_much_one_transfer_leaves_in_a_turn(master):
    master.append(100)
    replica = master.add()

    at_once = len(replica.frames)
    await turns_until(lambda: sum(map(len, replica.frames)) > master.store.max_position)
    sizes = [len(frame) for frame in replica.frames]
    replica.take()

    assert at_once == 1
    assert max(sizes) <= TRANSFER_SIZE_MAX + 36
    assert replica.store.max_position == master.store.max_position


async def test_what_may_have_left_the_memory_is_read_on_a_thread(master):
    master.listener.hot_size = 20_000
    master.append(100)
    replica = master.add()

    at_once = len(replica.frames)
    await turns_until(lambda: sum(map(len, replica.frames)) > master.store.max_position)
    replica.take()

    assert at_once == 0
    assert replica.store.max_position == master.store.max_position


async def test_a_replica_that_was_let_go_is_sent_nothing_more(master):
    replica = master.add()

    master.listener.close_sessions()
    master.append()

    assert (replica.is_gone, replica.frames) == (True, [])
