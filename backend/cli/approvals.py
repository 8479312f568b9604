"""The commands `regent operation approve` and `decline`: the decision of a second person."""

from cyclopts import App

from backend.cli.output import print_json, print_line
from backend.cli.rest import connect, segment
from backend.cli.target import Options


def register(operation: App) -> None:
    """Add the commands to those about operations."""
    operation.command(approve_operation, name="approve")
    operation.command(decline_operation, name="decline")


def approve_operation(
    operation_id: str,
    /,
    *,
    reason: str | None = None,
    options: Options = Options(),
) -> None:
    """Approve an operation that another user has confirmed, so that a worker carries it out.

    You cannot approve your own operation. Regent refuses the approval if a fact of the plan has
    changed. `regent operation list --state awaiting_approval` lists the waiting operations. `regent
    operation get ID` shows the plan of an operation.

    Example:
        regent operation approve 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10 --reason "seen with anna"

    Args:
        operation_id: Id of the operation.
        reason: Reason for the approval, for the audit.
        options: Which server, and how to print.
    """
    _review("approve", operation_id, reason, options)


def decline_operation(
    operation_id: str,
    /,
    *,
    reason: str,
    options: Options = Options(),
) -> None:
    """Decline an operation that another user has confirmed; the operation ends without changes.

    Example:
        regent operation decline 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10 --reason "not before Monday"

    Args:
        operation_id: Id of the operation.
        reason: Reason for the refusal, for the audit.
        options: Which server, and how to print.
    """
    _review("decline", operation_id, reason, options)


def _review(verb: str, operation_id: str, reason: str | None, options: Options) -> None:
    with connect(options) as client:
        found = client.post(f"/operations/{segment(operation_id)}/{verb}", {"reason": reason})
    if options.output == "json":
        print_json(found)
        return
    print_line(f"operation {found['id']} is {found['state']}")
