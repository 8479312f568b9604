"""Every term of the glossary has one meaning, and a name that the code uses."""

import re

from tests.references import load

PAGE = "docs/glossary.md"
CODE = ("backend/", "workers/", "frontend/src/", "migrations/")
MEANING_WORDS_MAX = 25


def rows(page):
    cells = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    return [row for row in cells if row[0] != "term"]


def names_of(cell):
    return [part for name in re.findall(r"`([^`]+)`", cell) for part in name.split(".")]


def test_every_term_has_a_plain_sentence_and_a_name():
    _, texts = load()

    terms = rows(texts[PAGE])
    odd = [row for row in terms if len(row) != 3 or not names_of(row[2])]
    long = [row[0] for row in terms if len(row[1].split()) > MEANING_WORDS_MAX]

    assert 55 <= len(terms) <= 120
    assert (odd, long) == ([], [])
    assert len({row[0] for row in terms}) == len(terms)


def test_every_name_of_the_glossary_is_in_the_code():
    _, texts = load()
    code = {path: text for path, text in texts.items() if path.startswith(CODE)}
    words = {word for text in code.values() for word in re.findall(r"\w+", text)}
    paths = {part for path in code for part in re.split(r"[/.]", path)}

    missing = [
        (term, name)
        for term, _, cell in rows(texts[PAGE])
        for name in names_of(cell)
        if name not in words | paths
    ]

    assert missing == []
