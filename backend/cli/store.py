"""The commands `regent store …`: inspect the message store of a broker, from its files.

The commands need no server. All commands except `rebuild` only read, so they also work on a store
in use, on a damaged store and on a read-only disk.
"""

from pathlib import Path
from typing import Any

from cyclopts import App
from regent_engine import LOCAL_DIR, StoreError, Survey

from backend.cli import store_files, store_findings, store_log
from backend.cli.output import bytes_text, print_json, print_line, print_table
from backend.cli.reader import print_note
from backend.cli.store_dump import dump
from backend.cli.store_files import StorePaths, time_text
from backend.cli.store_options import (
    NO_DERIVED_OPTIONS,
    NO_LOG_OPTIONS,
    DerivedOptions,
    LogOptions,
    Output,
    read_through,
)
from backend.cli.store_rebuild import rebuild
from backend.cli.store_settings import StoreSettings

store = App(
    name="store", help="Inspect, verify and rebuild a broker's message store from its files."
)


@store.command
def verify(
    directory: Path,
    /,
    *,
    options: DerivedOptions = NO_DERIVED_OPTIONS,
    output: Output = "table",
) -> None:
    """Check every commit log record of a store, and compare the other files with the records.

    The command checks consume queues, key index, epochs, checkpoint, the marks of a crash or of an
    interrupted truncation, and unknown files. The command changes nothing. Each finding shows the
    error, its place, its effect and the next step. The exit code 0 means that the command found no
    error; notes are possible. The exit code 1 means that it found an error. You can also check a
    store in use, up to the current end of its commit log.

    Examples:
        regent store verify .regent/brokers/broker-a/store
        regent store verify /data/store --config /etc/rocketmq/broker.conf
        regent store verify /data/store --commit-log /fast/commitlog -o json

    Args:
        directory: Directory of the store: the broker's storePathRootDir.
        options: Settings of the broker, from its broker.conf or from options of the command.
        output: Output format.
    """
    settings = options.settings()
    paths = store_files.locate(directory, settings.commit_log)
    in_use = store_files.is_in_use(paths)
    if in_use:
        print_note("a broker is using this store: what it writes meanwhile is not checked")
    if (local := paths.root / LOCAL_DIR).is_dir():
        print_note(f"messages of topics that are not replicated are in {local}: check it as well")
    survey = _survey(paths, settings, compares=True, is_in_use=in_use)
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
                "findings": [
                    store_findings.finding_fields(found, paths, findings) for found in findings
                ],
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
    options: LogOptions = NO_LOG_OPTIONS,
    output: Output = "table",
) -> None:
    """Count a store's messages by topic and queue, and show the state of key index and epochs.

    The command checks only the commit log; `regent store verify` also checks the other files. If
    parts of the commit log are damaged or missing, the command omits their messages. The exit code
    is then 6.

    Example:
        regent store stats .regent/brokers/broker-a/store

    Args:
        directory: Directory of the store: the broker's storePathRootDir.
        options: Settings of the broker, from its broker.conf or from options of the command.
        output: Output format.
    """
    settings = options.settings()
    paths = store_files.locate(directory, settings.commit_log)
    survey = _survey(paths, settings)
    findings = survey.findings()
    is_log_whole = not any(found.severity == "lost" for found in findings)
    if output == "json":
        print_json(
            {
                "store": str(paths.root),
                **_control_fields(survey),
                # The text is not about the whole store: only the log was checked.
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
                time_text(queue.first_store_timestamp_ms if queue.record_count else None),
                time_text(queue.last_store_timestamp_ms if queue.record_count else None),
            )
            for queue in survey.queues()
        ],
    )
    if epochs := survey.epochs():
        print_line("")
        print_table(("EPOCH#", "FIRST POSITION#"), epochs)


store.command(dump)
store.command(rebuild)


def _survey(
    paths: StorePaths,
    settings: StoreSettings,
    *,
    compares: bool = False,
    is_in_use: bool = False,
) -> Survey:
    try:
        survey = Survey(
            str(paths.root),
            commit_log_path=str(paths.commit_log),
            compares=compares,
            is_in_use=is_in_use,
            delay_levels_ms=settings.delay_levels_ms,
            index_slot_count=settings.index_slots,
            index_entry_count=settings.index_entries,
            crc_property=settings.crc_property,
        )
        read_through(survey, label="reading the log")
    except StoreError as error:
        next_step = store_files.TRY_AGAIN if compares else None
        raise store_files.refused(paths, error, next_step=next_step) from error
    return survey


def _print_totals(survey: Survey) -> None:
    queues, index, epochs = survey.queues(), survey.index(), survey.epochs()
    count, size = (
        sum(queue.record_count for queue in queues),
        sum(queue.byte_count for queue in queues),
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
