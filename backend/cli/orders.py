"""Order a change: create and show the plan, get a confirmation, and wait for the end.

Every command that changes something has the same options and exit codes.
"""

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import uuid4

from cyclopts import Parameter

from backend.cli.errors import CommandError, ExitCode, ServerUnreachable
from backend.cli.event_stream import follow, newest_number
from backend.cli.output import joined, print_json, print_line, print_table
from backend.cli.reader import print_note
from backend.cli.rest import RestClient
from backend.domain.operation import OperationState

WAIT_S_MAX: Final = 600.0
NEEDS_NAME: Final = frozenset({"R2", "R3"})
EXIT_CODES: Final[Mapping[str, ExitCode]] = {
    OperationState.DONE: ExitCode.DONE,
    OperationState.UNDONE: ExitCode.DONE,
    OperationState.FAILED: ExitCode.FAILED,
    OperationState.LAPSED: ExitCode.REFUSED,
    OperationState.CANCELLED: ExitCode.REFUSED,
    OperationState.PARTLY: ExitCode.PARTLY_DONE,
    OperationState.UNKNOWN: ExitCode.OUTCOME_UNKNOWN,
}
"""Exit code by the final state of the operation; other states are not final."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Ordering:
    """Hold the options of every command that changes something."""

    dry_run: Annotated[bool, Parameter(negative="")] = False
    """Show the plan and change nothing. You can confirm the plan for ten minutes."""
    yes: Annotated[bool, Parameter(name=["--yes", "-y"], negative="")] = False
    """Do not ask for the target's name as confirmation."""
    reason: str | None = None
    """Reason for the change, for the audit. A change that affects service needs a reason."""
    accept_loss: Annotated[bool, Parameter(negative="")] = False
    """Accept the loss that the plan states."""
    watch: Annotated[bool, Parameter(negative="")] = False
    """Print the progress of each step."""
    wait: bool = True
    """Wait for the end of the operation. With --no-wait, the operation continues by itself."""
    idempotency_key: str | None = None
    """Idempotency key: a repeated request with this key has one effect. Default: random."""


def order_change(
    client: RestClient,
    kind: str,
    parameters: Mapping[str, Any],
    ordering: Ordering,
    *,
    is_json: bool,
) -> None:
    """Plan a change, and carry it out if the user of the command confirms it.

    Raises:
        CommandError: the change is refused, or did not succeed.
    """
    key = ordering.idempotency_key or str(uuid4())
    planned = client.post("/operations", {"kind": kind, "parameters": parameters}, key=key)
    if not is_json:
        print_plan(planned)
    if ordering.dry_run:
        end_dry_run(planned, is_json=is_json)
        return
    confirm_plan(client, planned, ordering, is_json=is_json, key=f"{key}-confirm")


def confirm_plan(
    client: RestClient,
    planned: Mapping[str, Any],
    ordering: Ordering,
    *,
    is_json: bool,
    key: str,
) -> None:
    """Get a confirmation of a plan, and wait for its end.

    Raises:
        CommandError: the plan is refused, or did not succeed.
    """
    _refuse_blocked(planned)
    given = _ask(planned, ordering)
    operation = client.post(f"/operations/{planned['id']}/confirm", given, key=key)
    if operation["state"] == OperationState.AWAITING_APPROVAL:
        _end_awaiting(operation, is_json=is_json)
        return
    if not ordering.wait:
        if is_json:
            print_json(operation)
        else:
            print_line(f"operation {operation['id']} is {operation['state']}")
        return
    await_end(client, operation, is_json=is_json, shows_steps=ordering.watch)


def _end_awaiting(operation: Mapping[str, Any], *, is_json: bool) -> None:
    if is_json:
        print_json(operation)
    else:
        print_line(f"operation {operation['id']} awaits the approval of another user")
    raise CommandError(
        f"operation {operation['id']} is not carried out before another user approves it",
        next_step=f"ask another user to run: regent operation approve {operation['id']}",
        exit_code=ExitCode.STILL_RUNNING,
    )


