"""The commands `regent audit …`: who did what, and whether the record was changed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cyclopts import App, Parameter

from backend.cli.clusters import Limit
from backend.cli.errors import CommandError
from backend.cli.output import print_json, print_line, time_text
from backend.cli.paging import show_list
from backend.cli.reader import print_note
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options

audit = App(name="audit", help="Show the audit of all changes, and verify the audit.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Hold the filters of audit entries; an empty filter selects all entries."""

    cluster: str | None = None
    """Only entries of this cluster."""
    actor: str | None = None
    """Only changes that this user or worker made."""
    operation: str | None = None
    """Only entries of the operation with this id."""
    action: str | None = None
    """Only this action, such as operation.done, or this family: operation, step, user."""
    search: str | None = None
    """Only entries whose target's name contains this text."""
    since: datetime | None = None
    """Only entries from this time on. The time is in UTC unless it names another zone."""
    until: datetime | None = None
    """Only entries before this time."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the filters as parameters of the REST API."""
        return {
            "cluster_name": self.cluster,
            "actor": self.actor,
            "operation_id": self.operation,
            "action": self.action,
            "search": self.search,
            "begin": None if self.since is None else self.since.isoformat(),
            "end": None if self.until is None else self.until.isoformat(),
        }


@audit.command(name="list")
def list_entries(
    *,
    chosen: Chosen = Chosen(),
    limit: Limit = 50,
    options: Options = Options(),
) -> None:
    """List audit entries, the newest first.

    Examples:
        regent audit list
        regent audit list --actor admin --cluster DefaultCluster
        regent audit list --action operation.done --search broker-a --since 2026-11-22T10:00:00

    Args:
        chosen: Which entries are meant.
        limit: Maximum number of entries.
        options: Which server, and how to print.
    """
    show_list(
        options,
        "/audit",
        {
            "#": "number",
            "WHEN": ("happened_at", time_text),
            "WHO": "actor",
            "FROM": "source",
            "WHAT": "action",
            "ON": _subject,
            "OPERATION": "operation_id",
        },
        limit=limit,
        **chosen.parameters,
    )


@audit.command(name="export")
def export_entries(
    file: Path, /, *, chosen: Chosen = Chosen(), options: Options = Options()
) -> None:
    """Write audit entries and their hashes to a file: one JSON object per line, the oldest first.

    Examples:
        regent audit export audit.jsonl
        regent audit export yesterday.jsonl --since 2026-11-21 --until 2026-11-22

    Args:
        file: File to write. The command replaces an existing file only after it has written all
            entries.
        chosen: Which entries are meant.
        options: Which server, and how to print.
    """
    count, part = 0, file.with_name(f"{file.name}.part")
    with connect(options) as client:
        try:
            with part.open("w", encoding="utf-8") as output:
                for line in client.lines("/audit/export", **chosen.parameters):
                    output.write(f"{line}\n")
                    count += 1
            part.replace(file)
        except OSError as error:
            raise CommandError(f"cannot write {file}", why=str(error)) from error
        finally:
            part.unlink(missing_ok=True)
    print_note(f"{count} entries in {file}")


@audit.command(name="verify")
def verify_entries(*, options: Options = Options()) -> None:
    """Verify the hash chain of all audit entries, and name the first changed entry.

    Keep the number and the hash of the last entry, which the command prints. Without them, you
    cannot detect entries that were removed from the end.

    Example:
        regent audit verify

    Args:
        options: Which server, and how to print.
    """
    checked = 0
    found: Mapping[str, Any] = {}
    with connect(options) as client:
        for found in _parts(client):
            checked += found["checked_count"]
    if options.output == "json":
        print_json({**found, "checked_count": checked})
    if found["broken_number"] is not None:
        raise CommandError(
            f"entry {found['broken_number']} of the audit breaks the chain", why=found["reason"]
        )
    if options.output != "json":
        if found.get("let_go_number"):
            print_line(f"entries up to {found['let_go_number']} were let go by retention")
        print_line(f"{checked} entries are as they were written")
        print_line(f"the chain ends at entry {found['end_number']}, hash {found['end_hash']}")


def _subject(one: Mapping[str, Any]) -> str:
    # Entries about users and tokens belong to no cluster.
    cluster: str = one["cluster_name"]
    return f"{one['subject']} of {cluster}" if cluster else str(one["subject"])


def _parts(client: RestClient) -> Iterator[Mapping[str, Any]]:
    after: dict[str, Any] = {}
    while True:
        found = client.get("/audit/verification", **after)
        yield found
        if found["is_complete"]:
            return
        after = {"after_number": found["end_number"], "after_hash": found["end_hash"]}
