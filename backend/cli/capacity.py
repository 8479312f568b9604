"""The commands `regent capacity …`: create reports, and show them."""

import time
from collections.abc import Mapping
from typing import Annotated, Any, Final
from uuid import UUID

from cyclopts import App, Parameter, validators

from backend.cli.clusters import Limit
from backend.cli.errors import CommandError, ExitCode
from backend.cli.output import (
    Columns,
    bytes_text,
    number_text,
    print_items,
    print_json,
    print_line,
    time_text,
)
from backend.cli.paging import ask, show_list
from backend.cli.reader import print_note
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options

capacity = App(name="capacity", help="Create and show capacity reports.")

POLL_INTERVAL_S: Final = 0.5
FINAL: Final = ("done", "failed")
_STAGES: Final = {
    "planned": "waiting for a worker",
    "running": "Spark reads the history",
}
DISK_COLUMNS: Final[Columns] = {
    "CLUSTER": "cluster_name",
    "BROKER": "name",
    "TOTAL#": ("disk_total_bytes", bytes_text),
    "FREE#": ("disk_free_bytes", bytes_text),
    "GROWTH A DAY#": ("bytes_per_day", bytes_text),
    "DAYS LEFT#": ("days_until_full", number_text),
    "NOTE": lambda row: row["note"] or "",
}
DAY_COLUMNS: Final[Columns] = {
    "DAY": "day",
    "CLUSTER": "cluster_name",
    "BROKER": "name",
    "TOPIC": "topic_name",
    "BYTES IN#": ("bytes", bytes_text),
    "NOTE": lambda row: row["note"] or "",
}


@capacity.command(name="report")
def make_report(
    *,
    wait: bool = True,
    timeout: Annotated[float, Parameter(validator=validators.Number(gt=0))] = 1_500,
    options: Options = Options(),
) -> None:
    """Create and show a capacity report: bytes per day, and days until each disk is full.

    A worker runs Spark over the history of samples. If you interrupt the command, or if it times
    out, the worker still finishes the report.

    Examples:
        regent capacity report
        regent capacity report -o json > report.json
        regent capacity report --no-wait

    Args:
        wait: Wait for the report. With --no-wait, print only the report's id.
        timeout: Maximum number of seconds to wait.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        report_id = str(client.post("/capacity/reports")["id"])
        if not wait:
            if options.output == "json":
                print_json({"id": report_id})
            else:
                print_line(report_id)
            return
        try:
            report = _await_report(client, report_id, timeout_s=timeout)
        except KeyboardInterrupt:
            print_note(f"the report goes on; see it with: regent capacity get {report_id}")
            raise
    _show(report, options)


@capacity.command(name="list")
def list_reports(*, limit: Limit = 20, options: Options = Options()) -> None:
    """List capacity reports, the newest first.

    Example:
        regent capacity list

    Args:
        limit: Maximum number of reports.
        options: Which server, and how to print.
    """
    show_list(
        options,
        "/capacity/reports",
        {
            "ID": "id",
            "STATUS": "status",
            "REQUESTED": ("requested_at", time_text),
            "BY": "requested_by",
            "FINISHED": ("finished_at", time_text),
            "ERROR": "error",
        },
        limit=limit,
    )


@capacity.command(name="get")
def get_report(report_id: UUID, /, *, options: Options = Options()) -> None:
    """Show one capacity report.

    Example:
        regent capacity get 8d0c1f1e-6a53-4a0e-9f0e-0b6f0a4c9d11

    Args:
        report_id: Id of the report, from `regent capacity list`.
        options: Which server, and how to print.
    """
    _show(ask(options, f"/capacity/reports/{report_id}"), options)


def _await_report(client: RestClient, report_id: str, *, timeout_s: float) -> dict[str, Any]:
    deadline = time.monotonic() + timeout_s
    from backend.cli.terminal import progress_console  # noqa: PLC0415 - waits anyway

    with progress_console().status(f"report {report_id}: asked for") as status:
        while True:
            report: dict[str, Any] = client.get(f"/capacity/reports/{report_id}")
            if report["status"] in FINAL:
                return report
            if time.monotonic() > deadline:
                raise CommandError(
                    f"report {report_id} is still {report['status']} after {timeout_s:g} s",
                    why="a report needs a worker: `regent run worker`"
                    if report["status"] == "planned"
                    else "Spark takes longer over more history",
                    next_step=f"regent capacity get {report_id}",
                    exit_code=ExitCode.STILL_RUNNING,
                )
            stage = _STAGES.get(report["status"], report["status"])
            status.update(f"report {report_id}: {stage}")
            time.sleep(POLL_INTERVAL_S)


def _show(report: Mapping[str, Any], options: Options) -> None:
    if report["status"] == "failed":
        raise CommandError(
            f"report {report['id']} failed",
            why=report["error"],
            next_step="regent capacity report",
        )
    if options.output == "json":
        print_json(report)
        return
    print_line(f"Report {report['id']}: {report['status']}")
    if report["status"] == "done":
        _print_coverage(report["coverage"])
        if not report["rows"]:
            return
        disks = [row for row in report["rows"] if row["kind"] == "disk"]
        print_items(DISK_COLUMNS, disks, title="\nDisks")
        days = [row for row in report["rows"] if row["kind"] == "topic_day"]
        print_items(DAY_COLUMNS, days, title="\nBytes a day by topic and broker")


def _print_coverage(coverage: Mapping[str, Any]) -> None:
    if not coverage["sample_count"]:
        print_line(
            "No history yet: samples of running brokers reach it once a minute. "
            "Try again in two minutes."
        )
        return
    print_line(
        f"From {coverage['sample_count']:,} samples of {coverage['broker_count']} brokers, "
        f"{time_text(coverage['from'])} to {time_text(coverage['to'])}"
    )
    if coverage["gap_count"]:
        print_line(
            f"Missing: {coverage['gap_count']} gaps, "
            f"{coverage['gap_seconds'] / 3600:,.1f} hours in all brokers together"
        )
    if coverage.get("rows_left_out"):
        print_line(
            f"{coverage['rows_left_out']:,} more rows are in the report's Parquet and JSON files"
        )
