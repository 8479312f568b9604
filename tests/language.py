"""What a text for people must not contain: habit words, and sentences that are too long.

`texts_of_code` gives every text of a module: each string with two words or more, without
docstrings, SQL and shell scripts. `texts_of_console` gives every text of the console, and
`texts_of_api` every description in the schemas of both doors. `prose_of_code` gives the docstrings
and comments of a module for programmers, and `names_of_code` the names of its functions and
classes. `prose_of_comments` and `names_of_declarations` do so for Rust, TypeScript and Java, and
`texts_of_rust` gives every text of a source of Rust.
"""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
CONSOLE_TEXTS: Final = ROOT / "frontend/src/app/locales/en.json"
OPENAPI: Final = ROOT / "backend/api/rest/openapi.json"
SCHEMA: Final = ROOT / "backend/api/graphql/schema.graphql"
WORDS_MAX: Final = 25
_WORDS: Final = r"told|tells?|telling|nobody|somebody|everybody|anybody|whoever|whom|anew|amid"
HABITS: Final = re.compile(
    rf"(?<![-\w])({_WORDS}|counts|stock|the one (?:who|that)|of (?:its|their|his) own|good-bye)"
    r"(?![-\w])",
    re.IGNORECASE,
)
PROSE_HABITS: Final = re.compile(
    rf"(?<![-\w])({_WORDS}|of (?:its|their|his) own|let go|way back|good-bye)(?![-\w])",
    re.IGNORECASE,
)
"""Habit words of prose for programmers: `stock` is the protocol's own broker there."""
NAME_HABITS: Final = re.compile(rf"(?:^|_)({_WORDS}|teller|nobodys|untold|let_go|way_back)(?=_|$)")
PUBLIC_NAMES: Final = frozenset({"broker_count_told"})
"""Functions that are named like a field of the graph."""
_SQL: Final = re.compile(r"\b(SELECT|INSERT INTO|UPDATE [\w{}]+\s+SET|DELETE FROM)\b")
_SCRIPT: Final = re.compile(r"COMPREPLY|complete -c")
_PLACEHOLDER: Final = "{}"
_RUST_WITHOUT_TEXT: Final = re.compile(r"""^[ \t]*//.*$|'\\?"'""", re.MULTILINE)
_RUST_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_COMMENT: Final = re.compile(
    r"^[ \t]*/\*\*?.*?\*/|(?:^[ \t]*//[^\n]*(?:\n|\Z))+|(?<=\S) +// [^\n]*",
    re.DOTALL | re.MULTILINE,
)
_COMMENT_MARK: Final = re.compile(r"^\s*(?://[/!]?|/\*\*?|\*(?!/))?\s?")
_EXAMPLE: Final = re.compile(r"```.*?```", re.DOTALL)
_INNER_BREAK: Final = re.compile(r"(?<!\n)\n(?!\n)")
_DECLARATION: Final = re.compile(
    r"\s*(?:pub(?:\([\w: ]+\))? |export )?(?:const |async |unsafe |extern \"C\" )*"
    r"(?:fn|struct|enum|trait|type|mod|const|static|union|function|class|interface) (\w+)"
)


def faults_of(text: str, habits: re.Pattern[str] = HABITS) -> list[str]:
    """Name the habit words and the long sentences of a text."""
    sentences = re.split(r"(?<=[.!?:;])\s+|\n\s*\n|\n    ", text)
    return [
        *(f"habit word {word!r}: {text}" for word in habits.findall(text)),
        *(f"{len(one.split())} words: {one}" for one in sentences if len(one.split()) > WORDS_MAX),
    ]


def faults_of_code(path: Path) -> Iterator[str]:
    """Name the faults of docstrings, comments and names of a source, each with its line.

    The source is one of Python, Rust, TypeScript or Java.
    """
    is_python = path.suffix in {".py", ".pyi"}
    for line, text in (prose_of_code if is_python else prose_of_comments)(path):
        yield from (f"{path}:{line}: {fault}" for fault in faults_of(text, PROSE_HABITS))
    for line, name in (names_of_code if is_python else names_of_declarations)(path):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        if NAME_HABITS.search(words) and name not in PUBLIC_NAMES:
            yield f"{path}:{line}: habit word in the name {name}"


