"""The commands `regent maintenance …`: periodic tasks, and the data that they would delete."""

from typing import Final

from cyclopts import App

from backend.cli.output import pairs_text, time_text
from backend.cli.paging import ask, show_items
from backend.cli.target import Options

maintenance = App(
    name="maintenance", help="Show the periodic tasks, and the data that they would delete."
)

HOURS_A_DAY: Final = 24
MS_A_SECOND: Final = 1_000
_STANDS: Final = {None: "never run", True: "OVERDUE", False: "in time"}


@maintenance.command(name="list")
def list_tasks(*, options: Options = Options()) -> None:
    """List every periodic task with its last run, and mark overdue tasks.

    Examples:
        regent maintenance list

    Args:
        options: Which server, and how to print.
    """
    show_items(
        options,
        ask(options, "/maintenance/tasks"),
        {
            "TASK": "name",
            "EVERY": lambda one: f"{one['interval_ms'] / MS_A_SECOND:g} s",
            "BEGAN": ("began_at", time_text),
            "ENDED": ("ended_at", time_text),
            "STANDS": lambda one: _STANDS[one["is_overdue"]],
            "OUTCOME": lambda one: pairs_text(one["outcome"] or {}),
        },
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
    show_items(
        options,
        ask(options, "/maintenance/retention"),
        {
            "WHAT": lambda one: one["subject"].replace("_", " "),
            "KEPT FOR": lambda one: f"{one['kept_hours'] // HOURS_A_DAY} days",
            "GOES IF OLDER THAN": ("cutoff", time_text),
            "WOULD GO#": "expired_count",
        },
    )
