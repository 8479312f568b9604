"""Build the HTTP application."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from backend.api import console, health, rest
from backend.api.answers import add_handlers
from backend.api.context import ApiContext
from backend.api.encoded_slashes import EncodedSlashes
from backend.api.gate import API_PREFIX, GRAPHQL_PATH, SessionGate
from backend.api.metrics import Metrics
from backend.api.request_guard import RequestGuard
from backend.api.rest import errors, operations
from backend.services.background import end_tasks


def create_app(context: ApiContext) -> FastAPI:
    """Make the application; the routes of the console come last."""
    metrics = Metrics(context.name_server)
    app = _new_app(
        lifespan=_lifespan,
        middleware=[
            Middleware(RequestGuard, metrics=metrics),
            Middleware(SessionGate, context=context),
            Middleware(EncodedSlashes),
        ],
    )
    app.state.context, app.state.metrics = context, metrics
    add_handlers(app)
    _add_routes(app)
    graph = _Graph(app)
    app.router.routes += [Route(GRAPHQL_PATH, graph), WebSocketRoute(GRAPHQL_PATH, graph)]
    app.include_router(console.build_router(context.settings.console_dir))
    return app


def print_openapi() -> str:
    """Print the OpenAPI document as it is served, with sorted keys."""
    app = _new_app()
    _add_routes(app)
    return json.dumps(app.openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


class _Application(FastAPI):
    """Add to the OpenAPI document what no option of a route can express.

    These are the form of error answers, and the parameters of each kind of operation.
    """

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schemas = super().openapi()["components"]["schemas"]
            schemas |= operations.describe_parameters() | errors.describe_problem()
        return super().openapi()


def _new_app(**options: Any) -> FastAPI:
    return _Application(
        title="Regent",
        version="1",
        summary="The control plane of a message-queue cluster.",
        openapi_url=f"{API_PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        # A path with a slash at the end has an empty name; without it, it is the path of the list.
        redirect_slashes=False,
        **options,
    )


def _add_routes(app: FastAPI) -> None:
    app.router.routes += [*health.router.routes, *rest.list_routes()]


class _Graph:
    """Serve the graph, which is built at the first request for it.

    The schema and its libraries take as long to load as all of REST; brokers, clients and commands
    need none of it.
    """

    def __init__(self, parent: FastAPI) -> None:
        self._parent, self._lock = parent, asyncio.Lock()
        self._app: FastAPI | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or serve one WebSocket."""
        async with self._lock:
            if self._app is None:
                self._app = await asyncio.to_thread(self._build)
        # The parent has the middleware and the handlers, so only the router is called.
        await self._app.router(scope, receive, send)

    def _build(self) -> FastAPI:
        from backend.api.graphql.router import build_router  # noqa: PLC0415 - see the class

        context: ApiContext = self._parent.state.context
        app = _new_app()
        app.include_router(
            build_router(GRAPHQL_PATH, allowed_origins=context.settings.allowed_origins)
        )
        return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Listen to the sources of subscriptions while the application runs."""
    context: ApiContext = app.state.context
    feeds = [
        asyncio.create_task(context.samples.run(), name="samples_feed"),
        asyncio.create_task(context.topology.run(), name="topology_feed"),
        asyncio.create_task(context.events.listen(), name="event_notices"),
        asyncio.create_task(context.events.advance(), name="event_feed"),
    ]
    try:
        yield
    finally:
        await end_tasks(feeds)
