"""What is committed travels: no registry address, no path of a machine, pinned dependencies."""

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE_ADDRESS = re.compile(rb'https?://[^\s"\']+\.(?:whl|tgz|tar\.gz|crate|jar|deb)\b')
INDEX_OPTION = re.compile(rb"^\s*(?:--index-url|--extra-index-url|-i )", re.MULTILINE)


def committed_files() -> list[Path]:
    names = subprocess.run(
        ["git", "ls-files"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_committed_file_names_a_package_download():
    offenders = [
        path.relative_to(ROOT)
        for path in committed_files()
        if PACKAGE_ADDRESS.search(content := path.read_bytes()) or INDEX_OPTION.search(content)
    ]

    assert offenders == []


def test_every_python_requirement_is_pinned_with_hashes():
    text = (ROOT / "requirements.lock").read_text()

    blocks = re.findall(r"^[a-z0-9][^\n]*(?:\n    [^\n]*)*", text, re.MULTILINE)

    assert len(blocks) > 50
    assert [b.splitlines()[0] for b in blocks if "==" not in b or "--hash=sha256:" not in b] == []


def test_every_npm_package_is_pinned_with_an_integrity_and_without_an_address():
    lock = json.loads((ROOT / "frontend" / "package-lock.json").read_text())

    packages = {name: entry for name, entry in lock["packages"].items() if name}

    assert packages
    assert [n for n, e in packages.items() if not e.get("link") and "integrity" not in e] == []
    assert [n for n, e in packages.items() if "resolved" in e] == []


def test_every_crate_is_pinned_with_a_checksum():
    text = (ROOT / "workers" / "engine" / "Cargo.lock").read_text()

    crates = [block for block in text.split("[[package]]")[1:] if "source = " in block]

    assert crates
    assert [block for block in crates if "checksum = " not in block] == []
