"""Make the routers of resources, which ask for permission before anything else."""

from typing import Final

from fastapi import APIRouter, Depends

from backend.api.gate import API_PREFIX
from backend.api.known_parameters import check_parameters
from backend.api.permissions import check_permission

PERMISSION: Final = Depends(check_permission)
PARAMETERS: Final = Depends(check_parameters)


def guarded_router(*tags: str, prefix: str = "") -> APIRouter:
    """Make a router whose routes ask for a permission and refuse unknown parameters.

    Its paths are whole: a router that is included in another makes all of its routes again.
    """
    return APIRouter(
        prefix=API_PREFIX + prefix, tags=[*tags], dependencies=[PERMISSION, PARAMETERS]
    )


def open_router(*tags: str) -> APIRouter:
    """Make a router whose routes need no permission: a caller who signs in has no credential."""
    return APIRouter(prefix=API_PREFIX, tags=[*tags], dependencies=[PARAMETERS])
