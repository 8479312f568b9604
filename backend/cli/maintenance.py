"""The commands `regent maintenance …`: what runs by itself, and what it would let go."""

from collections.abc import Mapping
from typing import Any, Final

from cyclopts import App

from backend.cli.output import print_json, print_table, time_text
from backend.cli.rest import connect
from backend.cli.target import Options

maintenance = App(
    name="maintenance", help="Show the periodic tasks, and the data that they would delete."
)

HOURS_A_DAY: Final = 24
MS_A_SECOND: Final = 1_000


@maintenance.command(name="list")
def list_tasks(*, options: Options = Options()) -> None:
    """List every periodic task with its last run, and mark overdue tasks.

    Examples:
        regent maintenance list

    Args:
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = client.get("/maintenance/tasks")
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("TASK", "EVERY", "BEGAN", "ENDED", "STANDS", "OUTCOME"), [_task_row(one) for one in found]
    )


@maintenance.command(name="retention")
def show_retention(*, options: Options = Options()) -> None:
    """Show how long each kind of data is kept, and how much data would be deleted now.

    The command deletes nothing. The server and the workers read these environment variables:
    REGENT_HISTORY_KEPT_DAYS, REGENT_OPERATIONS_KEPT_DAYS, REGENT_FINDINGS_KEPT_DAYS,
    REGENT_AUDIT_KEPT_DAYS, REGENT_SAMPLES_KEPT_DAYS, REGENT_EVENTS_KEPT_HOURS and
    REGENT_EVENTS_KEPT_MAX.

    Examples:
        regent maintenance retention
        regent maintenance retention -o json

    Args:
        options: Which server, and how to print.
    """
    with connect(options) as client:
        found = client.get("/maintenance/retention")
    if options.output == "json":
        print_json(found)
        return
    print_table(
        ("WHAT", "KEPT FOR", "GOES IF OLDER THAN", "WOULD GO#"),
        [
            (
                one["subject"].replace("_", " "),
                f"{one['kept_hours'] // HOURS_A_DAY} days",
                time_text(one["cutoff"]),
                one["expired_count"],
            )
            for one in found
        ],
    )


def _task_row(one: Mapping[str, Any]) -> tuple[object, ...]:
    outcome = ", ".join(f"{name}={value}" for name, value in (one["outcome"] or {}).items())
    stands = {None: "never run", True: "OVERDUE", False: "in time"}[one["is_overdue"]]
    return (
        one["name"],
        f"{one['interval_ms'] / MS_A_SECOND:g} s",
        time_text(one["began_at"]),
        time_text(one["ended_at"]),
        stands,
        outcome,
    )
