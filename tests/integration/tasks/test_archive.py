"""From the waiting stream into Parquet and the manifest, each sample exactly once."""

from datetime import timedelta

import pyarrow.parquet as pq
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from backend.clients.sample_history import SampleHistory, instant
from backend.clients.sample_schemas import SCHEMAS
from backend.db import sample_files
from backend.domain.names import CLUSTER_NAME_BYTES_MAX
from backend.services.samples import ObservedQueue, ObservedSample, ObservedTopic
from backend.services.samples.archive import archive_samples
from backend.services.samples.observed import (
    ARCHIVING_KEY,
    PENDING_KEY,
    STREAM_FIELD,
    encode_sample,
)
from tests.integration.tasks.conftest import NOON

NOON_MS = int(NOON.timestamp() * 1000)


def observed(at_ms: int = NOON_MS, **values) -> ObservedSample:
    names = ("messages_in", "bytes_in", "messages_out", "bytes_out", "store_bytes")
    sizes = ("disk_total_bytes", "disk_free_bytes", "resident_bytes", "flushed_position")
    positions = ("commit_log_min_position", "commit_log_max_position")
    return ObservedSample(
        **{
            "cluster_name": "east",
            "broker_name": "broker-a",
            "broker_id": 0,
            "observed_at_ms": at_ms,
            "reported_at_ms": at_ms,
            "booted_at_ms": NOON_MS - 60_000,
            "cpu_seconds": 0.5,
            **dict.fromkeys((*names, *sizes, *positions), 7),
            "topics": (
                ObservedTopic(
                    "orders", messages_in=1, bytes_in=2, queues=(ObservedQueue(3, 4, 5),)
                ),
            ),
            **values,
        }
    )


@pytest.fixture
def history(tmp_path):
    return SampleHistory(tmp_path)


@pytest.fixture
def archive(redis, database, history, clock):
    async def run(**overrides):
        parts = {"redis": redis, "database": database, "history": history, "clock": clock}
        return await archive_samples(**{**parts, **overrides})

    return run


async def wait(redis, *samples: ObservedSample) -> None:
    for sample in samples:
        await redis.xadd(PENDING_KEY, {STREAM_FIELD: encode_sample(sample)})


async def manifest(database) -> list[sample_files.SampleFile]:
    async with database.connect() as connection:
        return await sample_files.list_since(connection, (NOON - timedelta(days=99)).date())


async def test_waiting_samples_become_files_that_the_manifest_names(
    archive, redis, database, history
):
    await wait(redis, observed(own_id=2), observed(NOON_MS + 5_000))

    outcome = await archive()

    brokers, topics = await manifest(database)
    table = pq.read_table(history.absolute(brokers.path))
    assert (outcome.sample_count, outcome.file_count) == (2, 2)
    assert brokers.path.startswith("broker_samples/cluster=east/day=2026-03-02/")
    assert table.schema.equals(SCHEMAS["broker_samples"])
    assert table.column("observed_at").to_pylist() == [NOON, NOON + timedelta(seconds=5)]
    assert table.column("own_id").to_pylist() == [2, None]
    assert (brokers.row_count, brokers.sampled_from) == (2, NOON)
    assert brokers.size_bytes == history.absolute(brokers.path).stat().st_size
    rows = pq.read_table(history.absolute(topics.path)).to_pylist()
    assert [row["topic_name"] for row in rows] == ["orders", "orders"]
    assert rows[0]["queues"] == [{"queue_id": 3, "min_offset": 4, "max_offset": 5}]
    assert rows[0]["messages_in_per_second"] is None
    assert rows[0]["own_id"] == 2
    assert not await redis.exists(PENDING_KEY, ARCHIVING_KEY)


async def test_clusters_and_days_have_files_of_their_own(archive, redis, database):
    midnight_ms = int(instant(NOON_MS).replace(hour=23, minute=59, second=59).timestamp() * 1000)
    await wait(
        redis,
        observed(midnight_ms, topics=()),
        observed(midnight_ms + 2_000, topics=()),
        observed(midnight_ms, topics=(), cluster_name="a|b%c"),
    )

    await archive()

    partitions = {file.path.rsplit("/", 1)[0] for file in await manifest(database)}
    assert partitions == {
        "broker_samples/cluster=east/day=2026-03-02",
        "broker_samples/cluster=east/day=2026-03-03",
        "broker_samples/cluster=a%7Cb%25c/day=2026-03-02",
    }


