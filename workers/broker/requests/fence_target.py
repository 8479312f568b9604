"""Name the target of a fenced request; the processors of such requests declare it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FenceTarget:
    """Name the target of a request, and how to read its present value."""

    name: str
    read: Callable[[], Any]
    """The result may be awaitable."""
    is_own: bool = True
    """Whether the target belongs to this broker alone, so that other brokers need no copy."""
