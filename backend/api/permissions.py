"""Ask every route for its permission, whatever the route itself looks at (I23).

What reads asks for `READ` and what writes for `CHANGE`, routes of tomorrow included; a route that
asks for another permission says so with `needs`. A token that is limited to clusters passes only
where one of them is named.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar
from uuid import UUID

from fastapi import Request

from backend.api.context import Context, SignedIn
from backend.api.gate import SAFE_METHODS
from backend.domain.access import Permission, require, require_cluster
from backend.services.operations.orders import describe_operation

EndpointT = TypeVar("EndpointT", bound=Callable[..., Any])

CLUSTER_NAME: Final = "cluster_name"
_ATTRIBUTE: Final = "_regent_permission"
_BODY_ATTRIBUTE: Final = "_regent_body_names_cluster"
# They are of no cluster, and whoever has a limited token may know of themselves.
_OF_NO_CLUSTER: Final = frozenset({Permission.IDENTIFY, Permission.SIGN})


def needs(permission: Permission) -> Callable[[EndpointT], EndpointT]:
    """Have a route ask for another permission than its method would."""

    def mark(endpoint: EndpointT) -> EndpointT:
        setattr(endpoint, _ATTRIBUTE, permission)
        return endpoint

    return mark


def body_names_cluster(endpoint: EndpointT) -> EndpointT:
    """Say that the cluster of a route stands among the parameters in its body."""
    setattr(endpoint, _BODY_ATTRIBUTE, True)
    return endpoint


def permission_of(endpoint: Callable[..., Any], method: str) -> Permission:
    """Return what a route asks for."""
    default = Permission.READ if method in SAFE_METHODS else Permission.CHANGE
    permission: Permission = getattr(endpoint, _ATTRIBUTE, default)
    return permission


async def check_permission(request: Request, context: Context, principal: SignedIn) -> None:
    """Let a request pass to its route.

    Raises:
        PasswordChangeRequired: a one-time password has not been replaced yet.
        Forbidden: whoever asks may not.
        OperationNotFound: a limited token asks for an operation that is not there.
    """
    permission = permission_of(request.scope["endpoint"], request.method)
    require(principal, permission)
    if principal.is_limited and permission not in _OF_NO_CLUSTER:
        for name in await _cluster_names(request, context) or [None]:
            require_cluster(principal, name)


async def _cluster_names(request: Request, context: Context) -> list[str | None]:
    """List every cluster that a request names where its route looks for one, and nowhere else."""
    names: list[str | None] = []
    route = request.scope["route"]
    if any(field.alias == CLUSTER_NAME for field in route.dependant.query_params):
        names += request.query_params.getlist(CLUSTER_NAME)
    if CLUSTER_NAME in request.path_params:
        names.append(request.path_params[CLUSTER_NAME])
    if "operation_id" in request.path_params:
        names.append(await _cluster_of(request.path_params["operation_id"], context))
    if getattr(request.scope["endpoint"], _BODY_ATTRIBUTE, False):
        names.append(_named_in(await request.json()))
    return names


async def _cluster_of(operation_id: str, context: Context) -> str | None:
    try:
        known_id = UUID(operation_id)
    except ValueError:
        return None
    return (await describe_operation(known_id, context.operations)).cluster_name


def _named_in(order: Any) -> str | None:
    parameters = order.get("parameters") if isinstance(order, dict) else None
    name = parameters.get(CLUSTER_NAME) if isinstance(parameters, dict) else None
    return name if isinstance(name, str) else None
