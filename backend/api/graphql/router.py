"""Make the routes of the graph: POST for queries and mutations, a WebSocket for subscriptions."""

from datetime import timedelta
from json import JSONDecodeError
from typing import Final

from strawberry.fastapi import GraphQLRouter
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL

from backend.api.graphql.context import GraphContext, build_context
from backend.api.graphql.schema import build_schema

SUBSCRIPTIONS_PER_CONNECTION_MAX: Final = 20
INIT_DEADLINE: Final = timedelta(seconds=10)


class Router(GraphQLRouter[GraphContext, None]):
    """Refuse every unreadable body; the library handles only invalid JSON."""

    def decode_json(self, data: str | bytes) -> object:
        """Read a body.

        Raises:
            JSONDecodeError: it is no JSON or no UTF-8, is nested too deeply, contains a number of
            thousands of digits, or is only a number or a text.
        """
        try:
            found = super().decode_json(data)
        except (ValueError, RecursionError) as error:
            raise JSONDecodeError(str(error), "", 0) from error
        if not isinstance(found, dict | list):
            raise JSONDecodeError("a body is an object", "", 0)
        return found


def build_router(path: str, *, allowed_origins: tuple[str, ...]) -> Router:
    """Make the routes of the graph; the gate is before them."""
    return Router(
        build_schema(),
        path=path,
        graphql_ide=None,
        allow_queries_via_get=False,
        context_getter=build_context,
        subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL,),
        connection_init_wait_timeout=INIT_DEADLINE,
        max_subscriptions_per_connection=SUBSCRIPTIONS_PER_CONNECTION_MAX,
        allowed_origins=allowed_origins,
        include_in_schema=False,
    )
