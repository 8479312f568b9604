"""List each question and change with its doors: `python -m tests.door_matrix`.

Questions declare their path and their field. Changes and streams are written by hand, and named
here by both. The command line uses REST: it has a path if it names every part of it. The table goes
into docs/doors.md.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from strawberry.utils.str_converters import to_camel_case

from backend.api.operation_verbs import VERBS
from backend.questions import list_questions
from tests.marked_regions import rewritten_region

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "doors.md"
BEGIN, END = "<!-- written by make matrix: begin -->\n", "<!-- end -->\n"
V1: Final = "/api/v1"
VERB_ROWS: Final = tuple(
    (f"POST /operations/{{operation_id}}/{verb.name}", verb.mutation) for verb in VERBS
)
BY_HAND: Final = (
    ("POST /operations", "plan_operation"),
    ("POST /operations/{operation_id}/confirm", "confirm_operation"),
    ("POST /operations/{operation_id}/approve", "approve_operation"),
    ("POST /operations/{operation_id}/decline", "decline_operation"),
    ("DELETE /operations/{operation_id}/lease", "break_operation_lease"),
    *VERB_ROWS,
    ("POST /capacity/reports", "request_capacity_report"),
    ("POST /messages", "send_message"),
    ("PUT /session/password", "change_password"),
    ("DELETE /sessions", "end_sessions"),
    ("DELETE /sessions/{session_id}", "end_session"),
    ("POST /tokens", "create_api_token"),
    ("DELETE /tokens/{token_id}", "revoke_api_token"),
    ("POST /users", "add_user"),
    ("PUT /users/{user_name}/role", "change_user_role"),
    ("POST /users/{user_name}/disable", "disable_user"),
    ("POST /users/{user_name}/enable", "enable_user"),
    ("POST /users/{user_name}/reset-password", "reset_password"),
    ("GET /events", "events"),
    ("POST /session", None),
    ("DELETE /session", None),
    ("GET /session", None),
    ("GET /audit/export", None),
    (None, "samples"),
    (None, "topology_changed"),
)
"""The route of a change or a stream, and its name in the graph."""
REASONS: Final = {
    "POST /session": "a cookie is set by REST",
    "DELETE /session": "a cookie is taken by REST; the graph ends sessions by id",
    "GET /session": "the graph has it as `viewer`",
    "GET /audit/export": "the graph gives the audit page by page",
    "samples": "only the console follows it",
    "topologyChanged": "only the console follows it",
}
"""Why a hand-written one has no route, or no field."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question or a change, by its name in each door."""

    route: str | None
    field: str | None
    why_not: str | None

    @property
    def is_in_cli(self) -> bool:
        """Return whether the command line names every fixed part of the path."""
        path = (self.route or " ").partition(" ")[2]
        fixed = {part for part in path.strip("/").split("/") if part and "{" not in part}
        return bool(fixed) and fixed <= cli_words()


@cache
def cli_words() -> frozenset[str]:
    """List the words of paths in the command line's code, with the verbs of operations."""
    found: set[str] = set()
    for path in (ROOT / "backend" / "cli").rglob("*.py"):
        for text in re.findall(r'"([^"\n]*)"', path.read_text()):
            if "/" in text or re.fullmatch(r"[a-z-]+", text):
                found |= set(re.findall(r"[a-z][a-z-]+", text))
    return frozenset(found)


def rows() -> list[Row]:
    """List questions by their paths, then the hand-written ones."""
    asked = [
        Row(
            None if one.path is None else f"GET {one.path}",
            None if one.field is None else one.field.removeprefix("Query."),
            one.why_not,
        )
        for one in list_questions()
    ]
    made = []
    for route, name in BY_HAND:
        field = None if name is None else to_camel_case(name)
        made.append(Row(route, field, REASONS.get(field if route is None else route)))
    return [*sorted(asked, key=lambda row: (row.route or "~", row.field or "")), *made]


def render() -> str:
    """Write the table."""
    lines = ["| REST | graph | command line | why not |", "|---|---|---|---|"]
    for row in rows():
        names = [f"`{name}`" if name else "" for name in (row.route, row.field)]
        is_in_cli = "yes" if row.is_in_cli else "no"
        lines.append(f"| {' | '.join(names)} | {is_in_cli} | {row.why_not or ''} |")
    return "\n".join(lines) + "\n"


def rewritten(page: str) -> str:
    """Give the page with the present table."""
    return rewritten_region(page, f"\n{render()}\n", begin=BEGIN, end=END)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
