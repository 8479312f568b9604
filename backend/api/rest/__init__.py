"""Answer scripts: resources under ``/api/v1``, JSON in snake case."""

from starlette.routing import BaseRoute

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


def list_routes() -> list[BaseRoute]:
    """List the routes of all resources, with their whole paths."""
    routers = (
        *(sessions.sign_in_router, sessions.router, api_tokens.router, users.router),
        *(capacity.router, operations.router),
        *(audit.router, events.router, messages.router),
        build_questions_router(),
    )
    return [route for router in routers for route in router.routes]
