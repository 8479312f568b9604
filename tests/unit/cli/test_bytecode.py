"""Where `regent up` keeps compiled Python."""

import os
import sys

import pytest

from backend.cli.processes import _keep_bytecode


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):
        monkeypatch.setenv(name, "")
    for name in ("dont_write_bytecode", "pycache_prefix"):
        monkeypatch.setattr(sys, name, getattr(sys, name))


def test_a_directory_that_exists_keeps_the_bytecode_where_the_environment_forbids_it(tmp_path):
    # Case C12: every process of a start compiled every module again.
    sys.dont_write_bytecode = True

    _keep_bytecode(tmp_path)

    assert sys.pycache_prefix == os.environ["PYTHONPYCACHEPREFIX"] == str(tmp_path / "bytecode")
    assert not sys.dont_write_bytecode
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ


def test_a_directory_that_does_not_exist_yet_gets_bytecode_from_the_started_processes_alone(
    tmp_path,
):
    sys.dont_write_bytecode = True
    data_dir = tmp_path / "data"

    _keep_bytecode(data_dir)

    assert sys.dont_write_bytecode
    assert os.environ["PYTHONPYCACHEPREFIX"] == str(data_dir / "bytecode")
    assert not data_dir.exists()


def test_bytecode_stays_where_python_keeps_it_by_itself(tmp_path):
    sys.dont_write_bytecode = False

    _keep_bytecode(tmp_path)

    assert os.environ["PYTHONPYCACHEPREFIX"] == ""
