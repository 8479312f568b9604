"""Find references in code, tests and docs that do not resolve: `python -m tests.references`.

A reference is a page with a section (`remoting.md 1.4`) or a number (`D21`, `Case A1`, `ADR 13`).
It may also be a path of a file, or a link of Markdown. `tests.spec_index` says which numbers there
are.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import normpath

from tests.spec_index import ROOT, headings, numbers

SUFFIXES = {".py", ".pyi", ".rs", ".ts", ".tsx", ".sql", ".mako", ".md", ".toml", ".yaml", ".java"}
EXCEPTIONS: dict[str, str] = {
    "pyproject.toml": "the rules of ruff are letters with numbers too",
    "tests/architecture/test_references.py": "its inputs are references that lead nowhere",
}
"""Files that are not read, each with its reason."""
INDEX = "docs/spec/README.md"
"""Its lines are the beginnings of lines of other pages, with their sections."""
NUMBERED = ("docs/spec/", "workers/engine/FORMAT.md")
"""Pages with numbered sections, which name their own sections without the page."""
BUILT = "/target/"
"""In the path of a file that a build makes, which is not committed."""

_GAP = r"(?:\s+(?:(?://[/!]?|#|\*|--|>)\s+)?)"
"""A blank, or the end of a line and the sign of a comment on the next one."""
_SECTION = r"\d+(?:\.\d+)*"
_CITED = re.compile(
    rf"(?P<page>\b[\w-]+)(?P<ending>\.md\b`?\)?|(?<=\btargets))(?:,?{_GAP}(?:sections?{_GAP}|§ ?)?"
    rf"(?P<sections>{_SECTION}\b(?:(?:-|,{_GAP}|{_GAP}(?:and|to|or){_GAP}){_SECTION}\b)*)"
    rf"(?:,{_GAP}(?P<what>trap|row){_GAP}(?P<row>\d+))?)?"
)
_PAGE = re.compile(r"(?<![\w:./%*-])(?P<path>(?:\.{0,2}[\w-][\w.-]*/|\.\./)*[\w-]+\.md)\b")
_OWN_SECTION = re.compile(
    rf"\b[Ss]ections?{_GAP}(?P<sections>{_SECTION}\b(?:(?:,{_GAP}|{_GAP}(?:and|to){_GAP}){_SECTION}\b)*)"
)
_NUMBER = re.compile(
    r"(?<![\w.#/&+@%])(?<!['\"]-)"
    r"(?P<number>(?:[DGIRSLQO]|H-|INV-|OI-|SD-)\d{1,3}[a-z]?)(?![\w(]|\.\w|-(?![A-Z]+-?\d)[a-zA-Z])"
)
_CASE = re.compile(
    rf"\b[Cc]ases?{_GAP}(?P<cases>[ABC]\d+\b(?:(?:,{_GAP}|{_GAP}and{_GAP})[ABC]\d+\b)*)"
)
_RECORD = re.compile(rf"\bADRs?{_GAP}(?P<records>\d+\b(?:(?:,{_GAP}|{_GAP}and{_GAP})\d+\b)*)")
_BARE = re.compile(r"(?<=[\w;,])(?<! in) \((?P<what>\d+\.\d+(?:, \d+\.\d+)*|traps? \d+)\)")
"""A section without its page, in parentheses behind a word."""
_OWN_BARE = re.compile(r"(?<=[\w;,)`\"]) \((?P<sections>\d+\.\d+(?:, \d+\.\d+)*)\)")
"""The same on a page with numbered sections, which means its own."""
_LINK = re.compile(r"\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
_PATH = re.compile(
    r"(?<![\w/.*$<-])(?P<path>(?:[\w.-]+/)*[\w.-]+\.(?:py|rs|tsx?|toml|mako|java)"
    r"|(?:backend|workers|frontend|migrations|tests|docs|\.ci)/[\w./-]*)(?![\w*{<-])"
)
_CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_LINT_RULES = re.compile(r"noqa: [A-Z0-9, ]+")
_SEGMENT_LIST = re.compile(r"\[g\d[^\]]*\]")
"""A list of segments of a logical queue, as in logical-queues.md 21: `[g0 b1:q0 L0 S0]`."""
_ROW = re.compile(r"^\| *(\d+) *\|")


@dataclass(frozen=True, slots=True)
class Broken:
    """A reference that does not resolve."""

    path: str
    line: int
    reference: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reference}"


class Page:
    """A page of Markdown: the sections, anchors and numbered rows that others refer to."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def anchors(self) -> frozenset[str]:
        return frozenset(heading.anchor for _, heading in headings(self._text))

    @cached_property
    def sections(self) -> frozenset[str]:
        return frozenset(heading.section for _, heading in headings(self._text)) - {""}

    @cached_property
    def rows(self) -> frozenset[tuple[str, str]]:
        """The numbered rows of tables, each with its section."""
        above = dict(headings(self._text))
        found, section = set(), ""
        for index, line in enumerate(self._text.splitlines()):
            section = above[index].section if index in above else section
            row = _ROW.match(line)
            if row:
                found.add((section, row[1]))
        return frozenset(found)


