"""The commands `regent store …`: look into the message store of a broker, from its files.

They need no server. All but `rebuild` only read, so that a store which is in use, damaged or on a
disk mounted read-only can be looked at.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import App, Parameter, validators
from regent_engine import Record, StoreError, Survey, read_log
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from backend.cli import store_files
from backend.cli.errors import CommandError
from backend.cli.output import (
    UNKNOWN,
    bytes_text,
    print_json,
    print_line,
    print_note,
    print_table,
    progress_console,
)
from backend.cli.store_files import StorePaths

STEP_BYTES: Final = 32 << 20
PAGE_RECORDS: Final = 500
BODY_SHOWN: Final = 60

store = App(name="store", help="Look into a broker's message store, from its files.")

Output = Annotated[Literal["table", "json"], Parameter(name=["--output", "-o"])]
CommitLog = Annotated[Path | None, Parameter(name="--commit-log")]
DelayLevels = Annotated[str | None, Parameter(name="--delay-levels")]


@store.command
def verify(
    directory: Path,
    /,
    *,
    commit_log: CommitLog = None,
    delay_levels: DelayLevels = None,
    output: Output = "table",
) -> None:
    """Check every record of a store and compare the consume queues with them.

    Exit code 0: all is well; 1: something is wrong. A store in use may show what is being written
    right now as torn or missing.

    Examples:
        regent store verify .regent/brokers/broker-a/store
        regent store verify /data/store --commit-log /fast/commitlog -o json

    Args:
        directory: The store: storePathRootDir of the broker.
        commit_log: Where its log is, when storePathCommitLog moves it.
        delay_levels: The broker's messageDelayLevel, when it is not stock's.
        output: How to print.
    """
    paths = store_files.locate(directory, commit_log)
    in_use = store_files.is_in_use(paths)
    if in_use:
        print_note("a broker is using this store: what it writes right now may show as missing")
    survey = _survey(paths, checks_queues=True, delay_levels=delay_levels)
    findings = survey.findings()
    is_well = all(found.severity == "note" for found in findings)
    if output == "json":
        print_json(
            {
                "store": str(paths.root),
                "is_well": is_well,
                "is_in_use": in_use,
                "min_position": survey.min_position,
                "end_position": survey.end_position,
                "finding_count": survey.finding_count,
                "findings": [store_files.fields(found) for found in findings],
            }
        )
    else:
        _print_totals(survey)
        print_table(
            ("SEVERITY", "WHAT", "QUEUE", "POSITION#", "DETAIL"),
            [
                (found.severity, found.kind, found.queue or "log", found.position, found.text)
                for found in findings
            ],
        ) if findings else print_line("nothing is wrong")
        if survey.finding_count > len(findings):
            print_line(f"… and {survey.finding_count - len(findings)} more")
    if not is_well:
        raise _unwell(paths, {found.severity for found in findings})


@store.command
def stats(directory: Path, /, *, commit_log: CommitLog = None, output: Output = "table") -> None:
    """Count the messages of a store by topic and queue, from its log.

    Example:
        regent store stats .regent/brokers/broker-a/store

    Args:
        directory: The store: storePathRootDir of the broker.
        commit_log: Where its log is, when storePathCommitLog moves it.
        output: How to print.
    """
    paths = store_files.locate(directory, commit_log)
    survey = _survey(paths, checks_queues=False)
    queues = survey.queues()
    if output == "json":
        print_json(
            {
                "store": str(paths.root),
                "min_position": survey.min_position,
                "end_position": survey.end_position,
                "queues": [store_files.fields(queue) for queue in queues],
            }
        )
        return
    _print_totals(survey)
    print_table(
        ("TOPIC", "QUEUE#", "MESSAGES#", "SIZE#", "MIN OFFSET#", "MAX OFFSET#", "FIRST", "LAST"),
        [
            (
                queue.topic,
                queue.queue_id,
                queue.record_count,
                bytes_text(queue.byte_count),
                queue.min_offset,
                queue.max_offset,
                _time(queue.first_store_timestamp_ms if queue.record_count else None),
                _time(queue.last_store_timestamp_ms if queue.record_count else None),
            )
            for queue in queues
        ],
    )


@store.command
def dump(
    directory: Path,
    /,
    *,
    position: Annotated[int | None, Parameter(validator=validators.Number(gte=0))] = None,
    topic: str | None = None,
    queue_id: int | None = None,
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1))] = 100,
    commit_log: CommitLog = None,
    output: Output = "table",
) -> None:
    """Print the records of a store, the oldest first.

    Examples:
        regent store dump .regent/brokers/broker-a/store --limit 20
        regent store dump /data/store --topic orders --queue-id 3 -o json
        regent store dump /data/store --position 1073741824

    Args:
        directory: The store: storePathRootDir of the broker.
        position: Log position to begin at; a record must begin there.
        topic: Only records of this topic.
        queue_id: Only records of queues with this id.
        limit: How many at most.
        commit_log: Where its log is, when storePathCommitLog moves it.
        output: How to print.
    """
    paths = store_files.locate(directory, commit_log)
    found = [
        record
        for record, _ in zip(
            _records(paths, position, topic=topic, queue_id=queue_id), range(limit), strict=False
        )
    ]
    if output == "json":
        print_json([_record(record) for record in found])
        return
    print_table(
        ("POSITION#", "SIZE#", "TOPIC", "QUEUE#", "OFFSET#", "STORED", "KEYS", "TAGS", "BODY"),
        [
            (
                record.log_position,
                record.size,
                record.topic,
                record.queue_id,
                record.queue_offset,
                _time(record.store_timestamp_ms),
                record.properties.get("KEYS", UNKNOWN),
                record.properties.get("TAGS", UNKNOWN),
                _preview(record.body),
            )
            for record in found
        ],
    )


@store.command
def rebuild(
    directory: Path,
    /,
    *,
    commit_log: CommitLog = None,
    delay_levels: DelayLevels = None,
    keep_old: bool = False,
) -> None:
    """Make the consume queues of a store anew from its log.

    The broker must be stopped. The old files are set aside first and put back when the rebuild
    fails.

    Examples:
        regent store rebuild /data/store
        regent store rebuild /data/store --keep-old

    Args:
        directory: The store: storePathRootDir of the broker.
        commit_log: Where its log is, when storePathCommitLog moves it.
        delay_levels: The broker's messageDelayLevel, when it is not stock's: queues of delayed
            messages hold their delivery times.
        keep_old: Leave the old files where they were set aside.
    """
    paths = store_files.locate(directory, commit_log)
    if store_files.is_in_use(paths):
        raise CommandError(
            f"the store at {paths.root} is in use",
            why="its lock file is held by a running broker",
            next_step="stop the broker and try again",
        )
    levels = None if delay_levels is None else store_files.parse_delay_levels(delay_levels)
    with progress_console().status(f"rebuilding the queues of {paths.root}"):
        old, queues = store_files.rebuild_queues(paths, levels, keep_old=keep_old)
    print_line(f"{len(queues)} queues with {sum(high - low for *_, low, high in queues)} messages")
    for path in old:
        print_note(f"the old files are in {path}")


def _survey(paths: StorePaths, *, checks_queues: bool, delay_levels: str | None = None) -> Survey:
    levels = None if delay_levels is None else store_files.parse_delay_levels(delay_levels)
    try:
        survey = Survey(
            str(paths.root),
            commit_log_path=str(paths.commit_log),
            checks_queues=checks_queues,
            delay_levels_ms=levels,
        )
        with Progress(
            TextColumn("reading the log"),
            BarColumn(),
            DownloadColumn(binary_units=True),
            TimeRemainingColumn(),
            console=progress_console(),
            transient=True,
            disable=not sys.stderr.isatty(),
        ) as progress:
            task = progress.add_task("", total=survey.total_bytes)
            while survey.advance(STEP_BYTES):
                progress.update(task, completed=survey.done_bytes)
    except StoreError as error:
        raise store_files.unreadable(paths, str(error)) from error
    return survey


def _records(
    paths: StorePaths, position: int | None, *, topic: str | None, queue_id: int | None
) -> Iterator[Record]:
    while True:
        try:
            records, position = read_log(
                str(paths.commit_log), position=position, count=PAGE_RECORDS
            )
        except StoreError as error:
            raise store_files.unreadable(paths, str(error)) from error
        for record in records:
            if topic in (None, record.topic) and queue_id in (None, record.queue_id):
                yield record
        if position is None:
            return


def _unwell(paths: StorePaths, severities: set[str]) -> CommandError:
    if "lost" in severities:
        return CommandError(
            f"messages of the store at {paths.root} cannot be read",
            next_step="keep a copy of the directory, then restore it from a replica",
        )
    return CommandError(
        f"the queues of the store at {paths.root} do not fit its log",
        next_step=f"stop the broker, then: regent store rebuild {paths.root}",
    )


def _print_totals(survey: Survey) -> None:
    queues = survey.queues()
    # Records in light queues are in queues of their own topics too.
    owned = [queue for queue in queues if not queue.topic.startswith("%LMQ%")]
    count, size = (
        sum(queue.record_count for queue in owned),
        sum(queue.byte_count for queue in owned),
    )
    print_line(
        f"log positions {survey.min_position} to {survey.end_position}: {count} messages,"
        f" {bytes_text(size)}, in {len(queues)} queues"
    )


def _record(record: Record) -> dict[str, Any]:
    shown = store_files.fields(record)
    shown["body"] = record.body.decode(errors="replace")
    shown["body_hex"] = record.body.hex()
    return shown


def _preview(body: bytes) -> str:
    text = body[: BODY_SHOWN * 4].decode(errors="replace")
    return text if len(text) <= BODY_SHOWN else f"{text[:BODY_SHOWN]}…"


def _time(timestamp_ms: int | None) -> str:
    if timestamp_ms is None:
        return UNKNOWN
    instant = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    return instant.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"
