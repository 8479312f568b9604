"""The help of every command is what is kept, and says how the command is used."""

import subprocess
import sys
from itertools import takewhile

import pytest

from backend.cli.app import find_command, reflow, run
from backend.cli.errors import CommandError, ExitCode
from backend.cli.rest import LISTS
from backend.domain.errors import ErrorKind
from tests.cli_help import FOLDER, commands, pages
from tests.domain_errors import every_error

COMPARE = """
from importlib import import_module
from cyclopts import App
from backend.cli.app import COMMANDS
for names, place, line in COMMANDS:
    module, _, name = place.partition(":")
    noun = getattr(import_module(f"backend.cli.{module}"), name)
    if isinstance(noun, App):
        told = noun.help, list(noun.name)
    else:
        told = noun.__doc__.splitlines()[0], names.split()
    if told != (line, names.split()):
        print(place, *told)
"""


def test_the_kept_help_is_what_the_commands_print():
    wanted = pages()

    assert {path.name for path in FOLDER.glob("*.txt")} == set(wanted), "run `make help-pages`"
    for name, page in wanted.items():
        assert (FOLDER / name).read_text() == page, "run `make help-pages`"


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_every_command_says_what_it_does_and_shows_an_example(path):
    command = find_command(path)
    is_noun = command.default_command is None

    page = pages()[f"{path[0]}.txt"].split(f"$ regent {' '.join(path)} --help\n")[1]
    assert is_noun or path[0] == "mqadmin" or f"    regent {path[0]}" in page
    assert "no-help" not in page


def test_the_lines_that_nouns_are_listed_with_are_their_own():
    # A noun is listed without being imported, so its line is kept twice; once it was found by the
    # command line the listed one is all it has.
    ended = subprocess.run(
        [sys.executable, "-c", COMPARE], capture_output=True, text=True, check=True, timeout=60
    )

    assert ended.stdout.split("\n")[:-1] == []


def test_paragraphs_and_entries_are_one_line_each_and_examples_stay():
    text = """Do it.

Why it is done, over
two lines.

    regent run    as it
    stands here

Args:
    name: What it is
        called.
    size: How large.

Examples:
    regent do it
        --well
"""

    assert reflow(text).splitlines() == [
        "Do it.",
        "",
        "Why it is done, over two lines.",
        "",
        "    regent run    as it",
        "    stands here",
        "",
        "Args:",
        "    name: What it is called.",
        "    size: How large.",
        "",
        "Examples:",
        "    regent do it",
        "        --well",
    ]


def test_what_names_nothing_is_followed_by_the_command_that_lists_what_there_is():
    lists = {one.code for one in every_error() if one.kind is ErrorKind.NOT_FOUND}

    assert set(LISTS) == lists
    for line in LISTS.values():
        words = tuple(takewhile(str.islower, line.split()[1:]))
        assert words in set(commands()), line


def test_an_option_before_the_command_is_an_error_that_says_where_it_belongs(capsys):
    assert run(["--data=/tmp/one", "topic", "list"]) == ExitCode.USAGE

    reported = capsys.readouterr().err
    assert reported.startswith("error: --data stands before the command\n")
    assert "next: regent topic list --data" in reported


TOPIC_HELP = "regent topic create --help"


@pytest.mark.parametrize(
    ("line", "what", "why", "next_step"),
    [
        (
            "replica list broker-a",
            "unexpected argument: 'broker-a'",
            "did you mean regent replica get broker-a?",
            "regent replica get broker-a, or regent replica list --help",
        ),
        ("cluster list a b", "unexpected arguments: 'a', 'b'", None, "regent cluster list --help"),
        ("topic get a b c", "unexpected arguments: 'b', 'c'", None, "regent topic get --help"),
        (
            "broker list --json",
            "unknown option: --json",
            "JSON is asked for with -o json",
            "regent broker list … -o json, or regent broker list --help",
        ),
        ("up --json", "unknown option: --json", None, "regent up --help"),
        ("topic create", "regent topic create needs NAME", None, TOPIC_HELP),
        ("topic create x --queues", "--queues needs a value", None, TOPIC_HELP),
        (
            "topic create x --quues 4",
            "unknown option: --quues",
            "did you mean --queues?",
            TOPIC_HELP,
        ),
        (
            "topicz list",
            "regent has no command 'topicz'",
            "did you mean regent topic?",
            "regent topic --help, or regent --help",
        ),
        (
            "topic show",
            "regent topic has no command 'show'",
            "did you mean regent topic get?",
            "regent topic get --help, or regent topic --help",
        ),
        (
            "elect broker-a",
            "regent has no command 'elect'",
            "did you mean regent controller elect?",
            "regent controller elect --help, or regent --help",
        ),
        (
            "master elect broker-a",
            "regent has no command 'master'",
            "did you mean regent controller?",
            "regent controller --help, or regent --help",
        ),
        (
            "updateTopic -n localhost:9876",
            "regent has no command 'updateTopic'",
            "did you mean regent mqadmin updateTopic?",
            "regent mqadmin updateTopic --help, or regent --help",
        ),
        ("xyzzy", "regent has no command 'xyzzy'", None, "regent --help"),
        (
            "broker list --output xml",
            'invalid value "xml" for --output',
            'choose from: "table", "json", "yaml"',
            "regent broker list --help",
        ),
    ],
)
def test_a_line_that_is_no_command_is_an_error_in_the_form_of_every_error(
    capsys, line, what, why, next_step
):
    assert run(line.split()) == ExitCode.USAGE

    reported = str(CommandError(what, why=why, next_step=next_step))
    assert capsys.readouterr().err == f"{reported}\n"
