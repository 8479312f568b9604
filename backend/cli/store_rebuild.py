"""`regent store rebuild`: build new queues and a new key index beside the present ones."""

import shutil
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter
from regent_engine import Finding, Rebuild, Rebuilt, StoreError, Survey

from backend.cli import store_files, store_findings, store_queue_sizes
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import bytes_text, print_json, print_line
from backend.cli.reader import outlive_reader, print_note
from backend.cli.store_files import StorePaths
from backend.cli.store_options import (
    NO_REBUILD_OPTIONS,
    Output,
    RebuildOptions,
    read_through,
)
from backend.cli.store_queue_sizes import QueueSize
from backend.cli.store_settings import StoreSettings

Part = Literal["queues", "index"]

PARTS: Final[tuple[Part, ...]] = ("queues", "index")


def rebuild(
    directory: Path,
    /,
    *,
    only: Annotated[Part | None, Parameter(name="--only")] = None,
    dry_run: Annotated[bool, Parameter(negative="")] = False,
    keep_old: Annotated[bool, Parameter(negative="")] = False,
    options: RebuildOptions = NO_REBUILD_OPTIONS,
    output: Output = "table",
) -> None:
    """Rebuild the consume queues and the key index of a store from its commit log.

    Stop the broker first. The command writes new files beside the old files, and replaces the old
    files at the end. A rebuild that fails or is interrupted leaves the store unchanged. After a
    clean stop of the broker, the command also writes a new checkpoint. The commit log and the
    epochs cannot be rebuilt, because no other file holds their data. Queues of deleted topics
    return while the commit log holds their messages.

    Examples:
        regent store rebuild /data/store --dry-run
        regent store rebuild /data/store
        regent store rebuild /data/store --only index
        regent store rebuild /data/store --keep-old
        regent store rebuild /data/store --config /etc/rocketmq/broker.conf
        regent store rebuild /data/store --queue-file-size 2000000

    Args:
        directory: Directory of the store: the broker's storePathRootDir.
        only: Rebuild only this part.
        dry_run: Show the planned work and change nothing. The command does not read the commit log.
        keep_old: Keep the old files beside the new files.
        options: Settings of the broker, from its broker.conf or from options of the command.
        output: Output format.
    """
    settings = options.settings()
    paths = store_files.locate(directory, settings.commit_log)
    store_files.refuse_if_in_use(paths)
    parts = PARTS if only is None else (only,)
    if "index" in parts:
        _check_shape(paths, settings)
    queue_size = store_queue_sizes.choose(paths, settings)
    findings = _look(paths, settings)
    if dry_run:
        _print_plan(paths, parts, queue_size, findings, output)
        return
    _refuse(paths, findings)
    _note_what_stays(paths, findings)
    old_suffix = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f") if keep_old else None
    try:
        work = _begin(paths, parts, settings, queue_size)
    except StoreError as error:
        raise _unchanged(paths, error) from error
    rebuilt = _carry_out(paths, work, old_suffix)
    _print_result(paths, parts, queue_size, rebuilt, old_suffix, output)


def _check_shape(paths: StorePaths, settings: StoreSettings) -> None:
    """Refuse to build an index with a shape that the broker would discard."""
    size = settings.index_file_bytes
    found = {path.stat().st_size for path in store_files.index_files(paths)}
    if found and size not in found:
        raise CommandError(
            f"the index files in {paths.index} have another shape than the new ones would have",
            why=f"their sizes in bytes are {sorted(found)}, of these numbers it would be {size}",
            next_step="give --index-slots and --index-entries as broker.conf has maxHashSlotNum and"
            " maxIndexNum; if it sets neither, move those files away first",
            exit_code=ExitCode.USAGE,
        )


def _look(paths: StorePaths, settings: StoreSettings) -> list[Finding]:
    """Find faults of a store that are visible without reading its log."""
    try:
        survey = Survey(
            str(paths.root),
            commit_log_path=str(paths.commit_log),
            index_slot_count=settings.index_slots,
            index_entry_count=settings.index_entries,
        )
    except StoreError as error:
        raise store_files.refused(paths, error) from error
    return survey.findings()


def _refuse(paths: StorePaths, findings: Iterable[Finding]) -> None:
    for found in findings:
        if found.kind in store_findings.OBSTACLES:
            raise CommandError(
                f"the store at {paths.root} cannot be rebuilt as it is",
                why=f"{found.kind}: {found.file}: {found.text}",
                next_step=store_findings.words_of(found, paths).next_step,
            )


def _note_what_stays(paths: StorePaths, findings: Iterable[Finding]) -> None:
    for found in findings:
        if found.kind in store_findings.NOT_REBUILT:
            next_step = store_findings.words_of(found, paths).next_step
            print_note(f"not mended by this: {found.file}: {found.text}\n  next: {next_step}")


def _begin(
    paths: StorePaths,
    parts: Sequence[Part],
    settings: StoreSettings,
    queue_size: QueueSize,
) -> Rebuild:
    return Rebuild(
        str(paths.root),
        commit_log_path=str(paths.commit_log),
        queues="queues" in parts,
        index="index" in parts,
        delay_levels_ms=settings.delay_levels_ms,
        queue_file_size_bytes=queue_size.size_bytes,
        index_slot_count=settings.index_slots,
        index_entry_count=settings.index_entries,
        utc_offset_s=time.localtime().tm_gmtoff,
        crc_property=settings.crc_property,
    )


def _carry_out(paths: StorePaths, work: Rebuild, old_suffix: str | None) -> Rebuilt:
    outlive_reader()
    try:
        _read(paths, work)
        return _finish(paths, work, old_suffix)
    finally:
        work.abandon()


