"""The help of every command is what is kept, and says how the command is used."""

import pytest

from tests.cli_help import FOLDER, commands, find_command, pages


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
    # Listed without being imported, so the line is kept in two places.
    for (name,) in (path for path in commands() if len(path) == 1):
        noun = find_command((name,))
        if noun.default_command is None:
            imported = pages()[f"{name}.txt"]
            assert noun.help in imported
