"""The help of every command is in short sentences, without words that need a second reading."""

import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests import language
from tests.cli_help import FOLDER
from tests.language import WORDS_MAX

_MARKS: Final = re.compile(r"\[(?:choices|default|env var|required)[^\]]*\]")
_CELL: Final = re.compile(r"(?: {2,})(?P<text>\S.*)")
_NAME_INDENT_MAX: Final = 4


def texts_of(page: str) -> Iterator[str]:
    """Give each paragraph, and the text of each entry of a box, as one line without examples."""
    text = ""
    for line in page.splitlines():
        content = line.strip("│").rstrip()
        indent = len(content) - len(content.lstrip())
        is_boxed = line.startswith("│")
        if not content or line.startswith(("$", "╭", "╰", "Usage:", "    ")):
            yield text
            text = ""
        elif is_boxed and indent <= _NAME_INDENT_MAX:
            yield text
            found = _CELL.search(content.removeprefix(" *").strip())
            text = found["text"] if found else ""
        else:
            text = f"{text} {content.strip()}".strip()
    yield text


def rows_of(table: str) -> Iterator[str]:
    """Give the last cell of each row of the table of mqadmin's commands."""
    for line in table.splitlines()[2:]:
        yield re.split(r" {2,}", line)[-1]


def faults_of(text: str) -> list[str]:
    """Name the habit words and the long sentences of a text, without the marks of options."""
    return language.faults_of(_MARKS.sub("", text))


PLANTED = f"""$ regent broker --help
Usage: regent broker COMMAND

Show brokers. {"word " * 26}
goes on here.

╭─ Parameters ───────────────────╮
│ *  --name -n STR  Whom the     │
│                   broker told. │
│                   [default: a] │
│ --nobody          No one.      │
╰────────────────────────────────╯

Examples:
    regent broker {"told " * 30}
"""


def test_a_habit_word_and_a_long_sentence_are_found_once_each():
    faults = [fault for text in texts_of(PLANTED) for fault in faults_of(text)]

    assert [fault.partition(":")[0] for fault in faults] == [
        "29 words",
        "habit word 'Whom'",
        "habit word 'told'",
    ]


def test_a_sentence_may_have_as_many_words_as_the_limit():
    assert faults_of(f"{'word ' * (WORDS_MAX - 1)}end. Next sentence.") == []
    assert faults_of(f"{'word ' * WORDS_MAX}end.") != []


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_help_has_short_sentences_and_no_habit_words(path):
    page = path.read_text()
    texts = list((rows_of if path.stem == "mqadmin" else texts_of)(page))

    assert sum(map(bool, texts)) > 1
    assert [fault for text in texts for fault in faults_of(text)] == []
