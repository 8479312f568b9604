"""How a replica gives up its master while its log must stay quiet: over real stores and sockets."""

import asyncio
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from regent_engine import ReplicaLink, Store, StoreError
from structlog.testing import capture_logs

from backend.remoting.headers.replication import HaInfoAnswer
from tests.waiting import PATIENCE_S
from workers.broker.configuration.settings import parse_settings
from workers.broker.replication import follower as follower_module
from workers.broker.replication.backfill import Backfill
from workers.broker.replication.follower import Follower
from workers.broker.replication.ha_listener import HaListener
from workers.broker.replication.log_copying import Copying
from workers.broker.replication.verification import Verification


class Slow:
    """Work on a thread that goes on when the test says so."""

    def __init__(self):
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()

    def __call__(self):
        self.has_begun.set()
        assert self.may_go_on.wait(PATIENCE_S)


@dataclass
class Flusher:
    """Flushes nothing, and records the truncations."""

    cuts: list = field(default_factory=list)

    def cut(self, end):
        self.cuts.append(end)

    def when_durable(self, _position, _release):
        pass


class OwnStore:
    """A replica's store whose cuts wait, or are refused."""

    def __init__(self, store):
        self.store = store
        self.before_cut = lambda: None

    def __getattr__(self, name):
        return getattr(self.store, name)

    def truncate_to(self, position):
        self.before_cut()
        self.store.truncate_to(position)


@dataclass
class Watcher:
    """Who counts what replicas hold, and needs none of it."""

    published_position: int = 0
    held_ids: set = field(default_factory=set)

    def connected(self, broker_id, *, is_learner):
        pass

    def sent(self, broker_id):
        pass

    def held(self, broker_id, _position):
        self.held_ids.add(broker_id)

    def disconnected(self, broker_id):
        pass


@dataclass
class Group:
    """A master, and a replica whose log goes on where the master's ends."""

    own: OwnStore
    shared_end: int
    watcher: Watcher
    follower: Follower
    flusher: Flusher
    ends_at_cut: list
    listener: HaListener
    followings: list = field(default_factory=list)

    def follow(self):
        following = asyncio.ensure_future(self.follower.run())
        self.followings.append(following)
        return following


@pytest.fixture
async def group(tmp_path, monkeypatch):
    settings = parse_settings({}).settings
    master, own = (Store(str(tmp_path / i), segment_size_bytes=1 << 20) for i in "mr")
    for store in (master, own):
        store.begin_epoch(1)
        store.append("orders", 0, b".", b"")
    shared_end = own.max_position
    own.append("orders", 0, b".", b"")
    own_store = OwnStore(own)
    with socket.create_server(("127.0.0.1", 0)) as ha_socket:
        address = f"127.0.0.1:{ha_socket.getsockname()[1]}"
        listener, watcher = HaListener(master, settings, ha_socket), Watcher()
        await listener.start()
        listener.serve(watcher)

        async def ask_master(_address):
            return HaInfoAnswer(master_ha_address=address, master_epoch=1)

        def link(store, **fields):
            return ReplicaLink(store.store, **fields)

        monkeypatch.setattr(follower_module, "ask_master", ask_master)
        monkeypatch.setattr(follower_module, "ReplicaLink", link)
        ends_at_cut, flusher = [], Flusher()
        verification = Verification(tmp_path)
        follower = Follower(
            own_store,
            settings,
            broker_id=2,
            epoch=1,
            master_address="",
            verification=verification,
            flusher=flusher,
            on_confirmed=lambda _position: None,
            on_cut=lambda: ends_at_cut.append(own.max_position),
            backfill=Backfill(
                own, tmp_path, verification, segment_size=1 << 20, on_whole=lambda: None
            ),
            damaged_at=None,
        )
        group = Group(own_store, shared_end, watcher, follower, flusher, ends_at_cut, listener)
        yield group
        for following in group.followings:
            await gone(following)
        listener.close_sessions()
        listener.stop()
    master.close()
    own.close()


async def until(condition):
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if condition():
                return
            await asyncio.sleep(0.001)


async def gone(task):
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def give_up(task, slow, *, times):
    """Cancel a task while it waits for something on a thread, and let that go on then."""
    await until(slow.has_begun.is_set)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not task.done()
    slow.may_go_on.set()
    with suppress(asyncio.CancelledError):
        await task


def event_counters():
    descriptors = Path("/proc/self/fd").iterdir()
    return sum("eventfd" in str(one.readlink()) for one in descriptors if one.is_symlink())


@pytest.mark.parametrize("times", [1, 2])
async def test_a_cut_that_is_given_up_meanwhile_is_reported_all_the_same(group, times):
    slow = group.own.before_cut = Slow()

    await give_up(group.follow(), slow, times=times)

    assert group.own.max_position == group.shared_end
    assert group.ends_at_cut == group.flusher.cuts == [group.shared_end]


async def test_a_cut_that_the_store_refuses_is_none(group):
    refused = asyncio.Event()
    loop = asyncio.get_running_loop()

    def refuse():
        loop.call_soon_threadsafe(refused.set)
        raise StoreError("refused")

    group.own.before_cut = refuse
    following = group.follow()
    async with asyncio.timeout(PATIENCE_S):
        await refused.wait()
    await gone(following)

    assert group.ends_at_cut == group.flusher.cuts == []


async def test_a_log_that_can_t_be_cut_where_it_is_damaged_is_doubted_once(group, monkeypatch):
    monkeypatch.setattr(follower_module, "RETRY_MAX_S", 0)
    refusals = []

    def refuse():
        refusals.append("refused")
        raise StoreError("refused")

    group.own.before_cut = refuse
    group.follower._damaged_at = group.shared_end
    with capture_logs() as logs:
        following = group.follow()
        await until(lambda: len(refusals) > 1)
        await gone(following)

    assert [entry["event"] for entry in logs].count("log_doubted") == 1


async def test_a_log_is_cut_where_a_damage_is_noted_although_its_store_knows_of_none_o34(group):
    # The epochs say that the first record is the master's too.
    group.follower._damaged_at = 0

    following = group.follow()
    await until(lambda: group.ends_at_cut)
    await gone(following)

    assert group.ends_at_cut == group.flusher.cuts == [0]
    assert not group.follower._verification.is_verified


async def test_who_is_cancelled_twice_while_the_copying_ends_leaves_no_descriptor(
    group, monkeypatch
):
    slow, stop = Slow(), Copying.stop

    def stop_slowly(copying):
        slow()
        stop(copying)

    monkeypatch.setattr(Copying, "stop", stop_slowly)
    before = event_counters()
    following = group.follow()
    await until(lambda: group.watcher.held_ids)
    assert event_counters() > before
    following.cancel()

    await give_up(following, slow, times=1)

    # A look that was due soon has the last one.
    await until(lambda: event_counters() == before)


async def test_a_master_needs_the_log_from_what_is_confirmed_and_every_replica_holds(group):
    listener, watcher = group.listener, group.watcher
    watcher.published_position = group.shared_end - 1
    alone = listener.needed_from()
    group.follow()
    await until(lambda: watcher.held_ids)
    watcher.published_position = group.shared_end + 1
    followed = listener.needed_from()
    listener.close_sessions()

    assert (alone, followed) == (group.shared_end - 1, group.shared_end)
    assert listener.needed_from() is None
