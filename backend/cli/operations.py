"""The commands `regent operation …`: orders, their progress, and possible next actions."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import uuid4

from cyclopts import App, Parameter

from backend.cli.clusters import ClusterName, Limit
from backend.cli.errors import CommandError, ExitCode
from backend.cli.orders import (
    Ordering,
    await_end,
    confirm_plan,
    end_dry_run,
    order_change,
    print_outcome,
    print_plan,
)
from backend.cli.output import (
    pairs_text,
    print_items,
    print_json,
    print_line,
    time_text,
)
from backend.cli.paging import ask, show_list
from backend.cli.reader import outlive_reader, print_note
from backend.cli.rest import connect, segment
from backend.cli.target import Options
from backend.cli.words import WORDS
from backend.domain.operation import OperationState

operation = App(
    name=["operation", "operations", "op"],
    help="Show and control operations, which change clusters.",
)

State = Annotated[OperationState | None, WORDS]


@operation.command(name="list")
def list_operations(
    *,
    state: State = None,
    kind: str | None = None,
    target: str | None = None,
    cluster: ClusterName = None,
    limit: Limit = 50,
    options: Options = Options(),
) -> None:
    """List operations, the newest first.

    Examples:
        regent operation list
        regent operation list --state running
        regent operation list --kind elect_master --target broker-a

    Args:
        state: Only operations in this state.
        kind: Only operations of this kind.
        target: Only operations whose target's name contains this text.
        cluster: Only operations of this cluster.
        limit: Maximum number of operations.
        options: Which server, and how to print.
    """
    show_list(
        options,
        "/operations",
        {
            "ID": "id",
            "WHEN": ("planned_at", time_text),
            "KIND": "kind",
            "CLUSTER": "cluster_name",
            "TARGET": "target",
            "RISK": lambda one: one["plan"]["risk"],
            "STATE": "state",
            "STEPS": ("steps", _progress),
            "BY": "requested_by",
        },
        limit=limit,
        state=state,
        kind=kind,
        search=target,
        cluster_name=cluster,
    )


@operation.command(name=["get", "show"])
def get_operation(operation_id: str, /, *, options: Options = Options()) -> None:
    """Show an operation: its plan, the journal of its steps and what was read back.

    Example:
        regent operation get 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10

    Args:
        operation_id: Id of the operation.
        options: Which server, and how to print.
    """
    found = ask(options, _path(operation_id))
    if options.output == "json":
        print_json(found)
        return
    print_plan(found)
    print_items(
        {
            "STEP": "name",
            "STATE": "state",
            "TRIES#": "attempt_count",
            "BEFORE": ("before", _value),
            "AFTER": ("after", _value),
            "ERROR": "error",
        },
        found["steps"],
        title="\nSteps",
    )
    print_outcome(found)


@operation.command(name="plan")
def plan_operation(
    kind: str,
    parameters: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Plan an operation of any kind from its parameters, show the plan, and carry it out.

    Each kind also has its own command, which is easier to type. `regent operation plan` is for
    programs, and for commands that the console copies.

    Examples:
        regent operation plan cordon_broker \
            '{"cluster_name": "east", "broker_group_name": "broker-a"}'
        regent operation plan create_topic - --dry-run < topic.json

    Args:
        kind: Kind of the operation, as `regent operation list` shows it.
        parameters: Parameters of the operation as a JSON object. The value - reads the object from
            standard input.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    given = _parameters(sys.stdin.read() if parameters == "-" else parameters)
    with connect(options) as client:
        print_note(f"target: cluster {given.get('cluster_name')} at {client.target.server}")
        order_change(client, kind, given, ordering, is_json=options.output == "json")


@operation.command(name="watch")
def watch_operation(operation_id: str, /, *, options: Options = Options()) -> None:
    """Follow an operation to its end; the exit code shows the operation's result.

    Example:
        regent operation watch 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10

    Args:
        operation_id: Id of the operation.
        options: Which server, and how to print.
    """
    is_json = options.output == "json"
    with connect(options) as client:
        await_end(client, client.get(_path(operation_id)), is_json=is_json, shows_steps=True)


@operation.command(name="confirm")
def confirm_operation(
    operation_id: str,
    /,
    *,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Carry out an existing plan, if no fact of the plan has changed.

    Example:
        regent operation confirm 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10 --yes --reason "planned work"

    Args:
        operation_id: Id of the operation.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    is_json = options.output == "json"
    with connect(options) as client:
        planned = client.get(_path(operation_id))
        outlive_reader()
        if not is_json:
            print_plan(planned)
        if ordering.dry_run:
            end_dry_run(planned, is_json=is_json)
            return
        key = ordering.idempotency_key or str(uuid4())
        confirm_plan(client, planned, ordering, is_json=is_json, key=key)


@operation.command(name="pause")
def pause_operation(operation_id: str, /, *, options: Options = Options()) -> None:
    """Pause an operation after its current step.

    Example:
        regent operation pause 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10

    Args:
        operation_id: Id of the operation.
        options: Which server, and how to print.
    """
    _order("pause", operation_id, options)


@operation.command(name="resume")
def resume_operation(operation_id: str, /, *, options: Options = Options()) -> None:
    """Continue a paused operation.

    Example:
        regent operation resume 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10

    Args:
        operation_id: Id of the operation.
        options: Which server, and how to print.
    """
    _order("resume", operation_id, options)


@operation.command(name="cancel")
def cancel_operation(operation_id: str, /, *, options: Options = Options()) -> None:
    """End an operation after its current step; finished steps are not undone.

    Example:
        regent operation cancel 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10

    Args:
        operation_id: Id of the operation.
        options: Which server, and how to print.
    """
    _order("cancel", operation_id, options)


@operation.command(name="retry")
def retry_operation(operation_id: str, /, *, options: Options = Options()) -> None:
    """Carry out the remaining steps of a failed operation, or read its result back again.

    Example:
        regent operation retry 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10

    Args:
        operation_id: Id of the operation.
        options: Which server, and how to print.
    """
    _order("retry", operation_id, options)


@operation.command(name="undo")
def undo_operation(
    operation_id: str,
    /,
    *,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Plan the operation that undoes another operation, and carry it out.

    Example:
        regent operation undo 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10 --dry-run

    Args:
        operation_id: Id of the operation to undo.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _plan_from("undo", operation_id, ordering, options)


@operation.command(name="replan")
def replan_operation(
    operation_id: str,
    /,
    *,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Plan a lapsed, cancelled or failed operation again, from the current facts.

    Example:
        regent operation replan 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10 --dry-run

    Args:
        operation_id: Id of the operation to plan again.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _plan_from("replan", operation_id, ordering, options)


def _parameters(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise CommandError(
            "the parameters are no JSON", why=str(error), exit_code=ExitCode.USAGE
        ) from error
    if not isinstance(given, dict):
        raise CommandError("the parameters are no JSON object", exit_code=ExitCode.USAGE)
    return given


def _plan_from(verb: str, operation_id: str, ordering: Ordering, options: Options) -> None:
    is_json = options.output == "json"
    key = ordering.idempotency_key or str(uuid4())
    with connect(options) as client:
        planned = client.post(f"{_path(operation_id)}/{verb}", key=key)
        if not is_json:
            print_plan(planned)
        if ordering.dry_run:
            end_dry_run(planned, is_json=is_json)
            return
        confirm_plan(client, planned, ordering, is_json=is_json, key=f"{key}-confirm")


def _order(verb: str, operation_id: str, options: Options) -> None:
    with connect(options) as client:
        found = client.post(f"{_path(operation_id)}/{verb}")
    if options.output == "json":
        print_json(found)
        return
    wish = f", to {found['wish']} after this step" if found["wish"] else ""
    print_line(f"operation {found['id']} is {found['state']}{wish}")


def _path(operation_id: str) -> str:
    return f"/operations/{segment(operation_id)}"


def _progress(steps: Sequence[Mapping[str, Any]]) -> str:
    return f"{sum(step['state'] == 'done' for step in steps)}/{len(steps)}"


def _value(value: Mapping[str, Any] | None) -> str | None:
    if value is None:
        return None
    return pairs_text(value)
