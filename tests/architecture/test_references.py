"""Every page, section, number, path and link that code, tests and docs name is there."""

import pytest

from tests.references import EXCEPTIONS, Library, broken_references, find_broken
from tests.spec_index import ROOT

WIRE = """
# The wire
## 1. Frame
### 1.4 Versions and ids
| # | trap |
|---|---|
| 46 | An id is no name. |
## 2. Requests
"""
README = "# Start here\n## Two `make` commands, and a tour\n"


@pytest.fixture
def library():
    pages = {
        "README.md": README,
        "docs/page.md": "# Tour\n",
        "docs/targets.md": "## 5.6 Numbers\n",
        "docs/spec/wire.md": WIRE,
    }
    files = [*pages, "backend/domain/topic.py", "docs/adr/0013-state-in-the-log.md"]
    return Library(files, pages, ["D21", "R10c", "H-3", "A15"])


def broken(text, library, path="backend/a.py"):
    return [str(one) for one in broken_references(path, text, library)]


def test_every_reference_of_the_repository_resolves():
    assert [str(one) for one in find_broken()] == []


def test_every_exception_is_a_file():
    assert [path for path in EXCEPTIONS if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(
    "text",
    [
        "# as stock does (wire.md 1.4).",
        "/// (wire.md 1.4, trap 46)",
        "# see wire.md 1.4, 103, and wire.md 1 and 2",
        "# over two\n# lines (wire.md\n# 1.4)",
        "# two masters can't acknowledge (D21, targets 5.6; ADR 13)",
        "-- Case A15, R10c and [H-3]",
        "assert code == 'D999'  # noqa: S310",
        "address = '10.0.0.1@D404'; option = '-O3'; name = G404.value",
        "the median(0.55) in (2.6)",
    ],
)
def test_what_resolves_is_passed_over(library, text):
    expected = ["backend/a.py:1: D999"] if "D999" in text else []

    assert broken(text, library) == expected


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("wire.md 1.5", "wire.md 1.5"),
        ("wire.md 1.4, 1.9", "wire.md 1.9"),
        ("wire.md 1.4-1.7", "wire.md 1.7"),
        ("wire.md\n    # 3", "wire.md 3"),
        ("wire.md 1.4, trap 47", "wire.md 1.4, trap 47"),
        ("targets 5.7", "targets.md 5.7"),
        ("wires.md 1.4", "wires.md"),
        ("old/wire.md 1.4", "old/wire.md"),
        ("kept (D22)", "D22"),
        ("S1-D23", "S1"),
        ("R10d", "R10d"),
        ("[H-4]", "H-4"),
        ("Case A16", "Case A16"),
        ("cases A15 and B1", "Case B1"),
        ("ADR 14", "ADR 14"),
        ("as stock does (1.4)", "(1.4) without its page"),
        ("as stock does (trap 46)", "(trap 46) without its page"),
    ],
)
def test_what_does_not_resolve_is_named_with_its_line(library, text, reference):
    found = broken(f"first line\n# {text}\n", library)

    assert f"backend/a.py:2: {reference}" in found


def test_links_and_anchors_of_a_page_are_followed(library):
    good = "[a](spec/wire.md#14-versions-and-ids) [b](../README.md) [c](adr) [d](#tour)\n"
    more = "[e](../README.md#two-make-commands-and-a-tour) [f](https://a.example/none.html)\n"
    bad = "[a](spec/wire.md#15-none) [b](../README.mk) [c](#there)\n"

    assert broken(good + more, library, "docs/page.md") == []
    assert broken(bad, library, "docs/page.md") == [
        "docs/page.md:1: spec/wire.md#15-none",
        "docs/page.md:1: ../README.mk",
        "docs/page.md:1: #there",
    ]


def test_paths_that_docs_name_are_looked_up(library):
    good = "`backend/domain/topic.py`, `domain/topic.py`, `topic.py`, docs/adr/ and `*.py`"

    assert broken(good, library, "docs/page.md") == []
    assert broken("`domain/topics.py`", library, "docs/page.md") == [
        "docs/page.md:1: domain/topics.py"
    ]
    assert broken("backend/rules/", library, "docs/page.md") == ["docs/page.md:1: backend/rules/"]


def test_sections_of_a_page_that_it_names_itself_are_its_own(library):
    text = "see section 1.4 (1.4)\nand sections 2 and 9.3\nor none (1.9)\n"

    found = broken(text, library, "docs/spec/wire.md")

    assert found == ["docs/spec/wire.md:2: section 9.3", "docs/spec/wire.md:3: section 1.9"]
