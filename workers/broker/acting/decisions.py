"""Keep the decisions of producers whose transactions end while their master is absent (D18).

An acting master stores nothing in the log, so a decision waits in a file until the master has it.
It is on the disk before the producer gets its answer. The message of a commit is visible once it
has escaped to another broker group, or else once the master serves again. Of a message that has
escaped the master gets a roll back: then it writes only that the transaction is decided.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies.base import Body
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.tables.state_file import StateFile, StateSaver

COMMIT: Final = "8"
ROLL_BACK: Final = "12"
DECISION: Final = "commitOrRollback"
ESCAPED_AS: Final = "regentEscapedAs"
"""The field that says what a message was that has escaped: committed or undecided."""


def decision_path(settings: BrokerSettings) -> Path:
    """Return where the decisions of one broker are."""
    return settings.config_dir / "regentDecisions.json"


class DecisionFile(Body, frozen=True, kw_only=True):
    """The fields of each request (37), by the log position of its half message."""

    decisions: dict[int, dict[str, str]] = msgspec.field(default_factory=dict)


class Decisions:
    """The decisions that a replica keeps for its master; belongs to the loop's thread."""

    def __init__(self, path: Path) -> None:
        """Load what a former process kept.

        Raises:
            StateFileUnreadable: the content of the file is invalid.
        """
        file = StateFile(path)
        stored = file.load(DecisionFile)
        self._kept = dict(stored.decisions) if stored is not None else {}
        self._change_count = 0
        self._saver = StateSaver(file, self._snapshot, count=lambda: self._change_count)

    @property
    def kept(self) -> Mapping[int, dict[str, str]]:
        """Return the fields of the requests by the log position of the half message."""
        return self._kept

    @property
    def escaped(self) -> list[int]:
        """Return the log positions of half messages that have escaped."""
        return [position for position, fields in self._kept.items() if ESCAPED_AS in fields]

    def is_commit_due(self, log_position: int) -> bool:
        """Return whether a message is committed, and has not escaped."""
        fields = self._kept.get(log_position, {})
        return fields.get(DECISION) == COMMIT and ESCAPED_AS not in fields

    async def keep(self, log_position: int, fields: Mapping[str, str]) -> None:
        """Keep a decision; it is on the disk when this returns.

        Raises:
            OSError: the disk refused.
        """
        self._kept[log_position] = dict(fields)
        self._change_count += 1
        await self.save()

    def note_escape(self, log_position: int, fields: Mapping[str, str], escaped_as: str) -> None:
        """Let the master only note that a transaction is decided: another group has its message."""
        changed = {DECISION: ROLL_BACK, ESCAPED_AS: escaped_as}
        self._kept[log_position] = dict(fields) | changed
        self._change_count += 1

    def forget(self, log_position: int) -> None:
        """Drop a decision that the master has; if it gets the decision again, nothing changes."""
        if self._kept.pop(log_position, None) is not None:
            self._change_count += 1

    async def save(self) -> None:
        """Save the decisions if they have changed.

        Raises:
            OSError: the disk refused.
        """
        await self._saver.save()

    def _snapshot(self) -> bytes:
        return java_json.encode(DecisionFile(decisions=self._kept))
