"""Check the permission of every root field of the graph, independent of its resolver (I23).

Questions declare their permission. Of the hand-written fields, queries and subscriptions need
`READ` and mutations `CHANGE`, also future fields. Fields with another permission, or with another
limit to clusters than their arguments, are listed here. A WebSocket may stay open after its
credential has ended, so its caller is checked again for each operation, and it accepts no changes.
"""

from collections.abc import Callable, Mapping
from inspect import isawaitable
from typing import Any, Final

from graphql import GraphQLField, GraphQLSchema
from strawberry.utils.str_converters import to_camel_case

from backend.api.graphql.context import GraphContext
from backend.api.operation_verbs import VERBS
from backend.api.permissions import reach_by
from backend.domain.access import Permission, Principal, Reach, require, require_reach
from backend.domain.errors import Forbidden, Unauthenticated
from backend.questions import list_questions
from backend.services.access.credentials import find_principal

PERMISSIONS: Final[Mapping[str, Permission]] = {
    **{one.root_field: one.permission for one in list_questions() if one.root_field},
    "changePassword": Permission.SIGN,
    "endSession": Permission.MANAGE_OWN,
    "endSessions": Permission.MANAGE_OWN,
    "createApiToken": Permission.MANAGE_OWN,
    "revokeApiToken": Permission.MANAGE_OWN,
    "addUser": Permission.MANAGE_ACCESS,
    "changeUserRole": Permission.MANAGE_ACCESS,
    "disableUser": Permission.MANAGE_ACCESS,
    "enableUser": Permission.MANAGE_ACCESS,
    "resetPassword": Permission.MANAGE_ACCESS,
}

REACHES: Final[Mapping[str, Reach]] = {
    **{one.root_field: one.reach for one in list_questions() if one.root_field},
    **dict.fromkeys(
        (
            *("events", "samples", "topologyChanged", "sendMessage"),
            *("planOperation", "confirmOperation", "approveOperation", "declineOperation"),
            *(to_camel_case(verb.mutation) for verb in VERBS),
            "breakOperationLease",
        ),
        Reach.KEPT,
    ),
}
CLUSTER_ARGUMENTS: Final = frozenset({"clusterName", "cluster"})
"""The names of arguments and input fields that name a cluster."""
OBJECTS: Final = frozenset({"cluster"})
"""Fields of the roots whose argument `name` is that of a cluster."""

Resolver = Callable[..., Any]


def permission_of(name: str, *, is_mutation: bool) -> Permission:
    """Return the permission of a root field."""
    return PERMISSIONS.get(name, Permission.CHANGE if is_mutation else Permission.READ)


def reach_of(name: str, permission: Permission) -> Reach:
    """Return how a root field is limited to the clusters of the caller."""
    return REACHES.get(name, reach_by(permission))


def clusters_named(field_name: str, arguments: Mapping[str, Any]) -> list[str]:
    """List every cluster that the arguments of a field name, at any depth."""
    found = [arguments["name"]] if field_name in OBJECTS and "name" in arguments else []
    waiting: list[Any] = [arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            found += [
                inner
                for name, inner in value.items()
                if name in CLUSTER_ARGUMENTS and isinstance(inner, str)
            ]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found


def guard_fields(schema: GraphQLSchema) -> None:
    """Run before every resolver of a root field."""
    for root in (schema.query_type, schema.mutation_type, schema.subscription_type):
        assert root is not None, "the graph has all three roots"
        is_mutation = root is schema.mutation_type
        for name, field in root.fields.items():
            _guard(field, name, is_mutation=is_mutation)


def _guard(field: GraphQLField, name: str, *, is_mutation: bool) -> None:
    if field.subscribe is not None:
        field.subscribe = _guarded(field.subscribe, name, is_mutation=False)
        return
    assert field.resolve is not None, "fields of the roots have resolvers"
    field.resolve = _guarded(field.resolve, name, is_mutation=is_mutation)


def _guarded(resolve: Resolver, name: str, *, is_mutation: bool) -> Resolver:
    permission = permission_of(name, is_mutation=is_mutation)

    def check(principal: Principal, arguments: Mapping[str, Any]) -> None:
        require(principal, permission)
        require_reach(principal, reach_of(name, permission), clusters_named(name, arguments))

    def resolve_over_http(root: Any, info: Any, **arguments: Any) -> Any:
        context: GraphContext = info.context
        if context.request is None or context.request.scope["type"] == "websocket":
            return resolve_over_socket(root, info, **arguments)
        check(context.principal, arguments)
        return resolve(root, info, **arguments)

    async def resolve_over_socket(root: Any, info: Any, **arguments: Any) -> Any:
        if is_mutation:
            raise Forbidden("changes are asked for over HTTP, not over a WebSocket")
        context: GraphContext = info.context
        api = context.api
        principal = await find_principal(context.token, database=api.database, clock=api.clock)
        if principal is None:
            raise Unauthenticated
        context.principal = principal
        check(principal, arguments)
        found = resolve(root, info, **arguments)
        return await found if isawaitable(found) else found

    return resolve_over_http
