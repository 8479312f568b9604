"""Sign in to a local cluster with the password in its directory, and keep the session there.

Checking a password is slow by design; the session makes the next command faster.
"""

import contextlib
from collections.abc import Generator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx

from backend.cli.private_file import write_private


def kept_token(path: Path) -> str | None:
    """Return the token of the session in a file; the session may have ended."""
    try:
        return path.read_text().strip() or None
    except (OSError, ValueError):
        # Without access to the file, sign in and keep the new session instead.
        return None


class LocalSession(httpx.Auth):
    """Authorize requests with the kept session, or with a new session if that has ended.

    `is_passing` means that the session could not be stored, so its command must end it.
    """

    def __init__(self, sign_in: httpx.Request, path: Path) -> None:
        self._sign_in = sign_in
        self._path = path
        self._token = kept_token(path)
        self.is_passing = False

    def sync_auth_flow(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, None]:
        """Send a request; if the sign-in fails, return the answer of the sign-in."""
        if self._token is not None:
            response = yield self._authorized(request)
            if not _is_over(response):
                return
        answer = yield self._sign_in
        answer.read()
        token = json_object(answer).get("token")
        if isinstance(token, str):
            self._keep(token)
            yield self._authorized(request)

    def _authorized(self, request: httpx.Request) -> httpx.Request:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _keep(self, token: str) -> None:
        self._token = token
        try:
            write_private(self._path, f"{token}\n")
        except OSError:
            self.is_passing = True


def _is_over(response: httpx.Response) -> bool:
    if response.status_code != HTTPStatus.UNAUTHORIZED:
        return False
    response.read()
    # A wrong password given by the user has the same status.
    return json_object(response).get("code") == "unauthenticated"


def json_object(response: httpx.Response) -> Mapping[str, Any]:
    """Return the object in an answer that was read; without an object return an empty one."""
    with contextlib.suppress(ValueError):
        body = response.json()
        if isinstance(body, dict):
            return body
    return {}
