"""Serve the built console: its files, and its page for every other address.

Only files from a list of the console's folder are served, so an address never becomes a path. If a
file is not in the list or is missing, the list is read again: the console may have been built
again, and its new page names new files.
"""

import asyncio
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import FileResponse, PlainTextResponse, Response

from backend.api.answers import error_response

PAGE: Final = "index.html"
# The build names these files by their content, so a browser cache is never outdated.
HASHED_FOLDER: Final = "assets/"
FOREVER: Final = "public, max-age=31536000, immutable"
NOT_BUILT: Final = "The console is not built; `make console` builds it.\n"


def build_router(console_dir: Path | None) -> APIRouter:
    """Make the routes of a console; without a console, its address answers an error."""
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
    """Hold the files of a console by their addresses."""

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
