"""Answer scripts: resources under ``/api/v1``, JSON in snake case."""

from fastapi import APIRouter

from backend.api.gate import API_PREFIX
from backend.api.rest import (
    adoptions,
    audit,
    broker_groups,
    brokers,
    capacity,
    clusters,
    events,
    log_histories,
    operations,
    replica_groups,
    replica_lags,
    sessions,
    topics,
)


def build_router() -> APIRouter:
    """Put all resources under the version's prefix."""
    router = APIRouter(prefix=API_PREFIX)
    resources = (
        *(sessions, clusters, broker_groups, replica_groups, log_histories, replica_lags),
        *(adoptions, brokers, topics, capacity, operations, audit, events),
    )
    for resource in resources:
        router.include_router(resource.router)
    return router
