"""Shells complete commands and options by the script that regent prints."""

import functools
import os
import shutil
import subprocess
import sys

import pytest
from cyclopts.completion import _base, _engine, fish, zsh

from backend.cli import completion
from backend.cli.app import run
from backend.cli.context_file import Context, change_contexts
from tests.cli_help import commands
from tests.long_form import few

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_regent
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path_factory):
    """Keep scripts in a folder that all tests of a process share."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp()))


@pytest.fixture(autouse=True, scope="module")
def _markup_read_once():
    """Have the text of an option read once, not again for each command that has the option."""
    read_once = functools.cache(_base.strip_markup)
    with pytest.MonkeyPatch.context() as patch:
        for module in (_engine, fish, zsh):
            patch.setattr(module, "strip_markup", read_once)
        yield


@pytest.fixture
def script(capsys, tmp_path):
    def write(shell):
        assert run(["completion", shell]) == 0
        path = tmp_path / f"regent.{shell}"
        path.write_text(capsys.readouterr().out)
        return path

    return write


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["regent", "fin"], {"finding", "findings"}),
        (["regent", "topic", ""], {"create", "delete", "get", "list", "set"}),
        (["regent", "broker", "config", "s"], {"set"}),
        (["regent", "topic", "create", "--que"], {"--queues"}),
        (["regent", "audit", "list", "--output", ""], {"table", "json", "yaml"}),
    ],
)
def test_bash_completes_nouns_verbs_options_and_choices(script, words, wanted):
    asked = subprocess.run(
        ["bash", "-c", ASK, "bash", script("bash"), *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert wanted <= set(asked.stdout.split())
    assert asked.stderr == ""


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["regent", "--context", ""], {"prod", "staging-eu", "staging-us"}),
        (["regent", "topic", "list", "--context", "sta"], {"staging-eu", "staging-us"}),
        (["regent", "topic", "list", "--context", "=", "p"], {"prod"}),
        (["regent", "context", "use", "staging-u"], {"staging-us"}),
        (["regent", "contexts", "delete", ""], {"prod", "staging-eu", "staging-us"}),
        (["regent", "context", "re"], {"rename"}),
        (["regent", "context", "set", "--cl"], {"--cluster"}),
    ],
)
def test_bash_completes_names_of_contexts(server, script, words, wanted, tmp_path):
    assert server is not None
    with change_contexts() as contexts:
        for name in ("prod", "staging-eu", "staging-us"):
            contexts.put(Context(name, "http://regent.test"))
    command = tmp_path / "regent"
    main = "from backend.cli.app import main; main()"
    command.write_text(f"#!{sys.executable}\n{main}\n")
    command.chmod(0o700)

    asked = subprocess.run(
        [
            "bash",
            "-c",
            ASK.replace("_regent\n", "_regent_or_contexts\n"),
            "bash",
            script("bash"),
            *words,
        ],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert set(asked.stdout.split()) == wanted
    assert asked.stderr == ""


@pytest.mark.parametrize("shell", few(["zsh", "fish"], 1))
def test_the_script_names_every_command(script, shell):
    text = script(shell).read_text()

    assert [path for path in commands() if path[-1] not in text] == []


@pytest.mark.parametrize("shell", few(["zsh", "fish"], 1))
def test_the_shell_can_read_its_script(script, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")

    subprocess.run([shell, "-n", script(shell)], check=True, timeout=60)


def test_a_script_is_made_once_for_a_program(capsys, monkeypatch, tmp_path):
    made = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(completion, "make_script", lambda shell: made.append(shell) or "script")

    for _ in range(2):
        assert run(["completion", "bash"]) == 0
    assert made == ["bash"]
    monkeypatch.setattr(completion.cyclopts, "__version__", "another")
    assert run(["completion", "bash"]) == 0

    assert made == ["bash", "bash"]
    assert capsys.readouterr().out == "script\n" * 3
    # What an earlier program left behind is gone.
    assert len(list((tmp_path / "regent").iterdir())) == 1


def test_a_script_that_can_not_be_kept_is_printed(capsys, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(completion, "make_script", lambda _shell: "script")

    assert run(["completion", "bash"]) == 0

    assert capsys.readouterr().out == "script\n"
