"""Allow slashes in names: `%2F` in the path of a request belongs to a name (RFC 3986, 2.2).

A server decodes a path before it finds the route, so an encoded slash would divide a name. Here
another character replaces the slash until the route is found.
"""

from typing import Final
from urllib.parse import unquote

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

STAND_IN: Final = "\ue02f"
"""A character of the private use area, which no name contains."""


class _NameConvertor(StringConvertor):
    """Read a name of a path, with its slashes."""

    def convert(self, value: str) -> str:
        return value.replace(STAND_IN, "/")


register_url_convertor("str", _NameConvertor())


class EncodedSlashes:
    """Middleware before the routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with undivided names in its path."""
        raw: bytes = scope.get("raw_path") or b""
        if b"%2f" not in raw.lower():
            await self._app(scope, receive, send)
            return
        decoded = scope["path"]
        marked = raw.decode("latin-1").replace("%2F", STAND_IN).replace("%2f", STAND_IN)
        scope["path"] = unquote(marked)
        try:
            await self._app(scope, receive, send)
        finally:
            # The middleware before this one logs the original path.
            scope["path"] = decoded
