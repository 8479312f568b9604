"""What the agent does for each request: parse, act, answer.

A processor gets the broker, the caller and the command. It returns the answer, or None when the
answer comes later by itself (a held pull), or an awaitable when something must first be durable.
What it changes in memory it changes before it returns, so requests act in the order they came.
"""

from importlib import import_module
from pkgutil import iter_modules


def load() -> None:
    """Import every module of processors, so that each request is declared."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
