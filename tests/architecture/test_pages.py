"""Every page of docs opens with what the thing is, a picture and an example, in plain words."""

import re

import pytest

from tests.language import PROSE_HABITS, WORDS_MAX
from tests.spec_index import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
TEXTS = (
    *(*PAGES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "workers" / "engine").glob("*.md"))),
    *sorted((ROOT / "docs").glob("*/**/*.md")),
)
OPENING_LINES = 40
"""In so many lines a page has shown what it is about."""
QUOTED = re.compile(r"^```.*?^```|`[^`\n]*`|\[test_[^\]]*\]\([^)]*\)", re.MULTILINE | re.DOTALL)


def opening_gaps(text):
    """Give what the beginning of a page lacks."""
    lines = text.splitlines()
    opening = "\n".join(lines[:OPENING_LINES])
    has_sentence = len(lines) > 2 and lines[0].startswith("# ") and re.match(r"[A-Z`]", lines[2])
    found = {
        "a sentence": bool(has_sentence),
        "a picture": "```" in opening,
        "an example": "Example" in opening,
    }
    return [part for part, is_there in found.items() if not is_there]


def unclear_words(text):
    """Give the habit words of a page, without code and names of tests."""
    return PROSE_HABITS.findall(QUOTED.sub("", text))


def long_sentences(text):
    """Give the sentences of a page that are too long, without code, tables and headings."""
    blocks = [""]
    for line in re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).splitlines():
        item = re.match(r"\s*([-*]|\d+\.)\s+", line)
        is_apart = re.match(r"\s*[#|]", line)
        if item or is_apart or not line.strip():
            blocks.append("")
        if not is_apart:
            blocks[-1] += " " + line[item.end() if item else 0 :]
    sentences = (one for block in blocks for one in re.split(r"(?<=[.!?:;])\s+", block.strip()))
    return [one for one in sentences if len(one.split()) > WORDS_MAX]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_opens_with_what_it_is_a_picture_and_an_example(page):
    text = page.read_text()

    assert opening_gaps(text) == []


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_sentences_of_a_page_are_plain(page):
    text = page.read_text()

    assert unclear_words(text) == []
    assert long_sentences(text) == []


def test_a_page_that_opens_with_a_table_is_found():
    good = "# Doors\n\nA door is a way to ask.\n\n```\na ─▶ b\n```\n\nExample: `--clear`.\n"

    assert opening_gaps(good) == []
    assert opening_gaps("# Doors\n\n| a | b |\n") == ["a sentence", "a picture", "an example"]
    assert unclear_words(good + "Nobody is told of [test_who_is_told](a.py).") == ["Nobody", "told"]


def test_a_long_sentence_of_a_page_is_found():
    words = " ".join(["word"] * WORDS_MAX)
    page = f"# {words} x\n\n{words}.\n- One {words}\n  and two.\n\n| {words} x |\n\n{words}\nend: x"

    assert [one[:8] for one in long_sentences(page)] == ["One word", "word wor"]
