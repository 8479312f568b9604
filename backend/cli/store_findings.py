"""The meaning of each finding of `regent store verify`, and the next step."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from regent_engine import Finding

from backend.cli import store_files
from backend.cli.errors import CommandError
from backend.cli.output import print_line, print_table
from backend.cli.store_files import StorePaths

ROWS_SHOWN: Final = 50
# The worst first.
SEVERITIES: Final = {
    "lost": "messages of the store at {store} cannot be read",
    "blocked": "no broker can open the store at {store}",
    "derived": "what the store at {store} derives from its log does not fit the log",
    "weakened": "the store at {store} works, but a safeguard of it is gone",
}
# These kinds prevent a rebuild.
OBSTACLES: Final = frozenset({"odd_segment", "damaged_journal", "interrupted_truncation"})
# A rebuild does not change these: no other file holds their data.
NOT_REBUILT: Final = frozenset({"damaged_epochs", "epochs_from_backup", "damaged_epoch_backup"})
_DAMAGES: Final = frozenset({"damaged_log", "lost_tail"})

_NOTHING: Final = "nothing to do"
_QUEUES: Final = "stop the broker, then: regent store rebuild {store} --only queues"
_INDEX: Final = "stop the broker, then: regent store rebuild {store} --only index"
_CHECKPOINT: Final = (
    "a running broker writes it again; after a clean stop, so does regent store rebuild {store}"
)
_RESTORE: Final = (
    "keep a copy of the directory, then restore it from a replica or a backup; a rebuild cannot"
    " make up messages"
)
_EPOCHS: Final = (
    "restore the file from a backup, or copy the whole store again from the group's master; a"
    " rebuild cannot create it"
)


class Words(NamedTuple):
    """The meaning of a kind of finding for an operator, and the next step."""

    means: str
    next_step: str


WORDS: Final = {
    "damaged_log": Words(
        means=(
            "the messages from here to where records go on are lost; a broker opens the store"
            " for reading only"
        ),
        next_step=(
            _RESTORE + "; without either, cutDamageAt={damage} in broker.conf gives up what is"
            " damaged first and all messages behind it"
        ),
    ),
    "missing_segments": Words(
        means="the messages of the missing files are lost, and no broker opens the store",
        next_step=_RESTORE,
    ),
    "lost_tail": Words(
        means=(
            "messages were on the disk once and are gone; a broker opens the store for reading only"
        ),
        next_step=(
            _RESTORE + "; without either, cutDamageAt={damage} in broker.conf gives them up, and"
            " all messages behind that position"
        ),
    ),
    "lost_messages": Words(
        means="consumers of this queue cannot get these messages",
        next_step=_RESTORE,
    ),
    "wrong_record_crc": Words(
        means=(
            "a broker with enabledAppendPropCRC=true treats these messages as damaged: their"
            " header, topic or properties can be wrong. Any other broker serves them. A client"
            " that sends batches can create such messages"
        ),
        next_step=(
            "nothing to do, unless broker.conf sets enabledAppendPropCRC=true: then"
            " regent store verify {store} --crc"
        ),
    ),
    "odd_segment": Words(
        means=(
            "no store writes such a file, and no broker opens a store with one: it was cut"
            " short, copied in part, or belongs to another store"
        ),
        next_step=(
            "put the right file in its place, move it away if it is not this store's, or restore"
            " the store from a replica"
        ),
    ),
    "odd_queue_file": Words(
        means=(
            "no broker opens the store: the file was cut short, copied in part or made with another"
            " setting"
        ),
        next_step=_QUEUES,
    ),
    "unfinished_segment": Words(
        means=(
            "it was being prepared when the broker died; it holds no message, and the next"
            " start removes it"
        ),
        next_step=_NOTHING,
    ),
    "torn_record": Words(
        means=(
            "messages were being written when the broker died or the files were copied; they were"
            " never known to be on the disk, and the next start cuts them"
        ),
        next_step=_NOTHING,
    ),
    "missing_entry": Words(
        means="consumers of this queue never get the message",
        next_step=_QUEUES,
    ),
    "wrong_entry": Words(
        means=(
            "consumers of this queue get an error, another message, or this one against their"
            " filter"
        ),
        next_step=(
            _QUEUES + "; with --config broker.conf here and there if it sets messageDelayLevel and"
            " the queue is one of SCHEDULE_TOPIC_XXXX"
        ),
    ),
    "stray_entries": Words(
        means="the queue has entries for messages that the log does not hold",
        next_step=_QUEUES,
    ),
    "absent_queue": Words(
        means="no consumer gets these messages; that is right if the topic was deleted",
        next_step="if the topic should be there, " + _QUEUES,
    ),
    "damaged_index": Words(
        means=(
            "searches by key miss messages of this file and of later ones; or broker.conf"
            " sets maxHashSlotNum or maxIndexNum, and this command needs the same numbers"
        ),
        next_step=_INDEX
        + "; give --config, or --index-slots and --index-entries, if broker.conf sets them",
    ),
    "broken_index_chain": Words(
        means="searches by some keys miss older messages",
        next_step=_INDEX,
    ),
    "wrong_index_entry": Words(
        means="a search by key misses a message, or looks at a wrong one",
        next_step=_INDEX,
    ),
    "missing_index_keys": Words(
        means="searches by these keys miss messages",
        next_step=_INDEX,
    ),
    "index_behind_log": Words(
        means=(
            "the index knows messages that the log lost; the next start of the broker removes"
            " these files and indexes again"
        ),
        next_step="see to the log first, if it is named here too; else " + _INDEX,
    ),
    "unflushed_index": Words(
        means=(
            "the broker died, so its newest index files may hold anything; the next start"
            " creates them again"
        ),
        next_step=_NOTHING,
    ),
    "unfinished_index": Words(
        means=(
            "searches by these keys find nothing yet; the broker indexes the rest once it"
            " runs, unless messageIndexEnable=false"
        ),
        next_step=_NOTHING,
    ),
    "index_without_tags": Words(
        means="searches by tag find nothing; RocketMQ before 5.5 does not index tags",
        next_step="if searches by tag are wanted, " + _INDEX,
    ),
    "damaged_epochs": Words(
        means=(
            "which master wrote which part of the log is unknown, and no broker opens the store"
        ),
        next_step=_EPOCHS,
    ),
    "epochs_from_backup": Words(
        means=(
            "a broker goes by the backup, which may lack the newest epoch; a replica may then"
            " be asked to copy more than it has to, and the next epoch writes the file again"
        ),
        next_step=(
            "compare the epochs with those of the group's other replicas (regent store"
            " stats), and copy the file from the backup if they agree"
        ),
    ),
    "damaged_epoch_backup": Words(
        means=(
            "the epochs are known, but damage of their file would now close the store; the"
            " next epoch writes the backup again"
        ),
        next_step="while the broker is stopped, copy epochFileCheckpoint over the backup",
    ),
    "epochs_behind_log": Words(
        means=(
            "these epochs lost all their messages in a crash; the next epoch to begin, or the first"
            " word from a master, removes them"
        ),
        next_step=_NOTHING,
    ),
    "log_before_epochs": Words(
        means=(
            "the oldest messages belong to no epoch, as when a store was used without a"
            " controller first"
        ),
        next_step=_NOTHING,
    ),
    "absent_checkpoint": Words(
        means=(
            "how much of the log was on the disk is unknown: a lost end would go unnoticed,"
            " and a start after a crash reads the whole log"
        ),
        next_step=_CHECKPOINT,
    ),
    "wrong_checkpoint": Words(
        means="after a crash the next start would trust queues and index more than it should",
        next_step=_CHECKPOINT,
    ),
    "unclean_stop": Words(
        means=(
            "the broker was killed or crashed; its next start checks the end of the log and"
            " all that is derived from it"
        ),
        next_step=_NOTHING,
    ),
    "interrupted_truncation": Words(
        means=(
            "the broker died while it cut its log to agree with its master; the next start"
            " finishes that. What lies behind the cut was not judged here"
        ),
        next_step="start the broker; nothing else may open the store before, RocketMQ neither",
    ),
    "damaged_journal": Words(
        means=(
            "the broker died while it cut its log, at an unknown position: no broker opens"
            " the store"
        ),
        next_step="copy the whole store again from the group's master",
    ),
    "leftover": Words(
        means="no broker reads it; it only takes room",
        next_step="remove it if you do not need it, while the broker is stopped",
    ),
}


def words_of(found: Finding, paths: StorePaths, among: Iterable[Finding] = ()) -> Words:
    """Explain what a finding means for a store, and the next step.

    A broker accepts a confirmed loss only for the first damage; the other findings show which is
    first.
    """
    words = WORDS[found.kind]
    damages = [other.position for other in among if other.kind in _DAMAGES]
    next_step = words.next_step.replace("{store}", str(paths.root))
    next_step = next_step.replace("{damage}", str(min(damages, default=found.position)))
    return words._replace(next_step=next_step)


def finding_fields(
    found: Finding, paths: StorePaths, among: Iterable[Finding] = ()
) -> dict[str, Any]:
    """List the facts of a finding, its effect and the next step."""
    consequence, next_step = words_of(found, paths, among)
    return {
        **store_files.fields(found),
        "file": str(found.file),
        "consequence": consequence,
        "next_step": next_step,
    }


def print_findings(findings: Sequence[Finding], paths: StorePaths, *, count: int) -> None:
    """Print each place with a fault, then the meaning of each kind once."""
    print_table(
        ("SEVERITY", "WHAT", "WHERE", "DETAIL"),
        [
            (found.severity, found.kind, _where(found, paths), found.text)
            for found in findings[:ROWS_SHOWN]
        ],
    )
    if count > ROWS_SHOWN:
        print_line(f"… and {count - ROWS_SHOWN} more; -o json lists the first 1000")
    printed = set()
    for found in findings:
        if found.kind not in printed:
            printed.add(found.kind)
            words = words_of(found, paths, findings)
            print_line(f"\n{found.kind}\n  means: {words.means}\n  next:  {words.next_step}")


def unwell(findings: Iterable[Finding], paths: StorePaths) -> CommandError | None:
    """Summarize the worst finding; return nothing if all findings are notes."""
    findings = list(findings)
    for severity, summary in SEVERITIES.items():
        worst = next((found for found in findings if found.severity == severity), None)
        if worst is not None:
            return CommandError(
                summary.format(store=paths.root),
                next_step=words_of(worst, paths, findings).next_step,
            )
    return None


def _where(found: Finding, paths: StorePaths) -> str:
    place = _short(found.file, paths)
    if found.byte or (found.queue and found.file.is_file()):
        place += f" byte {found.byte}"
    if found.queue:
        return f"queue {found.queue} offset {found.position}, {place}"
    if found.file.parent == paths.commit_log:
        return f"{place} (log position {found.position})"
    return place


def _short(file: Path, paths: StorePaths) -> str:
    return str(file.relative_to(paths.root) if file.is_relative_to(paths.root) else file)
