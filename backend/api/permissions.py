"""Ask every route for its permission, whatever the route itself looks at (I23).

What reads asks for `READ` and what writes for `CHANGE`, routes of tomorrow included; a route that
asks for another permission says so with `needs`. Who reaches some clusters only passes where one of
them is named, unless the route says with `reaches` how else it keeps to them.
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
"""What parameters are called that name a cluster, in paths and in queries."""
OF_THE_CALLER: Final = frozenset({Permission.IDENTIFY, Permission.SIGN, Permission.MANAGE_OWN})
"""Permissions of what is of no cluster, but of whoever asks."""
_PERMISSION: Final = "_regent_permission"
_REACH: Final = "_regent_reach"


def needs(permission: Permission) -> Callable[[EndpointT], EndpointT]:
    """Have a route ask for another permission than its method would."""
    return _marking(_PERMISSION, permission)


def reaches(reach: Reach) -> Callable[[EndpointT], EndpointT]:
    """Say how a route keeps to the clusters that whoever asks reaches."""
    return _marking(_REACH, reach)


def permission_of(endpoint: Callable[..., Any], method: str) -> Permission:
    """Return what a route asks for."""
    default = Permission.READ if method in SAFE_METHODS else Permission.CHANGE
    permission: Permission = getattr(endpoint, _PERMISSION, default)
    return permission


def reach_of(endpoint: Callable[..., Any], permission: Permission) -> Reach:
    """Return how a route keeps to clusters."""
    reach: Reach = getattr(endpoint, _REACH, reach_by(permission))
    return reach


def reach_by(permission: Permission) -> Reach:
    """Return how a door of a permission keeps to clusters unless it says otherwise."""
    return Reach.OWN if permission in OF_THE_CALLER else Reach.NAMED


async def check_permission(request: Request, principal: SignedIn) -> None:
    """Let a request pass to its route.

    Raises:
        PasswordChangeRequired: a one-time password has not been replaced yet.
        Forbidden: whoever asks may not.
    """
    endpoint = request.scope["endpoint"]
    permission = permission_of(endpoint, request.method)
    require(principal, permission)
    require_reach(principal, reach_of(endpoint, permission), _clusters_named(request))


def query_names(route: APIRoute) -> frozenset[str]:
    """Return under which names a route, or what it depends on, takes clusters from the query."""
    return CLUSTER_NAMES.intersection(query_aliases(route.dependant))


def _clusters_named(request: Request) -> list[str]:
    """List every cluster that a request names where its route looks for one, and nowhere else."""
    in_path = [value for name, value in request.path_params.items() if name in CLUSTER_NAMES]
    in_query = [request.query_params.getlist(name) for name in query_names(request.scope["route"])]
    return [*in_path, *(value for values in in_query for value in values)]


def _marking(attribute: str, value: object) -> Callable[[EndpointT], EndpointT]:
    def mark(endpoint: EndpointT) -> EndpointT:
        setattr(endpoint, attribute, value)
        return endpoint

    return mark
