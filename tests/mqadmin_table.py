"""List the counterpart of each command of stock's mqadmin: `python -m tests.mqadmin_table`.

The table is made from the translations, and goes into docs/mqadmin.md between two marks.
"""

from collections import Counter
from pathlib import Path

from backend.cli.app import app
from backend.cli.mqadmin.command import stands
from backend.cli.mqadmin.stock import stock_commands
from backend.cli.mqadmin.translations import COUNTERPARTS, Declined, Named, Translated
from tests.marked_regions import rewritten_region

PAGE = Path(__file__).resolve().parents[1] / "docs" / "mqadmin.md"
BEGIN, END = "<!-- written by make parity: begin -->\n", "<!-- end -->\n"


def render() -> str:
    """Write the table."""
    counts = Counter(stands(app, COUNTERPARTS[name]) for name in stock_commands())
    told = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    lines = [
        f"{counts.total()} commands: {told}.",
        "",
        "| mqadmin | stands | regent | options taken over | what differs, or why not |",
        "|---|---|---|---|---|",
    ]
    for name in stock_commands():
        counterpart = COUNTERPARTS[name]
        regent, options, note = "", "", ""
        if isinstance(counterpart, Translated):
            regent, note = f"`{counterpart.regent}`", counterpart.note
            options = " ".join(f"`-{option}`" for option in counterpart.reads.split())
        elif isinstance(counterpart, Named):
            regent, note = f"`{counterpart.regent}`", counterpart.note
        elif isinstance(counterpart, Declined):
            note = counterpart.reason
        cells = (f"`{name}`", stands(app, counterpart), regent, options, note)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def rewritten(page: str) -> str:
    """Give the page with the present table."""
    return rewritten_region(page, f"\n{render()}\n", begin=BEGIN, end=END)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
