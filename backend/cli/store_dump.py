"""`regent store dump`: print records of a log, or entries of the key index."""

from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter, validators
from regent_engine import IndexedKey, Record, StoreError, read_index

from backend.cli import store_files
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import UNKNOWN, print_json, print_table
from backend.cli.store_files import StorePaths, time_text
from backend.cli.store_log import LogRecords
from backend.cli.store_options import (
    NO_LOG_OPTIONS,
    NUMBER_MAX,
    LogOptions,
    Output,
)
from backend.cli.store_settings import StoreSettings

BODY_SHOWN: Final = 60


def dump(
    directory: Path,
    /,
    *,
    position: Annotated[
        int | None, Parameter(validator=validators.Number(gte=0, lte=NUMBER_MAX))
    ] = None,
    topic: str | None = None,
    queue_id: int | None = None,
    index: Annotated[bool, Parameter(negative="")] = False,
    limit: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=NUMBER_MAX))] = 100,
    options: LogOptions = NO_LOG_OPTIONS,
    output: Output = "table",
) -> None:
    """Print the commit log records of a store, or its key index entries, the oldest first.

    If the commit log is damaged or lacks files, the command prints the log positions on standard
    error. The exit code is then 6.

    Examples:
        regent store dump .regent/brokers/broker-a/store --limit 20
        regent store dump /data/store --topic orders --queue-id 3 -o json
        regent store dump /data/store --position 1073741824
        regent store dump /data/store --index --position 1073741824

    Args:
        directory: Directory of the store: the broker's storePathRootDir.
        position: Commit log position to start at. Without --index, a record must start at this
            position.
        topic: Only records of this topic.
        queue_id: Only records of queues with this id.
        index: Print entries of the key index instead. The entries hold hashes of keys, but no
            topics.
        limit: Maximum number of records or index entries.
        options: Settings of the broker, from its broker.conf or from options of the command.
        output: Output format.
    """
    settings = options.settings()
    paths = store_files.locate(directory, settings.commit_log)
    if index:
        if topic is not None or queue_id is not None:
            raise CommandError(
                "index entries have no topic and no queue",
                next_step="leave out --topic and --queue-id, or --index",
                exit_code=ExitCode.USAGE,
            )
        _print_keys(_keys(paths, settings, position or 0, limit), output)
        return
    log = LogRecords(paths, position)
    found = log.take(limit, topic=topic, queue_id=queue_id)
    if output == "json":
        print_json([_record(record) for record in found])
    else:
        _print_records(found)
    if not found:
        log.note_nothing(topic=topic, queue_id=queue_id)
    log.print_remarks()
    log.refuse_gaps()


def _print_records(found: list[Record]) -> None:
    print_table(
        ("POSITION#", "SIZE#", "TOPIC", "QUEUE#", "OFFSET#", "STORED", "KEYS", "TAGS", "BODY"),
        [
            (
                record.log_position,
                record.size,
                record.topic,
                record.queue_id,
                record.queue_offset,
                time_text(record.store_timestamp_ms),
                record.properties.get("KEYS", UNKNOWN),
                record.properties.get("TAGS", UNKNOWN),
                _preview(record.body),
            )
            for record in found
        ],
    )


def _keys(
    paths: StorePaths, settings: StoreSettings, min_position: int, count: int
) -> list[IndexedKey]:
    try:
        return read_index(
            str(paths.root),
            min_position=min_position,
            count=count,
            index_slot_count=settings.index_slots,
            index_entry_count=settings.index_entries,
        )
    except StoreError as error:
        raise store_files.unreadable(paths, str(error)) from error


def _print_keys(keys: list[IndexedKey], output: Output) -> None:
    if output == "json":
        print_json([store_files.fields(key) for key in keys])
        return
    print_table(
        ("FILE", "ENTRY#", "HASH#", "POSITION#", "STORED", "PREVIOUS#"),
        [
            (
                key.file,
                key.number,
                key.hash,
                key.log_position,
                time_text(key.store_timestamp_ms),
                key.previous,
            )
            for key in keys
        ],
    )


def _record(record: Record) -> dict[str, Any]:
    shown = store_files.fields(record)
    shown["body"] = record.body.decode(errors="replace")
    shown["body_hex"] = record.body.hex()
    return shown


def _preview(body: bytes) -> str:
    text = body[: BODY_SHOWN * 4].decode(errors="replace")
    return text if len(text) <= BODY_SHOWN else f"{text[:BODY_SHOWN]}…"
