"""List the test of each scenario of the catalogue: `python -m tests.scenarios`.

`scenarios.toml` beside this lists the scenarios in our words. A test cites one by its number: in
its name (`_s17`), its docstring or a separate comment. The table goes to docs/scenarios.md.
"""

import ast
import io
import re
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "tests" / "scenarios.toml"
TABLE = ROOT / "docs" / "scenarios.md"
ENGINE = ROOT / "workers" / "engine"
INTRODUCTION = """\
# Scenarios

A scenario is one case of what stock RocketMQ 5, or a design that it follows, does: a state, an
event, and the result. This page says what Regent does in each case, and which test shows it. It
exists so that no case of the specification is forgotten, and every departure from stock has a
reason.

```
S48 in spec/control-plane.md ─▶ its line in tests/scenarios.toml ─▶ tests that cite S48 ─▶ its row
```

Example: S48 is a master that dies while two members of its set live. The row below says what
happens here, and links the tests that cite S48.

| verdict | means |
|---|---|
| as stock | the same result as stock's |
| as specified | the result that the page of the design gives |
| departs: D4: … | another result than stock's, by that [decision](spec/decisions.md) |
| only the rules are tested; not built yet: … | the named parts of the product are missing |
| in part; not built yet: … | the tests show the rest of the scenario |
| not here: … | belongs to a system that is not built yet |

`make scenarios` writes this page from `tests/scenarios.toml` and the numbers that tests cite. The
[index](spec/README.md) leads to the full text of each number."""
FAMILIES = ("S", "L", "O")
"""The letters of scenarios: of the control plane, of logical queues, and of shared queues."""
_NUMBER = re.compile(r"\b([SLOQ]\d{1,3})\b")
_IN_NAME = re.compile(r"(?:^|_)([sloq]\d{1,3})(?=_|$)")
_IN_SOURCE = re.compile(r"\b[SLOQ]\d|_[sloq]\d")
"""In every file with a citation; the others are not parsed. Q: see `tests.requirements`."""
_RUST_TEST = re.compile(r"((?:^ *//.*\n)*)^ *#\[test\]\n(?: *#.*\n)* *fn (\w+)", re.MULTILINE)
_COMMENT = re.compile(r"//(.*)")


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario and its status here."""

    number: str
    area: str
    title: str
    departs: str = ""
    """The decision by which Regent differs from stock, and how."""

    rest: str = ""
    """What is not built yet of a scenario whose rules have tests."""

    lacks: str = ""
    """The part of a scenario that is not built yet; a test shows the rest of it."""

    later: str = ""
    """The system it belongs to that is not built yet, or why it has no place here."""

    missing: str = ""
    """The reason why it has no test yet."""

    @property
    def verdict(self) -> str:
        if self.later:
            return f"not here: {self.later}"
        own = "as stock" if self.number.startswith("S") else "as specified"
        told = [f"departs: {self.departs}"] if self.departs else []
        told += [f"only the rules are tested; not built yet: {self.rest}"] if self.rest else []
        told += [f"in part; not built yet: {self.lacks}"] if self.lacks else []
        return "; ".join(told) or own

    @property
    def order(self) -> tuple[int, int]:
        return FAMILIES.index(self.number[0]), int(self.number[1:])


@dataclass(frozen=True, slots=True)
class Citation:
    """A test that names scenarios, and its text besides the code."""

    path: str
    name: str
    text: str
    is_in_soak: bool = False
    """Only the long form has it."""

    @property
    def numbers(self) -> set[str]:
        found = [*_NUMBER.findall(self.text), *_IN_NAME.findall(self.name)]
        return {number.upper() for number in found}


def read_catalogue() -> list[Scenario]:
    """Give all scenarios in the order of their numbers."""
    areas = tomllib.loads(CATALOGUE.read_text())
    found = []
    for area in areas.values():
        for key, entry in area["scenarios"].items():
            told = {"title": entry} if isinstance(entry, str) else entry
            found.append(Scenario(number=key, area=area["title"], **told))
    return sorted(found, key=lambda scenario: scenario.order)


def find_citations(families: tuple[str, ...] = FAMILIES) -> dict[str, list[Citation]]:
    """Give the tests that cite each number of some families, by default each scenario."""
    cited: dict[str, list[Citation]] = defaultdict(list)
    for citation in _all_tests():
        for number in citation.numbers:
            if number[0] in families:
                cited[number].append(citation)
    return cited


def _all_tests() -> Iterator[Citation]:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        yield from _python_tests(str(path.relative_to(ROOT)), path.read_text())
    for path in sorted(ENGINE.rglob("*.rs")):
        if "target" not in path.relative_to(ENGINE).parts:
            yield from rust_tests(str(path.relative_to(ROOT)), path.read_text())


def _python_tests(path: str, source: str) -> Iterator[Citation]:
    if not _IN_SOURCE.search(source):
        return
    comments = [
        (token.start[0], token.string)
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("test_"):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        own = [text for line, text in comments if first <= line <= (node.end_lineno or first)]
        text = "\n".join([ast.get_docstring(node) or "", *own])
        is_in_soak = "long_form_only" in map(ast.unparse, node.decorator_list)
        yield Citation(path, node.name, text, is_in_soak=is_in_soak)


def rust_tests(path: str, source: str) -> Iterator[Citation]:
    """Give the tests of a Rust file with their comments: those before and those inside."""
    found = list(_RUST_TEST.finditer(source))
    for test, following in zip(found, [*found[1:], None], strict=False):
        end = following.start() if following else len(source)
        comments = _COMMENT.findall(test[1] + source[test.end() : end])
        yield Citation(path, test[2], "\n".join(comments))


def render(scenarios: list[Scenario], cited: Mapping[str, list[Citation]]) -> str:
    """Write the table."""
    lines = [*INTRODUCTION.splitlines()]
    area = ""
    for scenario in scenarios:
        if scenario.area != area:
            area = scenario.area
            lines += [
                "",
                f"## {area}",
                "",
                "| # | scenario | verdict | tests |",
                "|---|---|---|---|",
            ]
        tests = [f"[{test.name}](../{test.path})" for test in cited.get(scenario.number, [])]
        shown = "<br>".join(tests) or (f"missing: {scenario.missing}" if scenario.missing else "")
        lines.append(f"| {scenario.number} | {scenario.title} | {scenario.verdict} | {shown} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TABLE.write_text(render(read_catalogue(), find_citations()))
