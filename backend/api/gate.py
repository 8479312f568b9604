"""Refuse requests without a credential, except for a few open paths.

The gate is before the application, not in every route: every path that is not listed below is
closed, also future routes and WebSockets. A session is sent as a cookie or as a bearer token, an
API token only as a bearer token. Browsers also send cookies for pages of other origins. So a
request with a cookie that could change something must come from a page of this origin.
"""

from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from backend.api.answers import UNAVAILABLE, domain_error_response, unavailable_response
from backend.api.context import ApiContext, peer_of
from backend.domain.access import Credential, Principal
from backend.domain.errors import DomainError, Forbidden, Unauthenticated
from backend.services.access.credentials import find_principal

COOKIE_NAME: Final = "regent_session"
GRAPHQL_PATH: Final = "/graphql"
CLOSED_PREFIXES: Final = ("/api", GRAPHQL_PATH)
API_PREFIX: Final = "/api/v1"
SESSION_PATH: Final = API_PREFIX + "/session"
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class SessionGate:
    """Middleware before the application."""

    def __init__(self, app: ASGIApp, *, context: ApiContext) -> None:
        self._app, self._context = app, context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in {"http", "websocket"} or _is_open(scope):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            token, principal = await self._authenticate(connection)
        except DomainError as error:
            await _refuse(_response(error, scope), scope, receive, send)
            return
        except UNAVAILABLE as error:
            await _refuse(unavailable_response(error), scope, receive, send)
            return
        connection.state.principal, connection.state.token = principal, token
        await self._app(scope, receive, send)

    async def _authenticate(self, connection: HTTPConnection) -> tuple[str, Principal]:
        token, is_cookie = _read_token(connection)
        principal = await find_principal(
            token,
            database=self._context.database,
            clock=self._context.clock,
            source=peer_of(connection),
        )
        if principal is None or (is_cookie and principal.credential is not Credential.SESSION):
            raise Unauthenticated
        is_safe = connection.scope.get("method") in SAFE_METHODS
        if is_cookie and not is_safe and not self._is_from_our_page(connection):
            raise Forbidden("the request comes from a page of another origin")
        return token, principal

    def _is_from_our_page(self, connection: HTTPConnection) -> bool:
        return is_own_origin(connection, self._context.settings.allowed_origins)


def is_own_origin(connection: HTTPConnection, allowed_origins: tuple[str, ...]) -> bool:
    """Return whether a request comes from a page of this origin, or from no page."""
    origin = connection.headers.get("origin")
    if origin is None:
        # Browsers send the origin with requests that could change something, and with WebSockets.
        is_socket = connection.scope["type"] == "websocket"
        fetch_site = connection.headers.get("sec-fetch-site", "none")
        return not is_socket and fetch_site in {"none", "same-origin"}
    if origin in allowed_origins:
        return True
    host = connection.headers.get("host", "")
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return bool(host) and parts.scheme in {"http", "https"} and parts.netloc.lower() == host.lower()


def _is_open(scope: Scope) -> bool:
    path, method = scope["path"], scope.get("method")
    if scope["type"] == "websocket":
        return False
    if path == SESSION_PATH and method == "POST":
        return True
    is_closed = any(path == prefix or path.startswith(prefix + "/") for prefix in CLOSED_PREFIXES)
    # The rest is health and the files of the console, which are open for the sign-in page.
    return not is_closed and method in {"GET", "HEAD"}


def _read_token(connection: HTTPConnection) -> tuple[str, bool]:
    scheme, _, credentials = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and credentials:
        return credentials.strip(), False
    return connection.cookies.get(COOKIE_NAME, ""), True


def _response(error: DomainError, scope: Scope) -> Response:
    response = domain_error_response(error)
    if scope["path"] != GRAPHQL_PATH:
        return response
    body = {"message": str(error), "extensions": {"code": error.code}}
    return JSONResponse(
        {"data": None, "errors": [body]},
        status_code=HTTPStatus(response.status_code),
        headers={"WWW-Authenticate": "Bearer"},
    )


async def _refuse(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).send_denial_response(response)
        return
    await response(scope, receive, send)
