"""Put the graph at its address: POST for questions, a WebSocket for what is followed."""

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
    """Refuse every body that can't be read, where the library foresees wrong JSON alone."""

    def decode_json(self, data: str | bytes) -> object:
        """Read a body.

        Raises:
            JSONDecodeError: it is no JSON, no UTF-8, nested too deeply, holds a number of thousands
                of digits, or is a bare number or text.
        """
        try:
            found = super().decode_json(data)
        except (ValueError, RecursionError) as error:
            raise JSONDecodeError(str(error), "", 0) from error
        if not isinstance(found, dict | list):
            raise JSONDecodeError("a body is an object", "", 0)
        return found


def build_router(path: str, *, allowed_origins: tuple[str, ...]) -> Router:
    """Make the routes of the graph; the gate stands before them."""
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
