"""Answer scripts: resources under ``/api/v1``, JSON in snake case."""

from fastapi import APIRouter, Depends

from backend.api.gate import API_PREFIX
from backend.api.known_parameters import check_parameters
from backend.api.permissions import check_permission
from backend.api.rest import (
    api_tokens,
    audit,
    capacity,
    events,
    messages,
    operations,
    sessions,
    users,
)
from backend.api.rest.questions import build_questions_router


def build_router() -> APIRouter:
    """Put all resources under the version's prefix."""
    router = APIRouter(prefix=API_PREFIX)
    guarded = APIRouter(dependencies=[Depends(check_permission), Depends(check_parameters)])
    resources = (
        *(sessions, api_tokens, users),
        *(capacity, operations),
        *(audit, events, messages),
    )
    for resource in resources:
        guarded.include_router(resource.router)
    guarded.include_router(build_questions_router())
    # Whoever signs in has no credential yet.
    router.include_router(sessions.open_router, dependencies=[Depends(check_parameters)])
    router.include_router(guarded)
    return router
