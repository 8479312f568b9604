"""Find the classes of all domain errors, in every module of the domain."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

from backend import domain
from backend.domain.errors import DomainError


def every_error() -> Iterator[type[DomainError]]:
    for module in walk_packages(domain.__path__, f"{domain.__name__}."):
        import_module(module.name)
    yield from _below(DomainError)


def _below(base: type[DomainError]) -> Iterator[type[DomainError]]:
    for one in base.__subclasses__():
        yield one
        yield from _below(one)
