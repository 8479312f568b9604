"""The processor of each request: parse, act, answer.

A processor gets the broker, the caller and the command. It returns the answer. It returns None when
the answer comes later (a held pull), or an awaitable when data must first be durable. It changes
memory before it returns, so requests take effect in the order of their arrival.
"""

from importlib import import_module
from pkgutil import iter_modules


def load() -> None:
    """Import every module of processors, so that each request is declared."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
