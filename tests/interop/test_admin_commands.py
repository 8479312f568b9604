"""The commands of mqadmin that regent knows are those that stock 5.5.0 has registered (G16)."""

import subprocess
from pathlib import Path

import pytest

from backend.cli.mqadmin.stock import stock_commands
from tests.interop.java import BROKER, build, class_path, jvm_options

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]
KEPT = Path(__file__).resolve().parents[2] / "backend/cli/mqadmin/stock_commands.tsv"


def test_the_commands_and_options_are_those_of_stock(tmp_path):
    build()

    told = subprocess.run(
        [
            *("java", *jvm_options(BROKER), f"-Duser.home={tmp_path}", "-cp", class_path(BROKER)),
            "regent.interop.AdminCommands",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout
    lines = [
        line.removeprefix("command ") for line in told.splitlines() if line.startswith("command ")
    ]

    assert len(lines) == len(stock_commands()) > 90
    assert lines == KEPT.read_text().splitlines(), "take stock's lines over, then translations.py"
