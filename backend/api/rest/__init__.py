"""Answer scripts: resources under ``/api/v1``, JSON in snake case."""

from fastapi import APIRouter

from backend.api.gate import API_PREFIX
from backend.api.rest import broker_groups, brokers, capacity, clusters, sessions, topics


def build_router() -> APIRouter:
    """Put all resources under the version's prefix."""
    router = APIRouter(prefix=API_PREFIX)
    for resource in (sessions, clusters, broker_groups, brokers, topics, capacity):
        router.include_router(resource.router)
    return router
