"""The page of requirements says which code and which tests cite each, or why none does."""

from tests.requirements import (
    TABLE,
    Place,
    find_code,
    python_docs,
    reasons,
    render,
    requirements,
    rust_docs,
    written,
)
from tests.scenarios import Citation, find_citations


def test_the_page_is_up_to_date():
    assert TABLE.read_text() == written(), "run make requirements"


def test_only_numbers_that_there_are_are_cited():
    known = {one.number for one in requirements()}

    assert known == {f"Q{number}" for number in range(1, 93)}
    assert {*find_code(), *find_citations(("Q",))} - known == set()


def test_every_requirement_is_shown_or_says_why_not():
    code, tests = find_code(), find_citations(("Q",))
    shown = {one.number for one in requirements() if code.get(one.number) and tests.get(one.number)}

    assert shown | {*reasons()} == {one.number for one in requirements()}
    assert {*code, *tests} & {*reasons()} == set()


def test_a_requirement_that_nothing_cites_is_open():
    first, second, third, _, fourth, *_, last = requirements()
    code = {"Q1": [Place("a.py", "f")], "Q2": [Place("b.rs", "G")]}
    tests = {"Q1": [Citation("t.py", "test_f", "Q1")], "Q3": [Citation("t.py", "test_g", "Q3")]}

    page = render([first, second, third, fourth], code, tests)

    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| Q")]
    assert [row[2] for row in rows] == ["shown", "no test", "no code named", "open"]
    assert rows[0][3:] == ["[f](../a.py)", "[test_f](../t.py) |"]
    late = render([last], {}, {})
    assert f"| Q92 | {last.meaning} | not here: {reasons()['Q92']} |" in late
    assert "Of 4 requirements: 1 no code named, 1 no test, 1 open, 1 shown." in page


def test_docstrings_and_doc_comments_are_cited_with_the_name_of_their_code():
    python = '"""Module (Q1)."""\nclass A:\n    """Class."""\n    def b(self):\n        """Q2."""\n'
    rust = "//! File, Q3.\n\n// Q4 is a plain comment.\n/// Q5: text.\n#[must_use]\npub fn c() {}\n"

    found = [*python_docs("x/a.py", python), *rust_docs("x/d.rs", rust)]

    assert [(name, text.strip()) for _, name, text in found] == [
        ("a", "Module (Q1)."),
        ("A", "Class."),
        ("b", "Q2."),
        ("d", "//! File, Q3."),
        ("c", "/// Q5: text."),
    ]
