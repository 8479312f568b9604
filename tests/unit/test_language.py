"""Texts for people are plain, and so are docstrings, comments and names for programmers."""

from pathlib import Path

import pytest

from tests.language import (
    ROOT,
    WORDS_MAX,
    faults_of,
    faults_of_code,
    names_of_code,
    names_of_declarations,
    prose_of_code,
    prose_of_comments,
    texts_of_api,
    texts_of_code,
    texts_of_console,
    texts_of_rust,
)

PLANTED = '''
"""Nobody reads the docstring of a module as a text."""

def refuse(name):
    """Nobody reads this either."""
    if name is None:
        raise ValueError("whoever asks is told")
    why = f"topic {name} counts" " at once, and nobody waits"
    raise ValueError(why, ("word " * 3) + "anew begins", {"told": ("told", "or tell")})

SCRIPT = "SELECT told.name FROM told"
'''


def test_texts_of_code_are_found_wherever_they_stand(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(PLANTED)

    assert [(line, text) for line, text in texts_of_code(module)] == [
        (7, "whoever asks is told"),
        (8, "topic {} counts at once, and nobody waits"),
        (9, "anew begins"),
        (9, "or tell"),
    ]


PROSE = '''
"""Write to stock.

It waits.
"""

# A word
# of two lines.
VALUE = 1  # whoever reads this

class Teller:
    def asks_nobody(self):
        """It counts."""
'''


def test_docstrings_comments_and_names_of_code_are_found(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(PROSE)

    assert sorted(prose_of_code(module)) == [
        (2, "Write to stock.\n\nIt waits."),
        (8, "A word of two lines."),
        (9, "whoever reads this"),
        (13, "It counts."),
    ]
    assert list(names_of_code(module)) == [(11, "Teller"), (12, "asks_nobody")]
    assert [fault.partition(": ")[2] for fault in faults_of_code(module)] == [
        "habit word 'whoever': whoever reads this",
        "habit word in the name Teller",
        "habit word in the name asks_nobody",
    ]


RUST = """
//! Writes to stock.
//!
//! It
//! waits.

/// A word.
/// ```
/// amid();
/// ```
pub(crate) const fn tells_it() -> u32 {
    let quote = '"';
    refuse("a topic of the {name} \\
            must be new");
    0 // whoever reads this
}
"""


def test_comments_names_and_texts_of_rust_are_found(tmp_path):
    source = tmp_path / "source.rs"
    source.write_text(RUST)

    assert list(prose_of_comments(source)) == [
        (5, "Writes to stock.\n\nIt waits."),
        (10, "A word."),
        (15, "whoever reads this"),
    ]
    assert list(texts_of_rust(source)) == [(13, "a topic of the {} must be new")]
    assert list(names_of_declarations(source)) == [(11, "tells_it")]
    assert [fault.partition(": ")[2] for fault in faults_of_code(source)] == [
        "habit word 'whoever': whoever reads this",
        "habit word in the name tells_it",
    ]


TYPESCRIPT = """
/** Whoever reads
 * this. */
export function tellAll() {
  return 0; // waits
}
"""


def test_comments_and_names_of_typescript_are_found(tmp_path):
    source = tmp_path / "source.ts"
    source.write_text(TYPESCRIPT)

    assert list(prose_of_comments(source)) == [(3, "Whoever reads this."), (5, "waits")]
    assert [fault.partition(": ")[2] for fault in faults_of_code(source)] == [
        "habit word 'Whoever': Whoever reads this.",
        "habit word in the name tellAll",
    ]


def test_texts_of_the_console_are_found_without_their_placeholders(tmp_path):
    texts = tmp_path / "en.json"
    texts.write_text('{"a": {"told": "by {{told}} brokers"}, "b": "Nobody"}')

    assert list(texts_of_console(texts)) == [("a.told", "by {} brokers"), ("b", "Nobody")]


def test_a_habit_word_and_a_long_sentence_are_faults():
    assert [fault.partition(":")[0] for fault in faults_of(f"Nobody waits. {'a ' * 26}b.")] == [
        "habit word 'Nobody'",
        "27 words",
    ]
    assert faults_of(f"{'word ' * (WORDS_MAX - 1)}end. Broker 2 retells it.") == []


OF_EARLIER_VERSIONS = ROOT / "backend" / "operations" / "engine" / "earlier_plans.py"
"""It holds texts as earlier versions have written them."""


def modules() -> list[Path]:
    found = (path for root in ("backend", "workers") for path in (ROOT / root).rglob("*.py"))
    return sorted(path for path in found if path != OF_EARLIER_VERSIONS)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_texts_of_a_module_are_plain(path):
    faults = [(line, one) for line, text in texts_of_code(path) for one in faults_of(text)]

    assert faults == []


QUOTING = {Path(__file__), OF_EARLIER_VERSIONS}


@pytest.mark.parametrize("root", ["backend", "workers", "migrations", "tests"])
def test_docstrings_comments_and_names_of_code_are_plain(root):
    paths = [*(ROOT / root).rglob("*.py"), *(ROOT / root).rglob("*.pyi")]

    assert len(paths) > 10
    assert [one for path in paths if path not in QUOTING for one in faults_of_code(path)] == []


@pytest.mark.parametrize(
    "sources",
    ["workers/engine/*/**/*.rs", "tests/bench/**/*.rs", "frontend/src/**/*.ts*", "tests/**/*.java"],
)
def test_comments_and_names_of_other_languages_are_plain(sources):
    built = {"target", "generated"}
    paths = [path for path in ROOT.glob(sources) if not built & {*path.relative_to(ROOT).parts}]

    assert len(paths) > 3
    assert [one for path in paths for one in faults_of_code(path)] == []


def test_texts_of_the_engine_are_plain():
    sources = sorted((ROOT / "workers" / "engine").glob("*/src/**/*.rs"))
    texts = [(path, line, text) for path in sources for line, text in texts_of_rust(path)]

    assert len(texts) > 400
    assert [(path, line, one) for path, line, text in texts for one in faults_of(text)] == []


def test_texts_of_the_console_are_plain():
    texts = dict(texts_of_console())

    assert len(texts) > 1_000
    assert {key: faults for key, text in texts.items() if (faults := faults_of(text))} == {}


def test_descriptions_of_the_api_are_plain():
    texts = list(texts_of_api())

    assert len(texts) > 400
    assert [fault for text in texts for fault in faults_of(text)] == []
