"""Declare a question: one function, its address over REST, its field in the graph, who may ask.

Positional parameters of the function are asked for by the caller; keyword-only parameters are
supplied by the process (`database`, `clock`, `within`, …). The answer is a view, a list or a page
of views. Both doors are generated from this declaration, and so are the tables of docs/access.md
and docs/doors.md.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Annotated, Any, Final, TypeVar, get_type_hints

from backend.domain.access import Permission, Reach
from backend.domain.errors import DomainError
from backend.domain.page import PAGE_SIZE_MAX, SEARCH_LENGTH_MAX
from backend.views.graph_forms import IS_INT64

KeyT = TypeVar("KeyT")

BROKER_ID_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Given:
    """Describe a parameter: its help and bounds over REST, and its other name in one door."""

    help: str | None = None
    low: int | None = None
    high: int | None = None
    length_min: int | None = None
    length_max: int | None = None
    pattern: str | None = None
    rest_name: str | None = None
    graph_name: str | None = None


@dataclass(frozen=True, slots=True)
class Cursor:
    """Mark the key after which a page goes on; callers give the `next` of the page before."""


def page_size(size_max: int) -> Given:
    """Describe how many items a page may have."""
    return Given("How many items at most.", low=1, high=size_max, graph_name="first")


Limit = Annotated[int, page_size(PAGE_SIZE_MAX)]
After = Annotated[KeyT | None, Cursor()]
Search = Annotated[
    str | None, Given("A part of the names that are listed.", length_max=SEARCH_LENGTH_MAX)
]
BrokerId = Annotated[int, Given(low=0, high=BROKER_ID_MAX), IS_INT64]


@dataclass(frozen=True, slots=True)
class Question:
    """Hold what both doors need to know of a question.

    `refusals` are statuses of HTTP that may answer this question, beside those of every question.
    A question without a field is one of an object of the graph. The graph answers null where one
    of `absences` is raised.
    """

    ask: Callable[..., Awaitable[Any]]
    path: str
    field: str | None
    tag: str
    permission: Permission
    reach: Reach
    refusals: tuple[int, ...]
    absences: tuple[type[DomainError], ...]

    @property
    def name(self) -> str:
        """Return the name of its function."""
        return self.ask.__name__

    @property
    def given(self) -> list[Parameter]:
        """List what callers give, with resolved types."""
        return [one for one in self._parameters() if one.kind is not Parameter.KEYWORD_ONLY]

    @property
    def supplied(self) -> list[str]:
        """Name what the process supplies."""
        return [one.name for one in self._parameters() if one.kind is Parameter.KEYWORD_ONLY]

    @property
    def answer(self) -> Any:
        """Return the type of the answer."""
        return get_type_hints(self.ask, include_extras=True)["return"]

    def _parameters(self) -> list[Parameter]:
        hints = get_type_hints(self.ask, include_extras=True)
        found = signature(self.ask).parameters.values()
        return [one.replace(annotation=hints[one.name]) for one in found]


def question(
    path: str,
    *,
    field: str | None,
    tag: str,
    permission: Permission = Permission.READ,
    reach: Reach = Reach.NAMED,
    refusals: tuple[int, ...] = (),
    absences: tuple[type[DomainError], ...] = (),
) -> Callable[[Callable[..., Awaitable[Any]]], Question]:
    """Make a question of a function."""

    def declare(ask: Callable[..., Awaitable[Any]]) -> Question:
        return Question(ask, path, field, tag, permission, reach, refusals, absences)

    return declare
