"""No function over 70 lines, no module without a real name."""

import ast
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FUNCTION_LINES_MAX = 70
GENERATED = ("frontend/src/gql/", "frontend/src/route-tree.gen.ts", "backend/api/graphql/schema")
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


def source_files(*suffixes: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return [
        ROOT / name
        for name in listed
        if name.endswith(suffixes) and not name.startswith(GENERATED) and (ROOT / name).is_file()
    ]


def test_no_python_function_is_longer_than_70_lines():
    too_long = {}

    for path in source_files(".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION_LINES_MAX:
                    too_long[f"{path.relative_to(ROOT)}:{node.name}"] = length

    assert too_long == {}


@pytest.mark.parametrize("suffix", [".py", ".rs", ".ts", ".tsx"])
def test_no_module_has_a_vague_name(suffix: str):
    vague = [path for path in source_files(suffix) if path.stem in VAGUE_NAMES]

    assert vague == []


def test_every_backend_and_workers_module_opens_with_its_responsibility():
    modules = [
        path
        for path in source_files(".py")
        if path.relative_to(ROOT).parts[0] in ("backend", "workers") and path.read_text().strip()
    ]

    silent = [path for path in modules if not ast.get_docstring(ast.parse(path.read_text()))]

    assert modules
    assert silent == []
