"""Keep the rounds of a measurement that may be made in parts."""

import json
from dataclasses import asdict
from pathlib import Path

from tests.bench.failover.rounds import Round


class RoundLog:
    """All rounds so far: those of a file, which is written after each, or of this run only."""

    def __init__(self, path: Path | None) -> None:
        """Begin with what the file holds, if there is one.

        Raises:
            ValueError: it holds something else than rounds.
        """
        self._path = path
        self.rounds: list[Round] = []
        if path is not None and path.exists():
            try:
                self.rounds = [Round(**kept) for kept in json.loads(path.read_text())]
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path} holds no rounds; name another file") from error

    def add(self, one: Round) -> None:
        """Keep a round; a stop at any moment costs no earlier one."""
        self.rounds.append(one)
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            written = self._path.with_suffix(".new")
            written.write_text(json.dumps([asdict(kept) for kept in self.rounds], indent=1) + "\n")
            written.replace(self._path)

    def count_valid(self, kind: str, group: str) -> int:
        """Count a group's rounds of a kind that are not void."""
        return sum(
            one.kind == kind and one.group == group and not one.is_void for one in self.rounds
        )
