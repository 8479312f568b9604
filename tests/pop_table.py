"""List what shows the same as each test of POP of RocketMQ: `python -m tests.pop_table`.

The table is made from the scenarios of the Java client, and goes into docs/pop-tests.md.
"""

from pathlib import Path

from tests.interop.pop_scenarios import SCENARIOS
from tests.interop.pop_tests import OTHER_TESTS, RUNNER, Shown
from tests.marked_regions import rewritten_region

PAGE = Path(__file__).resolve().parents[1] / "docs" / "pop-tests.md"
BEGIN, END = "<!-- written by tests.pop_table: begin -->\n", "<!-- end -->\n"


def render() -> str:
    """Write the table."""
    rows = {
        shown: f"{_link(RUNNER)}, `{name}`"
        for name, scenario in SCENARIOS.items()
        for shown in scenario.shown
    }
    rows |= {
        name: _link(other.test) if isinstance(other, Shown) else other.reason
        for name, other in OTHER_TESTS.items()
    }
    lines = ["| RocketMQ | here, or why not |", "|---|---|"]
    lines += [f"| `{name}` | {rows[name]} |" for name in sorted(rows)]
    return "\n".join(lines) + "\n"


def _link(test: str) -> str:
    path, _, name = test.partition("::")
    return f"[{name}](../{path})"


def rewritten(page: str) -> str:
    """Give the page with the present table."""
    return rewritten_region(page, f"\n{render()}\n", begin=BEGIN, end=END)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
