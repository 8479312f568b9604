"""Declare a question: a function, its path over REST, its field in the graph, its permission.

The caller gives the positional parameters of the function. The process supplies the keyword-only
parameters (`database`, `clock`, `within`, …). The answer is a view, a list or a page of views.
Both doors are generated from this declaration, and so are the tables of docs/access.md and
docs/doors.md.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from inspect import Parameter, signature
from types import NoneType
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin, get_type_hints

from backend.domain.access import Permission, Reach
from backend.domain.errors import DomainError
from backend.domain.page import PAGE_SIZE_MAX, SEARCH_LENGTH_MAX
from backend.views.graph_forms import IS_INT64, marks_of

KeyT = TypeVar("KeyT")

BROKER_ID_MAX: Final = 2**63 - 1
NAME_LENGTH_MAX: Final = 300


@dataclass(frozen=True, slots=True)
class Given:
    """Describe a parameter: help, bounds and choices over REST; other name or default in a door.

    A parameter that is optional in the graph is null there unless it is given. Null means the
    default.
    """

    help: str | None = None
    low: int | None = None
    high: int | None = None
    length_min: int | None = None
    length_max: int | None = None
    pattern: str | None = None
    rest_name: str | None = None
    graph_name: str | None = None
    choices: tuple[str, ...] = ()
    graph_default: int | None = None
    is_optional_in_graph: bool = False


@dataclass(frozen=True, slots=True)
class Cursor:
    """Mark the key after which a page starts. Callers give the `next` of the previous page."""


FLAT: Final = "flat"
"""Mark a choice whose fields are parameters in the graph too, where others are inputs."""


def given_of(parameter: Parameter) -> Given:
    """Return how a parameter is described."""
    marks = marks_of(parameter.annotation)
    return next((one for one in marks if isinstance(one, Given)), Given())


def is_cursor(annotation: Any) -> bool:
    """Return whether a parameter is a cursor."""
    return any(isinstance(one, Cursor) for one in marks_of(annotation))


def plain_type(annotation: Any) -> Any:
    """Return the type that a parameter has, or that its items have, without marks and None."""
    while get_origin(annotation) is not None:
        annotation = next(one for one in get_args(annotation) if one is not NoneType)
    return annotation


def choice_of(annotation: Any) -> Any:
    """Return the dataclass that a parameter is, or None.

    REST takes each of its fields as a parameter, and the graph one input of its fields.
    """
    kind = plain_type(annotation)
    return kind if is_dataclass(kind) else None


def parts_of(choice: Any) -> list[Parameter]:
    """List the fields of a choice as parameters."""
    hints = get_type_hints(choice, include_extras=True)
    return [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(choice)
    ]


def gather(given: Iterable[Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    """Put the fields of choices together that a door takes one by one."""
    wanted = {}
    for one in given:
        if one.name in values:
            wanted[one.name] = values[one.name]
        elif (choice := choice_of(one.annotation)) is not None:
            names = [part.name for part in fields(choice) if part.name in values]
            wanted[one.name] = choice(**{name: values[name] for name in names})
    return wanted


def page_size(size_max: int, *, graph_default: int | None = None) -> Given:
    """Describe how many items a page may have."""
    help_text = "How many items at most."
    return Given(help_text, low=1, high=size_max, graph_name="first", graph_default=graph_default)


Limit = Annotated[int, page_size(PAGE_SIZE_MAX)]
After = Annotated[KeyT | None, Cursor()]
Fifty = Annotated[int, page_size(PAGE_SIZE_MAX, graph_default=50)]
"""The size of a page. In the graph the default is 50 items."""
Search = Annotated[
    str | None, Given("A part of the names that are listed.", length_max=SEARCH_LENGTH_MAX)
]
InCluster = Annotated[str | None, Given("Only in this cluster.", length_max=NAME_LENGTH_MAX)]
InBrokerGroup = Annotated[
    str | None, Given("Only in this broker group.", length_max=NAME_LENGTH_MAX)
]
OfConsumerGroup = Annotated[
    str | None, Given("Only of this consumer group.", length_max=NAME_LENGTH_MAX)
]
OfTopic = Annotated[str | None, Given("Only of this topic.", length_max=NAME_LENGTH_MAX)]
InQueue = Annotated[int | None, Given("Only in the queue with this number.", low=0, high=2**31 - 1)]


@dataclass(frozen=True, slots=True)
class OfQueues:
    """Choose by queue and consumer group, as far as each is given."""

    cluster_name: InCluster = None
    consumer_group_name: OfConsumerGroup = None
    topic: OfTopic = None
    broker_group_name: InBrokerGroup = None
    queue_id: InQueue = None


BrokerId = Annotated[
    int,
    Given(
        "The broker's own id, as in its name; 0 is the present master of the group.",
        low=0,
        high=BROKER_ID_MAX,
    ),
    IS_INT64,
]


@dataclass(frozen=True, slots=True)
class Question:
    """Hold the declaration of a question, from which both doors are made.

    `refusals` are statuses of HTTP that may answer this question, beside those of every question.
    A field such as `Cluster.topics` is a relation of an object, which is written by hand. The graph
    answers null where one of `absences` is raised. A question without a path or without a field
    has a reason, `why_not`, for which that door lacks it. With `graph_part` the graph answers that
    field of the view only; with `graph_view` it shows another view, whose relations load the rest.
    """

    ask: Callable[..., Awaitable[Any]]
    path: str | None
    field: str | None
    tag: str
    permission: Permission
    reach: Reach
    refusals: tuple[int, ...]
    absences: tuple[type[DomainError], ...]
    why_not: str | None
    graph_part: str | None
    graph_view: type | None

    @property
    def root_field(self) -> str | None:
        """Return its field of the graph's root, which is generated; relations are not."""
        return None if self.field is None or "." in self.field else self.field

    @property
    def name(self) -> str:
        """Return the name of its function."""
        return self.ask.__name__

    @property
    def given(self) -> list[Parameter]:
        """List what callers give, with resolved types."""
        return [one for one in _parameters(self.ask) if one.kind is not Parameter.KEYWORD_ONLY]

    @property
    def supplied(self) -> list[str]:
        """Name what the process supplies."""
        found = _parameters(self.ask)
        return [one.name for one in found if one.kind is Parameter.KEYWORD_ONLY]

    @property
    def answer(self) -> Any:
        """Return the type of the answer."""
        return get_type_hints(self.ask, include_extras=True)["return"]


@cache
def _parameters(ask: Callable[..., Awaitable[Any]]) -> tuple[Parameter, ...]:
    hints = get_type_hints(ask, include_extras=True)
    found = signature(ask).parameters.values()
    return tuple(one.replace(annotation=hints[one.name]) for one in found)


def question(
    path: str | None,
    *,
    field: str | None,
    tag: str,
    permission: Permission = Permission.READ,
    reach: Reach = Reach.NAMED,
    refusals: tuple[int, ...] = (),
    absences: tuple[type[DomainError], ...] = (),
    why_not: str | None = None,
    graph_part: str | None = None,
    graph_view: type | None = None,
) -> Callable[[Callable[..., Awaitable[Any]]], Question]:
    """Make a question of a function."""

    def declare(ask: Callable[..., Awaitable[Any]]) -> Question:
        return Question(
            ask,
            path,
            field,
            tag,
            permission,
            reach,
            refusals,
            absences,
            why_not,
            graph_part,
            graph_view,
        )

    return declare