def await_end(
    client: RestClient, operation: Mapping[str, Any], *, is_json: bool, shows_steps: bool
) -> None:
    """Wait until an operation has ended or is paused, and exit with its result.

    Raises:
        CommandError: the operation did not succeed, or did not end in time.
    """
    ended = operation
    shown: dict[int, str] = {}
    try:
        for ended in _become(client, operation):
            if shows_steps:
                _print_steps(ended, shown)
            if ended["state"] in EXIT_CODES or ended["state"] == "paused":
                break
    except (KeyboardInterrupt, CommandError):
        print_note(f"operation {operation['id']} goes on: regent operation watch {operation['id']}")
        raise
    if is_json:
        print_json(ended)
    else:
        print_outcome(ended)
    code = EXIT_CODES.get(ended["state"], ExitCode.STILL_RUNNING)
    if code is not ExitCode.DONE:
        raise CommandError(
            f"operation {ended['id']} is {ended['state']}",
            why=ended["outcome"],
            next_step=f"regent operation get {ended['id']}",
            exit_code=code,
        )


def _become(client: RestClient, operation: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the present operation, and yield it again at each of its events, until the timeout.

    The stream is opened before the operation is read, so that no event is missed. Each keep-alive
    of the stream also causes a read.
    """
    yield operation
    until = time.monotonic() + WAIT_S_MAX
    path = f"/operations/{operation['id']}"
    chosen = {"cluster": operation["cluster_name"], "kinds": ["operation", "step"]}
    begin = newest_number(client)
    yield client.get(path)
    for event in follow(client, begin, chosen, until=until):
        if event is None or event["operation_id"] == operation["id"]:
            try:
                found = client.get(path)
            except ServerUnreachable:
                # The server answered a moment ago: the stream reconnects, or the timeout ends.
                continue
            yield found


def print_plan(operation: Mapping[str, Any]) -> None:
    """Print the steps, the changes, the impact, the checks and the undo of a plan."""
    plan = operation["plan"]
    label = f"{plan['risk']}, {plan['risk_label']}"
    print_line(f"Plan {operation['id']} ({label}): {plan['summary']}")
    print_line("\nWhat will happen")
    for number, step in enumerate(operation["steps"], start=1):
        print_line(f"  {number}. {step['title']}")
    if plan["changes"]:
        print_table(
            ("", "BEFORE", "AFTER"),
            [(one["what"], one["before"], one["after"]) for one in plan["changes"]],
            title="\nWhat changes",
        )
    candidates = plan["facts"].get("candidates")
    if candidates:
        print_table(
            ("ID#", "VERDICT", "REASON"),
            [(one["broker_id"], one["verdict"], one["reason"]) for one in candidates],
            title="\nCandidates",
        )
    if plan["impact"]:
        print_line("\nImpact")
        for line in plan["impact"]:
            print_line(f"  {line}")
    print_line("\nWhat could go wrong")
    for check in plan["checks"]:
        print_line(f"  {check['verdict']}: {check['name']}: {check['why']}")
    print_line(f"\nHow to undo it\n  {plan['way_back']}")


def print_outcome(operation: Mapping[str, Any]) -> None:
    """Print the result of an operation, and the values that were read back."""
    print_line(f"\noperation {operation['id']} is {operation['state']}")
    if operation["outcome"]:
        print_line(f"  {operation['outcome']}")
    if operation["read_back"]:
        print_table(
            ("", "INTENDED", "OBSERVED", "VERDICT"),
            [
                (one["what"], one["intended"], one["observed"], one["agreement"])
                for one in operation["read_back"]
            ],
        )


def end_dry_run(planned: Mapping[str, Any], *, is_json: bool) -> None:
    """Print how to carry out a plan that was only shown, or why it can't be carried out.

    A dry run succeeds even if the plan is blocked.
    """
    if is_json:
        print_json(planned)
    blocking = _find_blocking(planned)
    if blocking is not None:
        print_note(f"nothing was changed; {_blocked_text(blocking)}: {blocking['why']}")
    elif not is_json:
        print_note(
            f"nothing was changed; to carry it out: regent operation confirm {planned['id']}"
        )


def _refuse_blocked(planned: Mapping[str, Any]) -> None:
    blocking = _find_blocking(planned)
    if blocking is not None:
        raise CommandError(_blocked_text(blocking), why=blocking["why"], exit_code=ExitCode.REFUSED)


def _find_blocking(planned: Mapping[str, Any]) -> Mapping[str, Any] | None:
    checks: list[Mapping[str, Any]] = planned["plan"]["checks"]
    return next((check for check in checks if check["verdict"] == "block"), None)


def _blocked_text(blocking: Mapping[str, Any]) -> str:
    return f"the plan is blocked by its check {blocking['name']!r}"


def _ask(planned: Mapping[str, Any], ordering: Ordering) -> dict[str, Any]:
    """Ask for what the gate of the risk class requires."""
    plan, target = planned["plan"], planned["target"]
    needs_reason = plan["risk"] in NEEDS_NAME
    loss = plan["loss"]
    if not ordering.yes:
        _type(target)
    reason = ordering.reason
    if reason is None and needs_reason:
        reason = _type_reason()
    if loss is not None and not ordering.accept_loss:
        if ordering.yes:
            raise CommandError(
                f"this may lose {loss}",
                next_step="look at it with --dry-run, then add --accept-loss",
                exit_code=ExitCode.REFUSED,
            )
        print_note(f"This may lose {loss}.")
        _type("accept")
    return {"typed_name": target, "reason": reason, "accepts_loss": loss is not None}


def _type(word: str) -> None:
    _need_terminal("add --yes and --reason")
    print_note(f"Type {word} to go on:")
    if sys.stdin.readline().strip() != word:
        raise CommandError("not confirmed; nothing was changed", exit_code=ExitCode.REFUSED)


def _type_reason() -> str:
    _need_terminal("add --reason TEXT")
    print_note("Reason:")
    reason = sys.stdin.readline().strip()
    if not reason:
        raise CommandError("no reason given; nothing was changed", exit_code=ExitCode.REFUSED)
    return reason


def _need_terminal(next_step: str) -> None:
    if not sys.stdin.isatty():
        raise CommandError(
            "this must be confirmed",
            why="standard input is not a terminal",
            next_step=f"look at it with --dry-run, then {next_step}",
            exit_code=ExitCode.REFUSED,
        )


def _print_steps(operation: Mapping[str, Any], shown: dict[int, str]) -> None:
    for step in operation["steps"]:
        line = f"{step['state']}: {step['title']}"
        if step["state"] == "waiting":
            line += f" ({step['error']})"
        # A waiting step reports again and again: only a change is printed.
        is_new = shown.get(step["position"]) != line
        is_look = step["state"] == "running" and step["after"] is not None
        if is_new and not is_look and step["state"] != "pending":
            shown[step["position"]] = line
            print_note(line)


def print_election(election: Mapping[str, Any]) -> None:
    """Print the winner, and why the other replicas do not win."""
    winner = election["winner_id"]
    if winner is None:
        print_line("No replica can become master now:")
    elif election["is_unchanged"]:
        print_line(f"Broker {winner} is master and would stay so:")
    else:
        print_line(f"Broker {winner} would become master:")
    if election["awaits_lease_ms"]:
        print_line(f"  after {election['awaits_lease_ms']} ms, when the present lease has run out")
    print_table(
        ("ID#", "VERDICT", "REASON"),
        [(one["broker_id"], one["verdict"], one["reason"]) for one in election["candidates"]],
    )


def id_text(own_id: int | None) -> str:
    """Write an id, or `none`: a table shows `-` for an unknown id."""
    return "none" if own_id is None else str(own_id)


def ids_text(ids: list[int]) -> str:
    """Write ids, or `none`: a table shows `-` for unknown ids."""
    return joined(ids) or "none"
