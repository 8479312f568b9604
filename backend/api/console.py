"""Serve the built console: its files as they are, and its page for every other address.

A file is served only if it is among those found in the console's folder, so an address never
becomes a path. They are looked for again where one is not among them or is gone: the console may
have been built anew since, and its new page names new files.
"""

import asyncio
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import FileResponse, PlainTextResponse, Response

from backend.api.answers import error_response

PAGE: Final = "index.html"
# The build names these by their content, so what a browser holds never goes stale.
HASHED_FOLDER: Final = "assets/"
FOREVER: Final = "public, max-age=31536000, immutable"
NOT_BUILT: Final = "The console is not built; `make console` builds it.\n"


def build_router(console_dir: Path | None) -> APIRouter:
    """Make the routes of a console; without one, its address says so."""
    router = APIRouter(include_in_schema=False)
    files = _Files(console_dir)

    @router.api_route("/{path:path}", methods=["GET", "HEAD"])
    async def show_console(path: str) -> Response:
        file = await asyncio.to_thread(files.find, path)
        if file is not None and path != PAGE:
            cache = FOREVER if path.startswith(HASHED_FOLDER) else "no-cache"
            return FileResponse(file, headers={"Cache-Control": cache})
        if path.startswith(("api/", HASHED_FOLDER)):
            return error_response(HTTPStatus.NOT_FOUND, "not_found", "there is nothing here")
        page = await asyncio.to_thread(files.find, PAGE)
        if page is None:
            return PlainTextResponse(NOT_BUILT, status_code=HTTPStatus.NOT_FOUND)
        return FileResponse(page, headers={"Cache-Control": "no-cache"})

    return router


class _Files:
    """Know a console's files by their addresses."""

    def __init__(self, console_dir: Path | None) -> None:
        self._console_dir = console_dir
        self._found = _list_files(console_dir)

    def find(self, address: str) -> Path | None:
        found = self._found.get(address)
        if found is None or not found.is_file():
            self._found = _list_files(self._console_dir)
            found = self._found.get(address)
        return found


def _list_files(console_dir: Path | None) -> dict[str, Path]:
    if console_dir is None or not console_dir.is_dir():
        return {}
    root = console_dir.resolve()
    found = (path for path in root.rglob("*") if path.is_file())
    return {
        path.relative_to(root).as_posix(): path
        for path in found
        if path.resolve().is_relative_to(root)
    }
