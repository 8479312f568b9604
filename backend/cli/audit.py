"""The commands `regent audit …`: who did what, and whether anybody has changed the record."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cyclopts import App

from backend.cli.clusters import ClusterName, Limit
from backend.cli.errors import CommandError
from backend.cli.output import print_json, print_line, print_table, time_text
from backend.cli.reader import print_note
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options

audit = App(name="audit", help="Show who changed what, and verify the record.")


@audit.command(name="list")
def list_entries(
    *,
    cluster: ClusterName = None,
    actor: str | None = None,
    operation: str | None = None,
    limit: Limit = 50,
    options: Options = Options(),
) -> None:
    """List entries of the audit, the newest first.

    Examples:
        regent audit list
        regent audit list --actor admin --cluster DefaultCluster

    Args:
        cluster: Only of this cluster.
        actor: Only what this user or worker did.
        operation: Only what belongs to the operation of this id.
        limit: How many at most.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = list(
            client.list(
                "/audit", limit=limit, cluster_name=cluster, actor=actor, operation_id=operation
            )
        )
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("#", "WHEN", "WHO", "FROM", "WHAT", "ON", "OPERATION"),
        [
            (
                one["number"],
                time_text(one["happened_at"]),
                one["actor"],
                one["source"],
                one["action"],
                _subject(one),
                one["operation_id"],
            )
            for one in found
        ],
    )


@audit.command(name="export")
def export_entries(file: Path, /, *, options: Options = Options()) -> None:
    """Write all entries with their hashes to a file, one JSON object on a line, newest first.

    Example:
        regent audit export audit.jsonl

    Args:
        file: File to write; it is replaced when it is there.
        options: Which server, and how to print.
    """
    count = 0
    with connect(options) as client:
        try:
            with file.open("w", encoding="utf-8") as output:
                for entry in client.list("/audit", limit=2**62):
                    output.write(json.dumps(entry, ensure_ascii=False) + "\n")
                    count += 1
        except OSError as error:
            raise CommandError(f"cannot write {file}", why=str(error)) from error
    print_note(f"{count} entries in {file}")


@audit.command(name="verify")
def verify_entries(*, options: Options = Options()) -> None:
    """Follow the chain of hashes over all entries, and name the first one that was changed.

    Keep the number and hash that it ends at: entries cut off at the end leave no other trace.

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
    # What is done to access is of no cluster.
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
