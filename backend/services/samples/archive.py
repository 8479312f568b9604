"""Move observed samples from Redis into the Parquet history, each exactly once.

The waiting stream is renamed first, which freezes it; from then on every run sees the same entries
in the same pages, and a file's name follows from the first entry of its page. A page goes from the
stream once the manifest knows its files. A run that died at any point is therefore simply gone on
with: it writes at most one page again, to the same files, which the manifest may know already.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import msgspec
import structlog
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from backend.clients.clock import Clock
from backend.clients.sample_history import SampleHistory, WrittenFile, instant
from backend.db import sample_files
from backend.db.engine import Database
from backend.db.sample_files import SampleFile
from backend.services.samples.observed import (
    ARCHIVING_KEY,
    PENDING_KEY,
    STREAM_FIELD,
    ObservedSample,
    ObservedTopic,
    decode_sample,
)

PAGE_ENTRY_COUNT: Final = 2_000
"""Bounds what one run holds in memory. It is part of a file's name, because a page that is cut
elsewhere is another page."""

Partition = tuple[str, str, date]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ArchiveOutcome:
    """Count what one run has put into the history."""

    sample_count: int
    file_count: int


async def archive_samples(
    *, redis: Redis, database: Database, history: SampleHistory, clock: Clock
) -> ArchiveOutcome:
    """Write every waiting sample into the history and record its files in the manifest.

    Raises:
        OSError: the history's disk is full or not writable; the samples go on waiting.
    """
    await _freeze(redis)
    sample_count = file_count = 0
    while page := await redis.xrange(ARCHIVING_KEY, count=PAGE_ENTRY_COUNT):
        ids = [_text(entry_id) for entry_id, _ in page]
        samples = _readable(fields or {} for _, fields in page)
        files = await asyncio.to_thread(_write_page, history, samples, ids[0])
        async with database.begin() as connection:
            file_count += await sample_files.add(connection, files, at=clock.now())
        await redis.xdel(ARCHIVING_KEY, *ids)
        sample_count += len(samples)
    await redis.delete(ARCHIVING_KEY)
    return ArchiveOutcome(sample_count=sample_count, file_count=file_count)


async def _freeze(redis: Redis) -> None:
    # A frozen stream that is still there is from a run that died; it comes first.
    try:
        await redis.renamenx(PENDING_KEY, ARCHIVING_KEY)
    except ResponseError as error:
        if "no such key" not in str(error):
            raise


def _readable(entries: Iterable[Mapping[Any, Any]]) -> list[ObservedSample]:
    samples = []
    for fields in entries:
        data = fields.get(STREAM_FIELD.encode(), fields.get(STREAM_FIELD))
        try:
            samples.append(decode_sample(data or b""))
        except msgspec.DecodeError as error:
            log.warning("sample_unreadable", error=str(error))
    return samples


def _write_page(
    history: SampleHistory, samples: Sequence[ObservedSample], first_id: str
) -> list[SampleFile]:
    files = []
    for (dataset, cluster_name, day), rows in _partitions(samples).items():
        name = uuid5(NAMESPACE_URL, f"{dataset}/{cluster_name}/{day}/{PAGE_ENTRY_COUNT}/{first_id}")
        written = history.write(dataset, rows, cluster_name=cluster_name, day=day, name=str(name))
        files.append(_manifest_row(written, dataset=dataset, cluster_name=cluster_name, day=day))
    return files


def _manifest_row(
    written: WrittenFile, *, dataset: str, cluster_name: str, day: date
) -> SampleFile:
    return SampleFile(
        dataset=dataset,
        cluster_name=cluster_name,
        day=day,
        path=written.path,
        row_count=written.row_count,
        size_bytes=written.size_bytes,
        sampled_from=written.sampled_from,
        sampled_to=written.sampled_to,
    )


def _partitions(samples: Sequence[ObservedSample]) -> dict[Partition, list[dict[str, Any]]]:
    partitions: dict[Partition, list[dict[str, Any]]] = defaultdict(list)
    for sample in samples:
        day = instant(sample.observed_at_ms).date()
        partitions["broker_samples", sample.cluster_name, day].append(_broker_row(sample))
        if sample.topics:
            partitions["topic_samples", sample.cluster_name, day].extend(
                _topic_row(sample, topic) for topic in sample.topics
            )
    return partitions


def _identity(sample: ObservedSample) -> dict[str, Any]:
    return {
        "cluster_name": sample.cluster_name,
        "broker_name": sample.broker_name,
        "broker_id": sample.broker_id,
        "own_id": sample.own_id,
        "observed_at": instant(sample.observed_at_ms),
        "reported_at": instant(sample.reported_at_ms),
        "booted_at": instant(sample.booted_at_ms),
    }


def _broker_row(sample: ObservedSample) -> dict[str, Any]:
    # A column has the field's name; the instants replace the milliseconds, topics have own rows.
    return {**msgspec.to_builtins(msgspec.structs.replace(sample, topics=())), **_identity(sample)}


def _topic_row(sample: ObservedSample, topic: ObservedTopic) -> dict[str, Any]:
    return {
        **_identity(sample),
        "topic_name": topic.name,
        "messages_in": topic.messages_in,
        "bytes_in": topic.bytes_in,
        "messages_in_per_second": topic.messages_in_per_second,
        "bytes_in_per_second": topic.bytes_in_per_second,
        "queues": [msgspec.to_builtins(queue) for queue in topic.queues],
    }


def _text(value: bytes | str | None) -> str:
    assert value is not None, "an entry of a stream has an id"
    return value.decode() if isinstance(value, bytes) else value