async def test_the_longest_cluster_names_there_may_be_have_folders_of_their_own(
    archive, redis, database, history
):
    names = ["|" * CLUSTER_NAME_BYTES_MAX, "%" * CLUSTER_NAME_BYTES_MAX]
    await wait(redis, *(observed(topics=(), cluster_name=name) for name in names))

    await archive()

    files = await manifest(database)
    assert {file.cluster_name for file in files} == set(names)
    assert len({file.path.split("/")[1] for file in files}) == len(names)
    [told] = {pq.read_table(history.absolute(file.path)).num_rows for file in files}
    assert told == 1


async def test_nothing_waiting_makes_no_file(archive, database):
    outcome = await archive()

    assert (outcome.sample_count, outcome.file_count) == (0, 0)
    assert await manifest(database) == []


class DyingRedis:
    """Lose the connection when a page that is recorded should go."""

    def __init__(self, redis) -> None:
        self._redis = redis

    def __getattr__(self, name):
        return getattr(self._redis, name)

    async def xdel(self, *_names):
        raise RedisConnectionError


async def test_a_run_that_died_before_its_end_is_repeated_without_doubling(
    archive, redis, database, history
):
    await wait(redis, observed())
    with pytest.raises(RedisConnectionError):
        await archive(redis=DyingRedis(redis))
    before = await manifest(database)
    # Meanwhile new samples arrive; they belong to the next run.
    await wait(redis, observed(NOON_MS + 5_000))

    again = await archive()
    last = await archive()

    files = await manifest(database)
    assert [file for file in files if file in before] == before
    assert (again.file_count, last.file_count) == (0, 2)
    assert sum(file.row_count for file in files if file.dataset == "broker_samples") == 2
    on_disk = sorted(str(path.relative_to(history.absolute("."))) for path in files_of(history))
    assert on_disk == sorted(file.path for file in files)


async def test_a_run_goes_on_behind_what_those_that_were_cut_off_have_archived(
    archive, redis, database, history, monkeypatch
):
    monkeypatch.setattr("backend.services.samples.archive.PAGE_ENTRY_COUNT", 1)
    await wait(redis, *(observed(NOON_MS + i, topics=()) for i in range(3)))
    write, written = history.write, []

    def write_one(dataset, rows, **names):
        if len(written) % 2:
            written.append("cut off")
            raise TimeoutError
        written.append(rows[0]["observed_at"])
        return write(dataset, rows, **names)

    monkeypatch.setattr(history, "write", write_one)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await archive()
    await archive()

    instants = [instant(NOON_MS + i) for i in range(3)]
    assert written == [instants[0], "cut off", instants[1], "cut off", instants[2]]
    assert sum(file.row_count for file in await manifest(database)) == 3
    assert not await redis.exists(PENDING_KEY, ARCHIVING_KEY)


async def test_a_disk_that_takes_nothing_leaves_the_samples_waiting_and_no_trace(
    archive, redis, database, history, monkeypatch
):
    await wait(redis, observed())
    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.parquet.write_table", _full_disk)
        with pytest.raises(OSError, match="No space left"):
            await archive()
    assert await manifest(database) == []
    assert files_of(history) == []

    outcome = await archive()

    assert outcome.sample_count == 1
    assert len(await manifest(database)) == 2


async def test_an_entry_that_is_no_sample_is_passed_over(archive, redis):
    await redis.xadd(PENDING_KEY, {STREAM_FIELD: b"not a sample"})
    await wait(redis, observed())

    outcome = await archive()

    assert outcome.sample_count == 1


def files_of(history: SampleHistory) -> list:
    return [path for path in history.absolute(".").rglob("*") if path.is_file()]


def _full_disk(*_arguments, **_options):
    raise OSError(28, "No space left on device")
