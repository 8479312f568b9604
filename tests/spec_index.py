"""Write the index of the numbers that the pages of docs/spec define: `python -m tests.spec_index`.

A number is defined where a row, a list item or a heading of its page begins with it. The index goes
into docs/spec/README.md between two marks.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tests.marked_regions import rewritten_region

ROOT = Path(__file__).resolve().parents[1]
SPEC = ROOT / "docs" / "spec"
PAGE = SPEC / "README.md"
BEGIN, END = "<!-- written by make spec-index: begin -->\n", "<!-- end -->\n"
MEANING_LENGTH_MAX = 150
_HEADING = re.compile(r"^(#{1,6}) +(.*?) *$")
_SECTION = re.compile(r"^(?:[A-C]|\d+(?:\.\d+)*)(?=[. ])")
_DEFINITION = re.compile(r"^(?:\| *|\* |#{2,4} )\**(?P<number>[A-Z]+-?\d*[A-Za-z]*)\b(?P<rest>.*)$")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Family:
    """The numbers of one kind, and where they are defined."""

    prefix: str
    page: str
    title: str
    sections: str = ""
    """Where on the page they are defined, as the beginning of a section's number."""

    cells: int = 1
    """How many cells of a row hold the meaning."""

    digits: str = r"\d+[a-z]?"

    def owns(self, number: str) -> bool:
        return re.fullmatch(re.escape(self.prefix) + self.digits, number) is not None


FAMILIES = (
    Family("D", "decisions.md", "decisions"),
    Family("G", "console-and-cli.md", "goals", "3"),
    Family("I", "targets.md", "invariants", "5.2"),
    Family("R", "targets.md", "ratios", "2"),
    Family("R", "console-and-cli.md", "risk classes", "1.2"),
    Family("W", "targets.md", "workloads", "4.2"),
    Family("S", "control-plane.md", "scenarios of the control plane", "9", cells=2),
    Family("V", "control-plane.md", "invariants of the controller's state", "2.3"),
    Family("SD-", "control-plane.md", "differences between stock and the designs", "6"),
    Family("L", "logical-queues.md", "scenarios of logical queues", "22"),
    Family("INV-", "logical-queues.md", "invariants of logical queues", "5"),
    Family("P-", "logical-queues.md", "properties of logical queues", "0.2", digits=r"[A-Z]+"),
    Family("H-", "logical-queues.md", "hazards observed in stock", "23", cells=2),
    Family("Q", "queue-ownership.md", "requirements of queue ownership", "2", cells=2),
    Family("O", "queue-ownership.md", "scenarios of queue ownership", "8"),
    Family("OI-", "queue-ownership.md", "invariants of queue ownership", "7"),
    Family("A", "cases.md", "cases: messages, routes, state", "A"),
    Family("B", "cases.md", "cases: what is shown", "B"),
    Family("C", "cases.md", "cases: clients, tools and tests of stock", "C"),
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page: the number of its section, its text, and its anchor."""

    section: str
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number, what it means, and where that is said."""

    number: str
    meaning: str
    family: Family
    heading: Heading


def headings(text: str) -> Iterator[tuple[int, Heading]]:
    """Give the headings of a page of Markdown with the indices of their lines."""
    seen: Counter[str] = Counter()
    is_code = False
    for index, line in enumerate(text.splitlines()):
        is_code ^= line.lstrip().startswith("```")
        found = _HEADING.match(line)
        if is_code or found is None:
            continue
        title = _LINK.sub(r"\1", found[2])
        slug = _slug(title)
        anchor = f"{slug}-{seen[slug]}" if seen[slug] else slug
        seen[slug] += 1
        section = _SECTION.match(title)
        yield index, Heading(section[0] if section else "", title, anchor)


def _slug(title: str) -> str:
    """Give the anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def definitions(text: str, families: tuple[Family, ...]) -> Iterator[Number]:
    """Give the numbers that a page defines, each where it is defined first."""
    above = dict(headings(text))
    heading = Heading("", "", "")
    seen: set[tuple[Family, str]] = set()
    is_code = False
    for index, line in enumerate(text.splitlines()):
        is_code ^= line.startswith("```")
        if index in above:
            heading = replace(above[index], section=above[index].section or heading.section)
        found = None if is_code else _DEFINITION.match(line)
        for family in families if found else ():
            key = (family, found["number"])
            if family.owns(found["number"]) and _is_in(heading, family) and key not in seen:
                seen.add(key)
                meaning = _meaning(line, found["rest"], family.cells)
                yield Number(found["number"], meaning, family, heading)


def _is_in(heading: Heading, family: Family) -> bool:
    return f"{heading.section}.".startswith(f"{family.sections}.") or not family.sections


def _meaning(line: str, rest: str, cells: int) -> str:
    """Give a line of what a definition says: its title, or the first cells of its row."""
    if not line.startswith("|"):
        title, _, _ = rest.lstrip(" *").partition("**")
        text = title.strip()
    else:
        first, *others = re.split(r"(?<!\\)\|", rest)
        title = first.strip(" *")
        told = [cell.strip() for cell in others[:cells]]
        text = title or ": ".join(cell for cell in told if cell not in {"", "-"})
    text = text.replace("**", "").rstrip(".:")
    if len(text) > MEANING_LENGTH_MAX:
        text = text[:MEANING_LENGTH_MAX].rsplit(" ", 1)[0].rstrip(",;:(") + " …"
    if text.count("`") % 2:
        text = text.replace("`", "")
    return _LINK.sub(r"\1", text)


@cache
def numbers() -> tuple[Number, ...]:
    """Give all numbers, family by family."""
    found = []
    for family in FAMILIES:
        text = (SPEC / family.page).read_text()
        found += sorted(definitions(text, (family,)), key=_order)
    return tuple(found)


def _order(one: Number) -> tuple[int, str]:
    digits = re.sub(r"\D", "", one.number)
    return int(digits or 0), one.number


def render() -> str:
    """Write the index."""
    lines = ["| numbers | are | defined in | how many |", "|---|---|---|---|"]
    for family in FAMILIES:
        own = [one for one in numbers() if one.family is family]
        span = f"{own[0].number} … {own[-1].number}"
        lines.append(f"| {span} | {family.title} | [{family.page}]({family.page}) | {len(own)} |")
    for family in FAMILIES:
        lines += ["", f"### {family.prefix.rstrip('-')}: {family.title}", ""]
        lines += ["| number | meaning | where |", "|---|---|---|"]
        for one in numbers():
            if one.family is family:
                place = f"{family.page.removesuffix('.md')} {one.heading.section}".rstrip()
                link = f"[{place}]({family.page}#{one.heading.anchor})"
                lines.append(f"| {one.number} | {one.meaning} | {link} |")
    return "\n".join(lines) + "\n"


def rewritten(page: str) -> str:
    """Give the page with the index as it is now."""
    return rewritten_region(page, f"\n{render()}\n", begin=BEGIN, end=END)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
