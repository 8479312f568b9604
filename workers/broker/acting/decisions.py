"""Keep the decisions of producers whose transactions end while their master is absent (D18).

An acting master stores nothing in the log, so a decision waits in a file until the master has it.
It is on the disk before the producer gets its answer. The message of a commit is visible once the
master serves again.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies.base import Body
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.tables.state_file import StateFile, StateSaver


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

    async def keep(self, log_position: int, fields: Mapping[str, str]) -> None:
        """Keep a decision; it is on the disk when this returns.

        Raises:
            OSError: the disk refused.
        """
        self._kept[log_position] = dict(fields)
        self._change_count += 1
        await self._saver.save()

    async def forget(self, log_position: int) -> None:
        """Drop a decision that the master has.

        Raises:
            OSError: the disk refused; the master gets the decision again, which changes nothing.
        """
        if self._kept.pop(log_position, None) is not None:
            self._change_count += 1
            await self._saver.save()

    def _snapshot(self) -> bytes:
        return java_json.encode(DecisionFile(decisions=self._kept))
