"""Limit requests, add security headers to answers, and count both.

The policy lets the console run only its own scripts. Inline styles are allowed, since the component
library writes them. A body that is too large is refused while it arrives, whatever its header says.
"""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import structlog
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.api.answers import error_response
from backend.api.metrics import Metrics

BODY_SIZE_MAX: Final = 1 << 20
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; manifest-src 'self'; "
    "worker-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SAFETY_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
UNCACHED_PREFIXES: Final = ("/api/", "/graphql", "/metrics", "/healthz", "/readyz")

log = structlog.get_logger(__name__)


class _BodyTooLarge(Exception):
    """The body of a request is larger than the limit."""


class RequestGuard:
    """The first middleware."""

    def __init__(
        self, app: ASGIApp, *, metrics: Metrics, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._app, self._metrics, self._monotonic = app, metrics, monotonic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = self._monotonic(), HTTPStatus.INTERNAL_SERVER_ERROR.value

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                _add_headers(MutableHeaders(scope=message), scope["path"])
            await send(message)

        try:
            if _claims_too_much(scope):
                await _too_large()(scope, receive, send_guarded)
            else:
                await self._app(scope, _limited(receive), send_guarded)
        except _BodyTooLarge:
            await _too_large()(scope, receive, send_guarded)
        finally:
            duration_s = self._monotonic() - begun
            self._metrics.count_request(scope, status, duration_s)
            log.info(
                "request_answered",
                method=scope["method"],
                path=scope["path"],
                outcome=status,
                duration_ms=round(duration_s * 1000, 1),
            )


def _claims_too_much(scope: Scope) -> bool:
    claimed = dict(scope["headers"]).get(b"content-length", b"0")
    return not claimed.isdigit() or int(claimed) > BODY_SIZE_MAX


def _too_large() -> JSONResponse:
    return error_response(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_too_large",
        f"a request body holds {BODY_SIZE_MAX} bytes at most",
    )


def _limited(receive: Receive) -> Receive:
    size = 0

    async def receive_limited() -> Message:
        nonlocal size
        message = await receive()
        if message["type"] == "http.request":
            size += len(message.get("body", b""))
            if size > BODY_SIZE_MAX:
                raise _BodyTooLarge
        return message

    return receive_limited


def _add_headers(headers: MutableHeaders, path: str) -> None:
    for name, value in SAFETY_HEADERS.items():
        headers.setdefault(name, value)
    if path.startswith(UNCACHED_PREFIXES):
        headers.setdefault("Cache-Control", "no-store")
