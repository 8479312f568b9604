"""The Go client of RocketMQ: a program with the scenario of moves, built once."""

import fcntl
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.interop.client import RunningScenario, option_words, running

SOURCE = Path(__file__).with_name("go_moves")
PROGRAM = Path(__file__).parent / "target" / "go-client" / "moves"
GO_CACHE_TIMEOUT_S = 600


def build() -> None:
    """Build the program, unless it is newer than its sources.

    Of several test processes one builds, and the others wait for it.
    """
    # Not `go.mod`: Go itself locks that one.
    with (SOURCE / "main.go").open() as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        newest = max(source.stat().st_mtime for source in SOURCE.iterdir())
        if PROGRAM.exists() and PROGRAM.stat().st_mtime >= newest:
            return
        assert shutil.which("go"), "Go builds its client; Debian: apt-get install golang"
        subprocess.run(
            ["go", "build", "-mod=readonly", "-o", str(PROGRAM), "."],
            cwd=SOURCE,
            check=True,
            timeout=GO_CACHE_TIMEOUT_S,
        )


@dataclass(frozen=True, slots=True)
class GoClient:
    """The client, pointed at a name server."""

    name_server: str

    @contextmanager
    def start(self, scenario: str, /, **options: Any) -> Iterator[RunningScenario]:
        """Start the scenario of moves; it is ended with the block."""
        assert scenario == "static-moves"
        command = [str(PROGRAM), "--name-server", self.name_server, *option_words(options)]
        with running(f"{scenario} of the Go client", command) as started:
            yield started
