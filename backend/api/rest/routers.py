"""Make the routers of resources, which check the permission first."""

from typing import Final

from fastapi import APIRouter, Depends

from backend.api.gate import API_PREFIX
from backend.api.known_parameters import check_parameters
from backend.api.permissions import check_permission

PERMISSION: Final = Depends(check_permission)
PARAMETERS: Final = Depends(check_parameters)


def guarded_router(*tags: str, prefix: str = "") -> APIRouter:
    """Make a router whose routes check a permission and refuse unknown parameters.

    Its paths are complete, since including a router in another one builds all its routes again.
    """
    return APIRouter(
        prefix=API_PREFIX + prefix, tags=[*tags], dependencies=[PERMISSION, PARAMETERS]
    )


def open_router(*tags: str) -> APIRouter:
    """Make a router whose routes need no permission: a caller who signs in has no credential."""
    return APIRouter(prefix=API_PREFIX, tags=[*tags], dependencies=[PARAMETERS])