def _read(paths: StorePaths, work: Rebuild) -> None:
    try:
        read_through(work, label="rebuilding")
    except KeyboardInterrupt:
        print_note("interrupted: the store is as it was")
        raise
    except StoreError as error:
        raise _unchanged(paths, error) from error


def _finish(paths: StorePaths, work: Rebuild, old_suffix: str | None) -> Rebuilt:
    """Move the new files into place; Ctrl-C has an effect only after that."""
    state = "queues and index are each the old ones or the new ones, and whole"
    try:
        return work.finish(old_suffix=old_suffix)
    except KeyboardInterrupt:
        print_note(f"interrupted at the end: {state}\n  next: regent store verify {paths.root}")
        raise
    except StoreError as error:
        raise store_files.refused(paths, error, state=f"; {state}") from error


def _unchanged(paths: StorePaths, error: StoreError) -> CommandError:
    return store_files.refused(paths, error, state="; the store is as it was")


def _print_plan(
    paths: StorePaths,
    parts: Sequence[Part],
    queue_size: QueueSize,
    findings: list[Finding],
    output: Output,
) -> None:
    obstacles = [found for found in findings if found.kind in store_findings.OBSTACLES]
    log_bytes = store_files.allocated_bytes(paths.commit_log)
    old_bytes = {part: store_files.allocated_bytes(_place(paths, part)) for part in parts}
    free_bytes = shutil.disk_usage(paths.root).free
    if output == "json":
        print_json(
            {
                "store": str(paths.root),
                "parts": list(parts),
                **_size_fields(parts, queue_size),
                "log_bytes": log_bytes,
                "replaced_bytes": old_bytes,
                "free_bytes": free_bytes,
                "obstacles": [store_findings.finding_fields(found, paths) for found in obstacles],
            }
        )
    else:
        print_line(f"would read {bytes_text(log_bytes)} of log in {paths.commit_log}")
        for part, size in old_bytes.items():
            print_line(f"would replace {bytes_text(size)} in {_place(paths, part)}")
        if "queues" in parts:
            print_line(f"would make queue files of {queue_size.size_bytes} bytes")
        print_line(f"needs about as much room beside that; {bytes_text(free_bytes)} are free")
        print_line("nothing was changed")
        print_note(
            "the log was not read: if it is damaged, the rebuild is refused and leaves the store as"
            f" it is; to see: regent store verify {paths.root}"
        )
    if "queues" in parts:
        store_queue_sizes.note_doubt(queue_size)
    _note_what_stays(paths, findings)
    _refuse(paths, obstacles)


def _print_result(
    paths: StorePaths,
    parts: Sequence[Part],
    queue_size: QueueSize,
    rebuilt: Rebuilt,
    old_suffix: str | None,
    output: Output,
) -> None:
    places = [_place(paths, part) for part in parts]
    kept = [place.with_suffix(f".{old_suffix}") for place in places] if old_suffix else []
    message_count = sum(high - low for *_, low, high in rebuilt.queues)
    if "queues" in parts:
        store_queue_sizes.note_doubt(queue_size)
    _note_wrong_crcs(rebuilt)
    _note_unqueued(paths, rebuilt)
    if output == "json":
        print_json(
            {
                "store": str(paths.root),
                "parts": list(parts),
                **_size_fields(parts, queue_size),
                "queue_count": len(rebuilt.queues),
                "message_count": message_count,
                "index_file_count": rebuilt.index_file_count,
                "key_count": rebuilt.key_count,
                "unqueued_count": rebuilt.unqueued_count,
                "is_checkpoint_written": rebuilt.has_checkpoint,
                "wrong_crc_count": rebuilt.wrong_crc_count,
                "first_wrong_crc_position": rebuilt.first_wrong_crc,
                "kept": [str(path) for path in kept],
            }
        )
        return
    if "queues" in parts:
        print_line(f"{len(rebuilt.queues)} queues with {message_count} messages")
    if "index" in parts:
        print_line(f"{rebuilt.index_file_count} index files with {rebuilt.key_count} keys")
    if rebuilt.has_checkpoint:
        print_line("the checkpoint, as of now")
    else:
        print_note("the checkpoint is left to the next start, which recovers from a crash")
    for path in kept:
        print_note(f"the old files are in {path}")


def _note_wrong_crcs(rebuilt: Rebuilt) -> None:
    if rebuilt.first_wrong_crc is not None:
        print_note(
            "records that were used although their own checksum does not fit:"
            f" {rebuilt.wrong_crc_count}, the first at log position {rebuilt.first_wrong_crc}\n"
            "  next: nothing to do, unless broker.conf sets enabledAppendPropCRC=true: then they"
            " are damaged, and --crc refuses the log for it"
        )


def _note_unqueued(paths: StorePaths, rebuilt: Rebuilt) -> None:
    if rebuilt.unqueued_count:
        print_note(
            "records that no queue can hold and no consumer gets:"
            f" {rebuilt.unqueued_count}\n"
            "  their headers name a queue or an offset that cannot be; `regent store verify` keeps"
            " listing them as missing entries\n"
            f"  next: read them with `regent store dump {paths.root}`, and send again what is"
            " still wanted"
        )


def _size_fields(parts: Sequence[Part], queue_size: QueueSize) -> dict[str, int]:
    if "queues" not in parts:
        return {}
    return {"queue_file_size_bytes": queue_size.size_bytes}


def _place(paths: StorePaths, part: Part) -> Path:
    return paths.index if part == "index" else paths.queues
