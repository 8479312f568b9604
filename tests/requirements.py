"""List code and tests of each requirement of queue ownership: `python -m tests.requirements`.

The requirements are Q1 to Q92 of docs/spec/queue-ownership.md. Code cites one by its number in a
docstring, or in a doc comment of the engine. A test cites one as it cites a scenario. The table
goes to docs/requirements.md.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.scenarios import ENGINE, ROOT, Citation, find_citations
from tests.spec_index import Number, numbers

TABLE = ROOT / "docs" / "requirements.md"
FAMILY = "Q"
PACKAGES = ("backend", "workers")
INTRODUCTION = """\
# Requirements of queue ownership

A requirement is one sentence of the design for share queues, Q1 to Q92 of
[queue-ownership.md](spec/queue-ownership.md). This page says which code carries it out, and which
test shows it. It exists so that no requirement is forgotten, and so that what is open is visible.

```
Q12 in spec/queue-ownership.md ─▶ docstrings of code that cite Q12 ─┐
                               └▶ tests that cite Q12 ──────────────┴▶ its row
```

Example: Q12 is the message of a consumer that disconnects. The row below links the functions that
deliver it again, and the tests that show this.

| status | means |
|---|---|
| shown | code and a test cite the requirement |
| no test | code cites the requirement, and no test does |
| no code named | a test cites the requirement, and no docstring does |
| open | nothing cites the requirement: it is not shown |
| not here: … | the reason why the product does not carry out the requirement |

A citation is a claim of its author. It does not say that the test of section 5 of the specification
exists in full. `make requirements` writes this page."""
ONE_LANE = (
    "one lane: the log of a broker group is one sequence, so that more lanes would divide the work"
    " of its readers alone (ADR 22)"
)
ONE_LOCK = "one lane: its lock keeps the operations of a share queue apart, in place of a thread"
ONE_THREAD = (
    "one lane, and one thread for the clients of a broker: a cluster divides the queues of a topic"
    " among its broker groups"
)
COPY = "a new member gets older messages by segments of the log, and no queue by itself (ADR 25)"
NOT_HERE = {
    ONE_LANE: "Q3 Q6 Q34 Q36 Q67",
    ONE_LOCK: "Q17",
    ONE_THREAD: "Q33",
    COPY: "Q45 Q46",
    "topics are not created together with their queues at several masters": "Q60",
    "shown by a measurement, not by a test: SHARED mode at its owner reaches 1.00 of the rate of"
    " PRIMARY mode (`python -m tests.bench share_modes`)": "Q81",
    "`make bench-failover` measures the gap without a master, but no clients or attempts": "Q92",
}
"""Why the product does not carry out a requirement, and which ones that concerns."""

_NUMBER = re.compile(r"\bQ\d{1,2}\b")
_RUST_DOC = re.compile(
    r"((?:^ *//[/!].*\n)+)(?: *#\[.*\n)*"
    r"(?: *(?:pub(?:\([^)]*\))? )?(?:(?:async|const|unsafe) )*"
    r"(?:fn|struct|enum|trait|mod|const|type) (\w+))?",
    re.MULTILINE,
)
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of code that cites requirements."""

    path: str
    name: str


def requirements() -> list[Number]:
    """Give Q1 to Q92 in their order."""
    return [one for one in numbers() if one.family.prefix == FAMILY]


def find_code() -> dict[str, list[Place]]:
    """Give the code that cites each requirement, by its number."""
    cited: dict[str, list[Place]] = defaultdict(list)
    for path, name, text in _all_docs():
        for number in dict.fromkeys(_NUMBER.findall(text)):
            cited[number].append(Place(path, name))
    return cited


def _all_docs() -> Iterator[tuple[str, str, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield from python_docs(str(path.relative_to(ROOT)), path.read_text())
    for path in sorted(ENGINE.rglob("src/**/*.rs")):
        if "target" not in path.relative_to(ENGINE).parts:
            yield from rust_docs(str(path.relative_to(ROOT)), path.read_text())


def python_docs(path: str, source: str) -> Iterator[tuple[str, str, str]]:
    """Give path, name and docstring of a module, of its classes and of its functions."""
    if not _NUMBER.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _Documented) and (text := ast.get_docstring(node)):
            yield path, getattr(node, "name", Path(path).stem), text


def rust_docs(path: str, source: str) -> Iterator[tuple[str, str, str]]:
    """Give path, name and text of each doc comment of a file of the engine."""
    if not _NUMBER.search(source):
        return
    for found in _RUST_DOC.finditer(source):
        yield path, found[2] or Path(path).stem, found[1]


def reasons() -> dict[str, str]:
    """Give the reason of each requirement that is not carried out, by its number."""
    return {number: why for why, numbers in NOT_HERE.items() for number in numbers.split()}


def status(number: str, code: Sequence[Place], tests: Sequence[Citation]) -> str:
    """Give the status of a requirement."""
    if code and tests:
        return "shown"
    if code:
        return "no test"
    return "no code named" if tests else "not here" if number in reasons() else "open"


def render(
    wanted: Sequence[Number],
    code: Mapping[str, Sequence[Place]],
    tests: Mapping[str, Sequence[Citation]],
) -> str:
    """Write the page."""
    lines = INTRODUCTION.splitlines()
    why = reasons()
    found = [
        status(one.number, code.get(one.number, ()), tests.get(one.number, ())) for one in wanted
    ]
    counts = [f"{found.count(word)} {word}" for word in dict.fromkeys(sorted(found))]
    lines += ["", f"Of {len(wanted)} requirements: {', '.join(counts)}."]
    section = ""
    for one, word in zip(wanted, found, strict=True):
        if one.heading.text != section:
            section = one.heading.text
            lines += ["", f"## {section}", ""]
            lines += ["| # | requirement | status | code | tests |", "|---|---|---|---|---|"]
        linked = [_links(kind.get(one.number, ())) for kind in (code, tests)]
        told = f"{word}: {why[one.number]}" if word == "not here" else word
        lines.append(f"| {one.number} | {one.meaning} | {told} | {linked[0]} | {linked[1]} |")
    return "\n".join(lines) + "\n"


def _links(places: Sequence[Place] | Sequence[Citation]) -> str:
    return "<br>".join(f"[{one.name}](../{one.path})" for one in places)


def written() -> str:
    """Give the page as it is by the present code and tests."""
    return render(requirements(), find_code(), find_citations((FAMILY,)))


if __name__ == "__main__":
    TABLE.write_text(written())