class Library:
    """The targets of references: the committed files, the pages among them, and the numbers."""

    def __init__(self, files: Iterable[str], pages: dict[str, str], numbers: Iterable[str]) -> None:
        self.files = frozenset(files)
        self.pages = {path: Page(text) for path, text in pages.items()}
        self.numbers = frozenset(numbers)
        self.folders = frozenset(
            str(folder) for path in self.files for folder in PurePosixPath(path).parents
        )
        self._by_name: dict[str, list[str]] = {}
        for path in self.files:
            self._by_name.setdefault(PurePosixPath(path).name, []).append(path)

    def find(self, path: str, *, beside: str) -> str | None:
        """Find the file that a path means: beside a file, from the root, or by its last parts."""
        folder = PurePosixPath(beside).parent
        for candidate in (normpath(str(folder / path)), normpath(path)):
            if candidate in self.files:
                return candidate
        named = self._by_name.get(PurePosixPath(path).name, [])
        plain = path.lstrip("./")
        return next((one for one in sorted(named) if f"/{one}".endswith(f"/{plain}")), None)

    def find_linked(self, target: str, *, beside: str) -> str | None:
        """Find the file or folder that a link leads to, from the page that has the link."""
        path = normpath(str(PurePosixPath(beside).parent / target))
        return path if path in self.files | self.folders else None

    def has_folder(self, path: str, *, beside: str) -> bool:
        folder = PurePosixPath(beside).parent
        names = {normpath(path), normpath(str(folder / path))}
        return bool(names & self.folders)

    def has_record(self, number: str) -> bool:
        start = f"docs/adr/{int(number):04}-"
        return any(path.startswith(start) for path in self.files)


def broken_references(path: str, text: str, library: Library) -> Iterator[Broken]:
    """Give the references of one file that do not resolve, in the order of their kinds."""
    plain = _LINT_RULES.sub(_blank, text)
    plain = _SEGMENT_LIST.sub(_blank, plain)
    found = [*_broken_numbers(plain, library)]
    if ".md" in plain or "targets" in plain:
        found += [*_broken_pages(path, plain, library), *_broken_sections(plain, library)]
    if path.endswith(".md"):
        found += [*_broken_links(path, plain, library), *_broken_paths(path, plain, library)]
    if path in library.pages and path.startswith(NUMBERED) and path != INDEX:
        found += _broken_own_sections(plain, library.pages[path])
    if path.endswith((".py", ".rs", ".ts", ".tsx")):
        found += [
            (bare.start(), f"({bare['what']}) without its page") for bare in _BARE.finditer(plain)
        ]
    for position, reference in sorted(set(found)):
        yield Broken(path, text.count("\n", 0, position) + 1, reference)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _broken_pages(path: str, text: str, library: Library) -> Iterator[tuple[int, str]]:
    for found in _PAGE.finditer(text):
        if library.find(found["path"], beside=path) is None:
            yield found.start(), found["path"]


