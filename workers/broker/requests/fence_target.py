"""Name what a fenced request changes; the processors of such requests say it beside themselves."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FenceTarget:
    """Name what a request changes, and say how its present value is read."""

    name: str
    read: Callable[[], Any]
    """May have to be awaited."""
    is_own: bool = True
    """Whether it is of this broker alone, so that no other one needs to know of the change."""
