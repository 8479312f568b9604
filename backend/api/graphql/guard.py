"""Ask every field of the graph's roots for its permission, whatever its resolver looks at (I23).

What queries and subscriptions ask for is `READ`, what mutations ask for `CHANGE`, fields of
tomorrow included; the others are named here. A WebSocket outlives the credential that opened it, so
who asks through one is looked up anew for each operation, and changes are not taken from it.
"""

from collections.abc import Callable, Mapping
from inspect import isawaitable
from typing import Any, Final

from graphql import GraphQLField, GraphQLSchema

from backend.api.graphql.context import GraphContext
from backend.domain.access import Permission, Principal, require
from backend.domain.errors import Forbidden, Unauthenticated
from backend.services.credentials import find_principal

PERMISSIONS: Final[Mapping[str, Permission]] = {
    "viewer": Permission.IDENTIFY,
    "messageBody": Permission.READ_BODIES,
    "users": Permission.READ_ACCESS,
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

Resolver = Callable[..., Any]


def permission_of(name: str, *, is_mutation: bool) -> Permission:
    """Return what a field of a root asks for."""
    return PERMISSIONS.get(name, Permission.CHANGE if is_mutation else Permission.READ)


def guard_fields(schema: GraphQLSchema) -> None:
    """Stand in front of every resolver of the roots."""
    for root in (schema.query_type, schema.mutation_type, schema.subscription_type):
        assert root is not None, "the graph has all three roots"
        is_mutation = root is schema.mutation_type
        for name, field in root.fields.items():
            _guard(field, permission_of(name, is_mutation=is_mutation), is_mutation=is_mutation)


def _guard(field: GraphQLField, permission: Permission, *, is_mutation: bool) -> None:
    if field.subscribe is not None:
        field.subscribe = _guarded(field.subscribe, permission, is_mutation=False)
        return
    assert field.resolve is not None, "fields of the roots have resolvers"
    field.resolve = _guarded(field.resolve, permission, is_mutation=is_mutation)


def _guarded(resolve: Resolver, permission: Permission, *, is_mutation: bool) -> Resolver:
    def resolve_over_http(root: Any, info: Any, **arguments: Any) -> Any:
        context: GraphContext = info.context
        if context.request is None or context.request.scope["type"] == "websocket":
            return resolve_over_socket(root, info, **arguments)
        _check(context.principal, permission)
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
        _check(principal, permission)
        found = resolve(root, info, **arguments)
        return await found if isawaitable(found) else found

    return resolve_over_http


def _check(principal: Principal, permission: Permission) -> None:
    require(principal, permission)
    # What a query reaches is decided by its shape, not by its name: REST names clusters by path.
    if principal.is_limited and permission is not Permission.IDENTIFY:
        raise Forbidden("a token that is limited to clusters asks REST, not the graph")
