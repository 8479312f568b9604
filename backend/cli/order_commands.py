"""Build the commands that order a change from the orders' fields: options, bounds and help.

The docstring of a decorated function is the help of the command. The function receives the typed
values under the names of the order's fields, and returns the order's parameters.
"""

import inspect
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import Enum
from string import Formatter
from typing import Annotated, Any, Final, Literal

from cyclopts import Parameter, validators

from backend.cli.broker_names import BrokerId, check_group
from backend.cli.clusters import ClusterName, choose_cluster
from backend.cli.orders import Ordering, order_change
from backend.cli.reader import print_note
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options
from backend.domain.orders.parameter import BrokerIdParameter, Field, fields_of, kind_name

REQUIRED: Final = inspect.Parameter.empty
CLUSTER_TEXT: Final = "Name of the cluster. Default: the only cluster."
PLANNED: Final = ("cluster", "ordering", "options")
"""The options of every command that orders an operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """Describe an option or an argument of a command."""

    word: str
    text: str
    kind: Any = str
    default: Any = REQUIRED
    takes_rest: bool = False

    def read_as(self, place: inspect._ParameterKind) -> inspect.Parameter:
        """Return the option as a parameter of a function."""
        kind: Any = self.kind
        annotation = Annotated[kind, Parameter(help=self.text)]
        return inspect.Parameter(self.word, place, default=self.default, annotation=annotation)


def flag(word: str, text: str) -> Option:
    """Describe a flag that has no negative form."""
    return Option(word=word, text=text, kind=ONE_WAY, default=False)


ONE_WAY: Final = Annotated[bool, Parameter(negative="")]


@dataclass(frozen=True, slots=True)
class Given:
    """Hold the typed values, by the names of the order's fields or of the command's own options."""

    client: RestClient
    values: dict[str, Any]
    cluster: str | None
    ordering: Ordering
    is_json: bool

    def choose_cluster(self) -> str:
        """Return the cluster of the order."""
        return choose_cluster(self.client, self.cluster)


Complete = Callable[[Given], Mapping[str, Any]]
Act = Callable[[Given, Mapping[str, Any]], None]


def orders(
    order_type: type[Any],
    target: Callable[[Mapping[str, Any]], str],
    *,
    places: Mapping[str, Option | str],
    own: Mapping[str, Option | None] | None = None,
    cluster_text: str = CLUSTER_TEXT,
) -> Callable[[Complete], Callable[..., None]]:
    """Make a function a command that orders a change.

    `target` names the changed resource, by the order's fields. `places` are the fields that are
    positional arguments, with their words. `own` are options of the command itself: they replace
    the option of a field, or follow all others.
    """
    kind = kind_name(order_type)

    def plan(given: Given, parameters: Mapping[str, Any]) -> None:
        order_change(given.client, kind, parameters, given.ordering, is_json=given.is_json)

    return acts(
        order_type,
        target,
        plan,
        places=places,
        own=own,
        cluster_text=cluster_text,
        common=PLANNED,
    )


def acts(
    order_type: type[Any],
    target: Callable[[Mapping[str, Any]], str],
    act: Act,
    *,
    places: Mapping[str, Option | str],
    own: Mapping[str, Option | None] | None = None,
    cluster_text: str = CLUSTER_TEXT,
    common: tuple[str, ...] = ("cluster", "options"),
) -> Callable[[Complete], Callable[..., None]]:
    """Make a function a command that carries out an order at once, as `orders` does.

    `act` receives the order's parameters; `common` are the options that the command shares with
    others.
    """
    by_name = {one.name: one for one in fields_of(order_type)}
    _check_names(target, {"cluster_name", *by_name, *(own or {})})
    placed = {name: _placed(one, by_name.get(name)) for name, one in places.items()}
    offered: dict[str, Option | None] = {
        name: option_of(one) for name, one in by_name.items() if _is_offered(one)
    }
    offered |= own or {}
    named = {name: one for name, one in offered.items() if one is not None and name not in placed}
    signature = _signature(placed, named, cluster_text, common)
    names = {one.word: name for name, one in (placed | named).items()}
    lists = {one.name for one in by_name.values() if one.is_list}
    broker_ids = {n for n, one in by_name.items() if isinstance(one.about, BrokerIdParameter)}

    def decorate(complete: Complete) -> Callable[..., None]:
        def command(*args: Any, **kwargs: Any) -> None:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            typed = dict(bound.arguments)
            shared = {one: typed.pop(one) for one in common}
            cluster, options = shared["cluster"], shared["options"]
            ordering = shared.get("ordering", Ordering())
            values = {
                name: [] if value is None and name in lists else value
                for name, value in ((names[word], value) for word, value in typed.items())
            }
            if group := values.get("broker_group_name"):
                for name in broker_ids & values.keys():
                    check_group(group, values[name] if name in lists else [values[name]])
            is_json = options.output == "json"
            with connect(options) as client:
                given = Given(client, values, cluster, ordering, is_json)
                parameters = dict(complete(given))
                if "cluster_name" not in parameters:
                    parameters = {"cluster_name": given.choose_cluster(), **parameters}
                what = f"{target(parameters)} of cluster {parameters['cluster_name']}"
                print_note(f"target: {what} at {client.target.server}")
                act(given, parameters)

        made: Any = command
        made.__name__, made.__doc__ = complete.__name__, complete.__doc__
        made.__annotations__ = {one.name: one.annotation for one in signature.parameters.values()}
        # Tests find a command by its kind.
        made.kind = kind_name(order_type)
        made.__signature__ = signature
        return command

    return decorate


def option_of(field: Field, **changes: Any) -> Option:
    """Describe the option of a field."""
    about = field.about
    kind: Any = field.type
    text, default = about.text, REQUIRED if field.is_required else field.default
    if kind is bool and field.default is False and not field.name.startswith("is_"):
        kind = ONE_WAY
    elif isinstance(kind, type) and issubclass(kind, Enum):
        kind = Literal[tuple(one.value for one in kind)]
        default = default.value if isinstance(default, Enum) else default
    elif kind is int:
        # A bound of 64 bits is no useful help for a user.
        high = None if field.is_long else about.bounds.high
        if isinstance(about, BrokerIdParameter):
            kind, text = BrokerId, text.replace("Id of", "Id or name of")
        kind = Annotated[
            kind, Parameter(validator=validators.Number(gte=about.bounds.low, lte=high))
        ]
    if field.is_list:
        text = f"{text} Repeatable."
        kind = Annotated[list[kind] | None, Parameter(negative="")]
        default = None
    elif field.is_optional:
        kind = kind | None
    made = Option(word=about.option or field.name, text=text, kind=kind, default=default)
    return replace(made, **changes)


def field_of(order_type: type[Any], name: str) -> Field:
    """Return a field of an order by its name."""
    return next(one for one in fields_of(order_type) if one.name == name)


def _check_names(target: Callable[[Mapping[str, Any]], str], known: AbstractSet[str]) -> None:
    """Check that a format of a target names fields of its order."""
    text = getattr(target, "__self__", None)
    if isinstance(text, str):
        unknown = {name for _, name, _, _ in Formatter().parse(text) if name} - known
        assert not unknown, f"{text!r} names no fields: {unknown}"


def _is_offered(field: Field) -> bool:
    # All commands share the options of the cluster and of the loss.
    return not field.about.for_undo and field.name not in {"cluster_name", "accepts_loss"}


def _placed(one: Option | str, field: Field | None) -> Option:
    if isinstance(one, Option):
        return one
    assert field is not None, one
    return option_of(field, word=one, default=REQUIRED)


def _signature(
    placed: Mapping[str, Option],
    named: Mapping[str, Option],
    cluster_text: str,
    common: tuple[str, ...],
) -> inspect.Signature:
    places, rest = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL
    option = inspect.Parameter.KEYWORD_ONLY
    shared: dict[str, tuple[Any, Any]] = {
        "cluster": (None, Annotated[ClusterName, Parameter(help=cluster_text)]),
        "ordering": (Ordering(), Ordering),
        "options": (Options(), Options),
    }
    return inspect.Signature(
        [
            *(one.read_as(rest if one.takes_rest else places) for one in placed.values()),
            *(one.read_as(option) for one in named.values()),
            *(
                inspect.Parameter(name, option, default=default, annotation=annotation)
                for name, (default, annotation) in shared.items()
                if name in common
            ),
        ]
    )
