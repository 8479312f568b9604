"""Answer whether the process is alive and ready, and its metrics."""

import asyncio
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from backend.api.answers import UNAVAILABLE
from backend.api.context import ApiContext, Context

READINESS_DEADLINE_S: Final = 2.0

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def show_health() -> PlainTextResponse:
    """Answer that the process is alive."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
async def show_readiness(context: Context) -> JSONResponse:
    """Answer whether the databases of the process answer."""
    checks = await asyncio.gather(_has_database(context), _has_redis(context))
    is_ready = all(checks)
    status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
    return JSONResponse({"ready": is_ready}, status_code=status)


@router.get("/metrics")
async def show_metrics(request: Request) -> Response:
    """Answer the metrics of the process."""
    return Response(request.app.state.metrics.render(), media_type=CONTENT_TYPE_LATEST)


async def _has_database(context: ApiContext) -> bool:
    try:
        async with asyncio.timeout(READINESS_DEADLINE_S), context.database.connect() as connection:
            await connection.execute(text("SELECT 1 FROM clusters LIMIT 1"))
    except (SQLAlchemyError, *UNAVAILABLE):
        return False
    return True


async def _has_redis(context: ApiContext) -> bool:
    try:
        async with asyncio.timeout(READINESS_DEADLINE_S):
            await context.redis.ping()
    except UNAVAILABLE:
        return False
    return True
