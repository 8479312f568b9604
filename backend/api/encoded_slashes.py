"""Let names hold a slash: `%2F` in the path of a request belongs to a name (RFC 3986, 2.2).

A server decodes a path before it looks for the route, so an encoded slash would part a name in two.
Here it stands as another character from the arrival of a request until its route has been found.
"""

from typing import Final
from urllib.parse import unquote

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

STAND_IN: Final = "\ue02f"
"""Of the private use area: no name has it."""


class _NameConvertor(StringConvertor):
    """Read a name of a path, with the slashes that it had."""

    def convert(self, value: str) -> str:
        return value.replace(STAND_IN, "/")


register_url_convertor("str", _NameConvertor())


class EncodedSlashes:
    """Stand in front of the routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the names of its path whole."""
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
            # Who stands before this logs the path as it was.
            scope["path"] = decoded
