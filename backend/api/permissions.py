"""Check the permission of every route, independent of the code of the route (I23).

Routes that read need `READ`, and routes that write need `CHANGE`, also future routes. A route with
another permission declares it with `needs`. A caller that reaches only some clusters must name one
of them, unless the route declares another limit with `reaches`.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from fastapi import Request
from fastapi.routing import APIRoute

from backend.api.context import SignedIn
from backend.api.gate import SAFE_METHODS
from backend.api.known_parameters import query_aliases
from backend.domain.access import Permission, Reach, require, require_reach

EndpointT = TypeVar("EndpointT", bound=Callable[..., Any])

CLUSTER_NAMES: Final = frozenset({"cluster_name", "cluster"})
"""The names of parameters that name a cluster, in paths and in queries."""
OF_THE_CALLER: Final = frozenset({Permission.IDENTIFY, Permission.SIGN, Permission.MANAGE_OWN})
"""Permissions for objects of the caller, which belong to no cluster."""
_PERMISSION: Final = "_regent_permission"
_REACH: Final = "_regent_reach"


def needs(permission: Permission) -> Callable[[EndpointT], EndpointT]:
    """Declare another permission of a route than that of its method."""
    return _marking(_PERMISSION, permission)


def reaches(reach: Reach) -> Callable[[EndpointT], EndpointT]:
    """Declare how a route is limited to the clusters that the caller reaches."""
    return _marking(_REACH, reach)


def permission_of(endpoint: Callable[..., Any], method: str) -> Permission:
    """Return the permission of a route."""
    default = Permission.READ if method in SAFE_METHODS else Permission.CHANGE
    permission: Permission = getattr(endpoint, _PERMISSION, default)
    return permission


def reach_of(endpoint: Callable[..., Any], permission: Permission) -> Reach:
    """Return how a route is limited to clusters."""
    reach: Reach = getattr(endpoint, _REACH, reach_by(permission))
    return reach


def reach_by(permission: Permission) -> Reach:
    """Return the default limit to clusters for a permission."""
    return Reach.OWN if permission in OF_THE_CALLER else Reach.NAMED


async def check_permission(request: Request, principal: SignedIn) -> None:
    """Check that a request may pass to its route.

    Raises:
        PasswordChangeRequired: a one-time password has not been replaced yet. Forbidden: the caller
        lacks the permission or the reach.
    """
    endpoint = request.scope["endpoint"]
    permission = permission_of(endpoint, request.method)
    require(principal, permission)
    require_reach(principal, reach_of(endpoint, permission), _clusters_named(request))


def query_names(route: APIRoute) -> frozenset[str]:
    """Return the query parameters of a route and its dependencies that name clusters."""
    return CLUSTER_NAMES.intersection(query_aliases(route.dependant))


def _clusters_named(request: Request) -> list[str]:
    """List the clusters that a request names in the parameters of its route."""
    in_path = [value for name, value in request.path_params.items() if name in CLUSTER_NAMES]
    in_query = [request.query_params.getlist(name) for name in query_names(request.scope["route"])]
    return [*in_path, *(value for values in in_query for value in values)]


def _marking(attribute: str, value: object) -> Callable[[EndpointT], EndpointT]:
    def mark(endpoint: EndpointT) -> EndpointT:
        setattr(endpoint, attribute, value)
        return endpoint

    return mark
