"""Remember which operation changed what last, so that a worker that was overtaken changes nothing.

A fence is a number that rises with every worker that takes an operation over, and from operation to
operation (D20). What is kept of a change is on disk before the change begins: a step that is asked
for again, whoever stopped in between, has one effect and tells the same value before it.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies.base import Body
from backend.remoting.headers import FenceHeader
from workers.broker.state_file import StateFile, StateSaver

TARGET_COUNT_MAX: Final = 10_000
CHANGE_COUNT_MAX: Final = 2_000


class Change(Body, frozen=True, kw_only=True):
    """One change by an operation: the value before it, and once it is made the value after."""

    before: Any = None
    after: Any = None
    is_made: bool = False


class FenceFile(Body, frozen=True, kw_only=True):
    """The content of `regentFences.json`; what was used longest ago comes first."""

    fences: dict[str, int] = msgspec.field(default_factory=dict)
    changes: dict[str, Change] = msgspec.field(default_factory=dict)


class Overtaken(Exception):  # noqa: N818 - named for what it says, as all errors here
    """A change came under a lower fence than one that was seen before."""

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


class Fences:
    """The highest fence of each target, and the latest changes by their keys."""

    def __init__(self, file: StateFile) -> None:
        """Load the file.

        Raises:
            StateFileUnreadable: it and its backup are both damaged.
        """
        stored = file.load(FenceFile) or FenceFile()
        self._fences = OrderedDict(stored.fences)
        self._changes = OrderedDict(stored.changes)
        self._saver = StateSaver(file, self._as_file)
        self._turns: dict[str, _Turn] = {}

    @contextlib.asynccontextmanager
    async def turn(self, target: str) -> AsyncIterator[None]:
        """Have changes of one target come one behind another."""
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
        """Let a change begin, and give what is known of it: the value before it is on disk then.

        Raises:
            Overtaken: another one came first that outranks it.
            OSError: the disk refused.
        """
        held = self._fences.get(target, 0)
        if header.fence < held:
            raise Overtaken(target, header.fence, held=held)
        change = self._changes.get(header.step_key) or Change(before=present)
        self._keep(target, header, change)
        await self._saver.save()
        return change

    async def conclude(self, target: str, header: FenceHeader, change: Change) -> None:
        """Note that a change is made.

        Raises:
            OSError: the disk refused; asked for again, the change is made again.
        """
        self._keep(target, header, change)
        await self._saver.save()

    def forget(self, header: FenceHeader) -> None:
        """Drop a change that was refused, so had no effect."""
        self._changes.pop(header.step_key, None)
        self._saver.touch()

    def _keep(self, target: str, header: FenceHeader, change: Change) -> None:
        self._fences[target] = header.fence
        self._fences.move_to_end(target)
        self._changes[header.step_key] = change
        self._changes.move_to_end(header.step_key)
        while len(self._fences) > TARGET_COUNT_MAX:
            self._fences.popitem(last=False)
        while len(self._changes) > CHANGE_COUNT_MAX:
            self._changes.popitem(last=False)
        self._saver.touch()

    def _as_file(self) -> bytes:
        return java_json.encode(FenceFile(fences=dict(self._fences), changes=dict(self._changes)))