def _broken_sections(text: str, library: Library) -> Iterator[tuple[int, str]]:
    by_name = {PurePosixPath(path).name: page for path, page in library.pages.items()}
    for found in _CITED.finditer(text):
        page = by_name.get(f"{found['page']}.md")
        if page is None or not found["sections"]:
            continue
        sections = _sections(found["sections"])
        for section in sections:
            if section not in page.sections:
                yield found.start(), f"{found['page']}.md {section}"
        if found["row"] and not any(
            section.startswith(sections[-1]) and row == found["row"] for section, row in page.rows
        ):
            yield (
                found.start(),
                f"{found['page']}.md {sections[-1]}, {found['what']} {found['row']}",
            )


def _sections(cited: str) -> list[str]:
    """Give the sections of a list; after one with a point, a number without one is no section."""
    first, *others = re.findall(_SECTION, cited)
    return [first, *(one for one in others if "." in one or "." not in first)]


def _broken_own_sections(text: str, page: Page) -> Iterator[tuple[int, str]]:
    for pattern in (_OWN_SECTION, _OWN_BARE):
        for found in pattern.finditer(text):
            for section in _sections(found["sections"]):
                if section not in page.sections:
                    yield found.start(), f"section {section}"


def _broken_numbers(text: str, library: Library) -> Iterator[tuple[int, str]]:
    for found in _NUMBER.finditer(text):
        if found["number"] not in library.numbers:
            yield found.start(), found["number"]
    for found in _CASE.finditer(text):
        for number in re.findall(r"[ABC]\d+", found["cases"]):
            if number not in library.numbers:
                yield found.start(), f"Case {number}"
    for found in _RECORD.finditer(text):
        for number in re.findall(r"\d+", found["records"]):
            if not library.has_record(number):
                yield found.start(), f"ADR {number}"


def _broken_links(path: str, text: str, library: Library) -> Iterator[tuple[int, str]]:
    plain = _INLINE_CODE.sub(_blank, _CODE_BLOCK.sub(_blank, text))
    for found in _LINK.finditer(plain):
        target, _, anchor = found["target"].partition("#")
        if "://" in target or not re.search(r"[a-z]", found["target"]):
            continue
        file = library.find_linked(target, beside=path) if target else path
        is_whole = file in library.pages and anchor in library.pages[file].anchors
        if file is None or (anchor and not is_whole):
            yield found.start(), found["target"]


def _broken_paths(path: str, text: str, library: Library) -> Iterator[tuple[int, str]]:
    for found in _PATH.finditer(text):
        named = found["path"].rstrip(".")
        if named.endswith(".md") or BUILT in named:
            continue
        is_there = library.find(named, beside=path) or library.has_folder(named, beside=path)
        if not is_there:
            yield found.start(), named


def load() -> tuple[Library, dict[str, str]]:
    """Read the committed files: the library, and the texts to look for references in."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    files = [path for path in listed if (ROOT / path).is_file()]
    texts = {
        path: (ROOT / path).read_text()
        for path in files
        if Path(path).suffix in SUFFIXES or Path(path).name == "Makefile"
    }
    pages = {path: text for path, text in texts.items() if path.endswith(".md")}
    library = Library(files, pages, (one.number for one in numbers()))
    return library, {path: text for path, text in texts.items() if path not in EXCEPTIONS}


def find_broken() -> list[Broken]:
    """Give every reference of the repository that does not resolve."""
    library, texts = load()
    return [
        one
        for path, text in sorted(texts.items())
        for one in broken_references(path, text, library)
    ]


if __name__ == "__main__":
    sys.stdout.writelines(f"{broken}\n" for broken in find_broken())