def texts_of_code(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the content of every text in a module."""
    tree = ast.parse(path.read_text())
    for node, text in _strings(tree, frozenset(_docstrings(tree))):
        if _has_words(text) and not _SQL.search(text) and not _SCRIPT.search(text):
            yield node.lineno, text


def prose_of_code(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the content of every docstring and comment of a module.

    The lines of one comment are joined.
    """
    source = path.read_text()
    for node in _statements(_parsed(path)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, inspect.cleandoc(text)
    last = 0
    comment: list[str] = []
    for number, line in enumerate(source.splitlines(), start=1):
        if line.lstrip().startswith("#"):
            comment.append(line.strip().lstrip("# "))
            last = number
        else:
            if comment:
                yield last, " ".join(comment)
                comment.clear()
            if "  # " in line:
                yield number, line.partition("  # ")[2]


def names_of_code(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the name of every function and class of a module."""
    for node in _statements(_parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def prose_of_comments(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the content of every comment of Rust, TypeScript or Java, without examples.

    The lines of one paragraph are joined.
    """
    source = path.read_text()
    for found in _COMMENT.finditer(source):
        lines = (_COMMENT_MARK.sub("", line) for line in found[0].splitlines())
        text = _EXAMPLE.sub("", "\n".join(lines).removesuffix("*/"))
        yield source.count("\n", 0, found.end() - 1) + 1, _INNER_BREAK.sub(" ", text).strip()


def texts_of_rust(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the content of every text in a Rust source."""
    source = _RUST_WITHOUT_TEXT.sub("", path.read_text())
    for found in _RUST_STRING.finditer(source):
        text = re.sub(r"\{[^}]*\}", _PLACEHOLDER, re.sub(r"\\\n\s*", "", found[1]))
        if _has_words(text):
            yield source.count("\n", 0, found.start()) + 1, text


def names_of_declarations(path: Path) -> Iterator[tuple[int, str]]:
    """Give the line and the name of every function, type, constant and module of such a source."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if found := _DECLARATION.match(line):
            yield number, found[1]


def texts_of_console(path: Path = CONSOLE_TEXTS) -> Iterator[tuple[str, str]]:
    """Give the key and the content of every text of the console, without placeholders."""
    yield from _leaves(json.loads(path.read_text()), "")


def texts_of_api() -> Iterator[str]:
    """Give every description in the OpenAPI document and in the schema of the graph."""
    yield from _descriptions(json.loads(OPENAPI.read_text()))
    yield from re.findall(r'"""(.+?)"""', SCHEMA.read_text(), re.DOTALL)


def _has_words(text: str) -> bool:
    """Return whether a text has two words or more."""
    return re.search(r"\w\W*\s\W*\w", text) is not None


def _descriptions(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, inner in node.items():
            if key in {"description", "summary"} and isinstance(inner, str):
                yield inner
            else:
                yield from _descriptions(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _descriptions(inner)


def _leaves(entries: dict[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, inner in entries.items():
        if isinstance(inner, dict):
            yield from _leaves(inner, f"{prefix}{key}.")
        else:
            yield prefix + key, re.sub(r"\{\{\w+\}\}", _PLACEHOLDER, inner)


@lru_cache(maxsize=1)
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for inner in getattr(node, name, ()):
            if isinstance(inner, ast.stmt):
                yield inner
            yield from _statements(inner)


def _docstrings(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


def _strings(node: ast.AST, without: frozenset[int]) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(node, ast.JoinedStr):
        yield node, "".join(_part(one) for one in node.values)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from _strings(part.value, without)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str) and id(node) not in without:
            yield node, node.value
    else:
        for inner in ast.iter_child_nodes(node):
            yield from _strings(inner, without)


def _part(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else _PLACEHOLDER
