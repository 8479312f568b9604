"""How the command line ends when its reader leaves early."""

import os
import subprocess
import sys

TALK = """
from backend.cli.app import app, main
app.command(lambda: print("a line"), name="talk")
main(["talk"])
"""


def test_a_reader_that_has_enough_ends_a_command_without_a_trace():
    reader, writer = os.pipe()
    os.close(reader)

    ended = subprocess.run(
        [sys.executable, "-c", TALK],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )

    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")
