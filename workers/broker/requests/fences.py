"""Record the last operation of each target, so that a replaced worker changes nothing.

A fence is a number that rises with every worker that takes an operation over, and from operation to
operation (D20). The record of a change is on disk no later than the change. So a repeated step has
one effect and returns the same former value, after any crash.

Changes of shared state are recorded in the log, no later than the change itself (D14, D29). So the
next master refuses and answers in the same way. Changes of one broker are recorded in a separate
file.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

import msgspec

from backend.remoting.bodies.base import Body
from backend.remoting.headers import FenceHeader
from workers.broker.tables.logged_table import IN_LOG, LOG_POSITION, LoggedTable
from workers.broker.tables.state_file import StateFile, StateSaver

TARGET_COUNT_MAX: Final = 10_000
CHANGE_COUNT_MAX: Final = 2_000


class Change(Body, frozen=True, kw_only=True):
    """One change by an operation: the value before it, and after the change the new value."""

    before: Any = None
    after: Any = None
    is_made: bool = False


class FenceFile(Body, frozen=True, kw_only=True):
    """The content of a file of fences, the least recently used first."""

    is_in_log: bool = msgspec.field(name=IN_LOG, default=False)
    log_position: int = msgspec.field(name=LOG_POSITION, default=0)
    fences: dict[str, int] = msgspec.field(default_factory=dict)
    changes: dict[str, Change] = msgspec.field(default_factory=dict)


class Overtaken(Exception):
    """A change has a lower fence than an earlier change."""

    def __init__(self, target: str, fence: int, *, held: int) -> None:
        super().__init__(
            f"{target} was changed under fence {held} since; an operation under {fence}"
            " is overtaken"
        )
        self.held = held


@dataclass(slots=True)
class _Turn:
    lock: asyncio.Lock
    user_count: int = 0


class FenceChanges(NamedTuple):
    """Fences by their targets, and changes by their keys: None for a refused change."""

    fences: dict[str, int]
    changes: dict[str, Change | None]


class _Kind(Enum):
    FENCE = "fence"
    CHANGE = "change"


class Fences(LoggedTable[tuple[_Kind, str]]):
    """The highest fence of each target, and the latest changes by their keys."""

    def __init__(self, file: StateFile) -> None:
        """Load the file.

        Raises:
            StateFileUnreadable: the file and its backup are both damaged.
        """
        stored = file.load(FenceFile)
        super().__init__(stored)
        stored = stored or FenceFile()
        self._fences = OrderedDict(stored.fences)
        self._changes = OrderedDict(stored.changes)
        self.saver = StateSaver(file, self.as_file, count=lambda: self.change_count)
        self._turns: dict[str, _Turn] = {}

    @property
    def fences(self) -> Mapping[str, int]:
        """Return the highest fence of each target, the least recently used first."""
        return self._fences

    @property
    def changes(self) -> Mapping[str, Change]:
        """Return the latest changes by their keys, the least recently requested first."""
        return self._changes

    @contextlib.asynccontextmanager
    async def turn(self, target: str) -> AsyncIterator[None]:
        """Serialize the changes of one target."""
        turn = self._turns.setdefault(target, _Turn(asyncio.Lock()))
        turn.user_count += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.user_count -= 1
            if not turn.user_count:
                del self._turns[target]

    async def admit(self, target: str, header: FenceHeader, present: Any) -> Change:
        """Start a change, and return its record if it was requested before.

        The value before the change is then on disk, or in no later record than the change.

        Raises:
            Overtaken: another change with a higher fence came first.
            OSError: the disk refused.
        """
        held = self._fences.get(target, 0)
        if header.fence < held:
            raise Overtaken(target, header.fence, held=held)
        change = self._changes.get(header.step_key) or Change(before=present)
        self._keep(target, header, change)
        await self._save()
        return change

    async def conclude(self, target: str, header: FenceHeader, change: Change) -> None:
        """Record that a change is made.

        Raises:
            OSError: the disk refused; a repeated request makes the change again.
        """
        self._keep(target, header, change)
        await self._save()

    def forget(self, header: FenceHeader) -> None:
        """Drop a change that was refused, and so had no effect."""
        if not self.is_following:
            self._keep_change(header.step_key, None)

    def take_changes(self) -> FenceChanges:
        """Return the changes since the last call, the latest last."""
        taken = FenceChanges({}, {})
        for kind, key in self._take():
            if kind is _Kind.CHANGE:
                taken.changes[key] = self._changes.get(key)
            elif key in self._fences:
                taken.fences[key] = self._fences[key]
        return taken

    def apply(self, fences: Mapping[str, int], changes: Mapping[str, Change | None]) -> None:
        """Take over the changes of a master."""
        for target, fence in fences.items():
            self._keep_fence(target, fence)
        for key, change in changes.items():
            self._keep_change(key, change)

    def replace(self, fences: Mapping[str, int], changes: Mapping[str, Change]) -> None:
        """Replace the content with a master's."""
        self._fences, self._changes = OrderedDict(fences), OrderedDict(changes)
        self.change_count += 1

    async def _save(self) -> None:
        """Write it to the file, unless the log contains it in a record no later than the change."""
        if not self.is_in_log:
            await self.saver.save()

    def _keep(self, target: str, header: FenceHeader, change: Change) -> None:
        if not self.is_following:
            self._keep_fence(target, header.fence)
            self._keep_change(header.step_key, change)

    def _keep_fence(self, target: str, fence: int) -> None:
        self._fences[target] = fence
        self._fences.move_to_end(target)
        if len(self._fences) > TARGET_COUNT_MAX:
            self._fences.popitem(last=False)
        self._note((_Kind.FENCE, target))

    def _keep_change(self, key: str, change: Change | None) -> None:
        self._changes.pop(key, None)
        if change is not None:
            self._changes[key] = change
        if len(self._changes) > CHANGE_COUNT_MAX:
            self._changes.popitem(last=False)
        self._note((_Kind.CHANGE, key))

    def _document(self) -> dict[str, Any]:
        return {"fences": self._fences, "changes": self._changes}
