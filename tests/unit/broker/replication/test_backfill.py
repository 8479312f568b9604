"""Fetching older segments from a master that answers, loses its connection, or lets them expire."""

import asyncio
import shutil
import zlib
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from regent_engine import Store

from backend.remoting.headers import encode_header
from backend.remoting.headers.replication import UpdateFetchAnswer
from workers.broker.replication import backfill as backfill_module
from workers.broker.replication.backfill import MARK_NAME, Backfill
from workers.broker.replication.verification import Verification

SEGMENT_BYTES = 64 << 10
BODY = b"x" * 900
NOW_MS = 1_758_000_000_000


@dataclass
class Master:
    """Answers requests for parts of its log."""

    store: Store
    asked: list[int] = field(default_factory=list)
    breaks_at: int | None = None
    """The request, counted from 0, at which the connection breaks."""

    damages_at: int | None = None
    """The request whose answer loses a bit."""

    expires_at: int | None = None
    """The log position whose part has expired, although parts after it come."""

    async def call(self, _code, *, ext):
        number, position = len(self.asked), int(ext["position"])
        self.asked.append(position)
        if number == self.breaks_at:
            raise ConnectionResetError("the master was killed")
        part = self.store.log_bytes(position, int(ext["size"])) or b""
        if position == self.expires_at:
            part = b""
        else:
            # The other parts come later.
            await asyncio.sleep(0)
        told = encode_header(UpdateFetchAnswer(crc=zlib.crc32(part)))
        if number == self.damages_at:
            part = bytes([part[0] ^ 1]) + part[1:]
        return SimpleNamespace(code=0, remark="", ext=told, body=part)

    def close(self):
        pass

    @property
    def segments(self):
        """The segments that were asked for, in this order."""
        return [at // SEGMENT_BYTES * SEGMENT_BYTES for at in self.asked]


@pytest.fixture
def stores(tmp_path):
    """The store of a master with seven segments, and one that holds the last two of them."""
    master = open_store(tmp_path / "m")
    while master.max_position < 6.5 * SEGMENT_BYTES:
        master.append("orders", 0, BODY, b"")
    master.close()
    shutil.copytree(tmp_path / "m", tmp_path / "o")
    for path in sorted((tmp_path / "o" / "commitlog").glob("0*"))[:5]:
        path.unlink()
    master, own = open_store(tmp_path / "m"), open_store(tmp_path / "o")
    assert own.min_position == 5 * SEGMENT_BYTES
    yield master, own
    master.close()
    own.close()


def open_store(path):
    return Store(str(path), segment_size_bytes=SEGMENT_BYTES)


@pytest.fixture
def begin(stores, tmp_path, monkeypatch):
    """Begin a backfill from a master that does something wrong."""
    monkeypatch.setattr(backfill_module, "RETRY_S", 0.0)
    # Each segment is one part, so that a request names it.
    monkeypatch.setattr(backfill_module, "CHUNK_BYTES", SEGMENT_BYTES)

    def begin(**faults):
        master = Master(stores[0], **faults)

        async def connect(_address, **_names):
            return master

        monkeypatch.setattr(backfill_module, "connect", connect)
        read_again = []
        backfill = Backfill(
            stores[1],
            tmp_path,
            Verification(tmp_path),
            segment_size=SEGMENT_BYTES,
            on_whole=lambda: read_again.append(stores[1].min_position),
        )
        backfill.begin()
        return master, backfill, read_again

    return begin


def log_of(store):
    begin, end = store.min_position, 6 * SEGMENT_BYTES
    return b"".join(store.log_bytes(at, SEGMENT_BYTES) for at in range(begin, end, SEGMENT_BYTES))


async def test_segments_come_from_the_newest_to_the_oldest_and_then_the_mark_goes(
    begin, stores, tmp_path
):  # Q47, Q48, Q49, Q52
    master, backfill, read_again = begin()
    assert (tmp_path / MARK_NAME).exists()
    assert not Verification(tmp_path).is_verified

    await backfill.run("127.0.0.1:1")

    assert master.segments == [at * SEGMENT_BYTES for at in (4, 3, 2, 1, 0)]
    assert backfill.sync_point == 5 * SEGMENT_BYTES
    assert log_of(stores[1]) == log_of(stores[0])
    assert stores[1].offsets("orders", 0) == stores[0].offsets("orders", 0)
    assert read_again == [0]
    assert not (tmp_path / MARK_NAME).exists()
    assert not backfill.is_under_way


@pytest.mark.parametrize("fault", ["breaks_at", "damages_at"])
async def test_a_part_that_does_not_come_whole_is_fetched_again_and_no_other_one(
    begin, stores, fault
):  # Q44, Q49, O38
    master, backfill, _ = begin(**{fault: 2})

    await backfill.run("127.0.0.1:1")

    assert master.segments == [at * SEGMENT_BYTES for at in (4, 3, 2, 2, 1, 0)]
    assert log_of(stores[1]) == log_of(stores[0])


async def test_what_has_expired_at_the_master_is_not_needed(begin, stores, tmp_path):  # Q57
    stores[0].flush()
    stores[0].expire(NOW_MS, log_bytes_max=3 * SEGMENT_BYTES)
    begins_at = stores[0].min_position
    assert 0 < begins_at < 5 * SEGMENT_BYTES
    master, backfill, _ = begin()

    await backfill.run("127.0.0.1:1")

    assert master.segments[-1] == begins_at - SEGMENT_BYTES
    assert stores[1].min_position == begins_at
    assert not (tmp_path / MARK_NAME).exists()


async def test_what_has_expired_here_is_not_fetched_again(begin, stores):
    master, backfill, _ = begin(breaks_at=3)
    insert, gone = stores[0].log_bytes, []

    def log_bytes(position, size):
        if position == 2 * SEGMENT_BYTES:
            # The oldest ones go while the next one comes.
            stores[1].flush()
            gone.append(stores[1].expire(NOW_MS, log_bytes_max=2 * SEGMENT_BYTES).segment_count)
        return insert(position, size)

    master.store = SimpleNamespace(log_bytes=log_bytes)

    await backfill.run("127.0.0.1:1")

    assert gone
    assert sum(gone) > 0
    assert master.segments[:3] == [at * SEGMENT_BYTES for at in (4, 3, 2)]
    assert len(master.asked) == 3
    assert not backfill.is_under_way


async def test_a_restart_knows_that_segments_are_missing(begin, stores, tmp_path):  # O39
    _, backfill, _ = begin()
    again = Backfill(
        stores[1],
        tmp_path,
        Verification(tmp_path),
        segment_size=SEGMENT_BYTES,
        on_whole=lambda: None,
    )

    assert again.is_under_way
    await again.end()
    assert not (tmp_path / MARK_NAME).exists()
    assert backfill.is_under_way


async def test_a_segment_of_which_one_part_has_expired_is_not_fetched_on(
    begin, stores, tmp_path, monkeypatch
):  # Q57
    part_bytes = SEGMENT_BYTES // 16
    monkeypatch.setattr(backfill_module, "CHUNK_BYTES", part_bytes)
    master, backfill, _ = begin(expires_at=4 * SEGMENT_BYTES + 2 * part_bytes)

    await backfill.run("127.0.0.1:1")

    # No more than what was asked for at the same time.
    assert len(master.asked) <= 2 * backfill_module.CHUNKS_IN_FLIGHT
    assert stores[1].min_position == 5 * SEGMENT_BYTES
    assert not (tmp_path / MARK_NAME).exists()
    assert not (tmp_path / "o" / "commitlog" / "front").exists()
