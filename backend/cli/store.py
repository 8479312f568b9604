"""The commands `regent store …`: look into the message store of a broker, from its files.

They need no server. All but `rebuild` only read, so that a store which is in use, damaged or on a
disk mounted read-only can be looked at.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators
from regent_engine import IndexedKey, Record, StoreError, Survey, read_index

from backend.cli import store_files, store_findings, store_log
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import UNKNOWN, bytes_text, print_json, print_line, print_table
from backend.cli.reader import print_note
from backend.cli.store_files import StorePaths
from backend.cli.store_log import LogRecords
from backend.cli.store_options import (
    INDEX_ENTRIES,
    INDEX_SLOTS,
    NUMBER_MAX,
    CommitLog,
    Crc,
    DelayLevels,
    IndexEntries,
    IndexSlots,
    Output,
    crc_property,
    read_through,
)
from backend.cli.store_rebuild import rebuild

BODY_SHOWN: Final = 60
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

store = App(name="store", help="Look into a broker's message store, from its files.")


@store.command
def verify(
    directory: Path,
    /,
    *,
    commit_log: CommitLog = None,
    delay_levels: DelayLevels = None,
    index_slots: IndexSlots = INDEX_SLOTS,
    index_entries: IndexEntries = INDEX_ENTRIES,
    crc: Crc = False,
    output: Output = "table",
) -> None:
    """Check every record of a store, and everything else in it against them.

    Checked are consume queues, key index, epochs, checkpoint, the marks of a crash or of an
    interrupted truncation, and files that do not belong there. Nothing is changed. Each finding
    says what is wrong, where, what that means and what to do. Exit code 0: all is well, or there
    are only notes; 1: something is wrong. A store in use can be checked as well, up to where its
    log ends at that moment.

    Examples:
        regent store verify .regent/brokers/broker-a/store
        regent store verify /data/store --commit-log /fast/commitlog -o json

    Args:
        directory: The store: storePathRootDir of the broker.
        commit_log: Where its log is, when storePathCommitLog moves it.
        delay_levels: The broker's messageDelayLevel, when it is not stock's.
        index_slots: The broker's maxHashSlotNum.
        index_entries: The broker's maxIndexNum.
        crc: The broker has enabledAppendPropCRC=true: a record whose own checksum does not fit
            is damaged. To any other broker it is a message like others, and is only noted.
        output: How to print.
    """
    paths = store_files.locate(directory, commit_log)
    in_use = store_files.is_in_use(paths)
    if in_use:
        print_note("a broker is using this store: what it writes meanwhile is not checked")
    survey = _survey(
        paths,
        index_slots=index_slots,
        index_entries=index_entries,
        compares=True,
        is_in_use=in_use,
        delay_levels=delay_levels,
        crc=crc,
    )
    findings = survey.findings()
    error = store_findings.unwell(findings, paths)
    if output == "json":
        print_json(
            {
                "store": str(paths.root),
                "is_well": error is None,
                "is_in_use": in_use,
                **_control_fields(survey),
                "finding_count": survey.finding_count,
                "findings": [store_findings.finding_fields(found, paths) for found in findings],
            }
        )
    else:
        _print_totals(survey)
        if error is None:
            print_line("nothing is wrong" + ("; to note:" if findings else ""))
        if findings:
            print_line("")
            store_findings.print_findings(findings, paths, count=survey.finding_count)
    if error is not None:
        raise error


@store.command
def stats(
    directory: Path,
    /,
    *,
    commit_log: CommitLog = None,
    index_slots: IndexSlots = INDEX_SLOTS,
    index_entries: IndexEntries = INDEX_ENTRIES,
    output: Output = "table",
) -> None:
    """Count the messages of a store by topic and queue, and say how far index and epochs are.

    Only the log is checked; whether the rest of the store fits the log, `regent store verify`
    says. What the log held where it is damaged or has missing files cannot be counted: the rest
    is, and the exit code is 6.

    Example:
        regent store stats .regent/brokers/broker-a/store

    Args:
        directory: The store: storePathRootDir of the broker.
        commit_log: Where its log is, when storePathCommitLog moves it.
        index_slots: The broker's maxHashSlotNum.
        index_entries: The broker's maxIndexNum.
        output: How to print.
    """
    paths = store_files.locate(directory, commit_log)
    survey = _survey(paths, index_slots=index_slots, index_entries=index_entries)
    findings = survey.findings()
    is_log_whole = not any(found.severity == "lost" for found in findings)
    if output == "json":
        print_json(
            {
                "store": str(paths.root),
                **_control_fields(survey),
                # Not of the store: nothing else was compared.
                "is_log_whole": is_log_whole,
                "log_finding_count": survey.finding_count,
                "queues": [store_files.fields(queue) for queue in survey.queues()],
            }
        )
    else:
        _print_queues(survey)
    if not is_log_whole:
        raise store_log.incomplete(paths, "counted")
    if findings:
        print_note(f"there is something to note: regent store verify {paths.root}")


def _print_queues(survey: Survey) -> None:
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
            for queue in survey.queues()
        ],
    )
    if epochs := survey.epochs():
        print_line("")
        print_table(("EPOCH#", "FIRST POSITION#"), epochs)


@store.command
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
    commit_log: CommitLog = None,
    index_slots: IndexSlots = INDEX_SLOTS,
    index_entries: IndexEntries = INDEX_ENTRIES,
    output: Output = "table",
) -> None:
    """Print the records of a store, or the entries of its key index, the oldest first.

    Where the log is damaged or has missing files, this is said on standard error with the log
    positions, and the exit code is 6.

    Examples:
        regent store dump .regent/brokers/broker-a/store --limit 20
        regent store dump /data/store --topic orders --queue-id 3 -o json
        regent store dump /data/store --position 1073741824
        regent store dump /data/store --index --position 1073741824

    Args:
        directory: The store: storePathRootDir of the broker.
        position: Log position to begin at; a record must begin there, unless with --index.
        topic: Only records of this topic.
        queue_id: Only records of queues with this id.
        index: Print index entries instead; they know hashes of keys, not topics.
        limit: How many at most.
        commit_log: Where its log is, when storePathCommitLog moves it.
        index_slots: The broker's maxHashSlotNum.
        index_entries: The broker's maxIndexNum.
        output: How to print.
    """
    paths = store_files.locate(directory, commit_log)
    if index:
        if topic is not None or queue_id is not None:
            raise CommandError(
                "index entries have no topic and no queue",
                next_step="leave out --topic and --queue-id, or --index",
                exit_code=ExitCode.USAGE,
            )
        _print_keys(_keys(paths, position or 0, limit, (index_slots, index_entries)), output)
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
                _time(record.store_timestamp_ms),
                record.properties.get("KEYS", UNKNOWN),
                record.properties.get("TAGS", UNKNOWN),
                _preview(record.body),
            )
            for record in found
        ],
    )


store.command(rebuild)


def _survey(
    paths: StorePaths,
    *,
    index_slots: int,
    index_entries: int,
    compares: bool = False,
    is_in_use: bool = False,
    delay_levels: str | None = None,
    crc: bool = False,
) -> Survey:
    store_files.refuse_index_shape(index_slots, index_entries)
    levels = None if delay_levels is None else store_files.parse_delay_levels(delay_levels)
    try:
        survey = Survey(
            str(paths.root),
            commit_log_path=str(paths.commit_log),
            compares=compares,
            is_in_use=is_in_use,
            delay_levels_ms=levels,
            index_slot_count=index_slots,
            index_entry_count=index_entries,
            crc_property=crc_property(crc=crc),
        )
        read_through(survey, label="reading the log")
    except StoreError as error:
        next_step = store_files.TRY_AGAIN if compares else None
        raise store_files.unreadable(paths, str(error), next_step=next_step) from error
    return survey


def _print_totals(survey: Survey) -> None:
    queues, index, epochs = survey.queues(), survey.index(), survey.epochs()
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
    print_line(
        f"key index: {index.key_count} keys in {index.file_count} files, up to log position"
        f" {index.end_position}"
        if index.file_count
        else "key index: none"
    )
    print_line(
        f"epochs: {len(epochs)}, the newest {epochs[-1][0]} from log position {epochs[-1][1]}"
        if epochs
        else "epochs: none"
    )
    if survey.truncation_position is not None:
        print_line(f"the next start cuts the log at {survey.truncation_position}")


def _control_fields(survey: Survey) -> dict[str, Any]:
    checkpoint = survey.checkpoint()
    return {
        "min_position": survey.min_position,
        "end_position": survey.end_position,
        "truncation_position": survey.truncation_position,
        "index": store_files.fields(survey.index()),
        "epochs": [
            {"epoch": number, "start_position": position} for number, position in survey.epochs()
        ],
        "checkpoint": None if checkpoint is None else store_files.fields(checkpoint),
    }


def _keys(
    paths: StorePaths, min_position: int, count: int, shape: tuple[int, int]
) -> list[IndexedKey]:
    store_files.refuse_index_shape(*shape)
    try:
        return read_index(
            str(paths.root),
            min_position=min_position,
            count=count,
            index_slot_count=shape[0],
            index_entry_count=shape[1],
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
                _time(key.store_timestamp_ms),
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


def _time(timestamp_ms: int | None) -> str:
    if timestamp_ms is None:
        return UNKNOWN
    try:
        instant = EPOCH + timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        # No checksum covers the header of a record: it may hold a time that no calendar has.
        return f"{timestamp_ms} ms"
    return instant.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"
