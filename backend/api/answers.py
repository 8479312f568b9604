"""Translate errors into HTTP answers of one form.

Every error body is a problem document (RFC 9457) with two further members: ``code``, which is
stable for programs, while ``detail`` is for people, and ``facts``. The answer to an unexpected
error has no details; the log has them.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException

from backend.clients.task_queue import TaskQueueUnavailable
from backend.db.unstorable import UNSTORABLE, UNSTORABLE_TEXT
from backend.domain.errors import DomainError, ErrorKind, TooManyAttempts
from backend.services.stock_codes import find_controller_code

STATUSES: Final[Mapping[ErrorKind, HTTPStatus]] = {
    ErrorKind.INVALID: HTTPStatus.BAD_REQUEST,
    ErrorKind.NOT_FOUND: HTTPStatus.NOT_FOUND,
    ErrorKind.CONFLICT: HTTPStatus.CONFLICT,
    ErrorKind.OUTDATED: HTTPStatus.PRECONDITION_FAILED,
    ErrorKind.UNCONFIRMED: HTTPStatus.UNPROCESSABLE_ENTITY,
    ErrorKind.REUSED: HTTPStatus.UNPROCESSABLE_ENTITY,
    ErrorKind.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    ErrorKind.FORBIDDEN: HTTPStatus.FORBIDDEN,
    ErrorKind.THROTTLED: HTTPStatus.TOO_MANY_REQUESTS,
    ErrorKind.EXPIRED: HTTPStatus.CONFLICT,
    ErrorKind.TOO_SLOW: HTTPStatus.CONFLICT,
    ErrorKind.UNAVAILABLE: HTTPStatus.BAD_GATEWAY,
}

# Errors of unavailable databases; the caller may try again.
UNAVAILABLE: Final = (
    OperationalError,
    InterfaceError,
    PoolTimeoutError,
    RedisError,
    TaskQueueUnavailable,
    TimeoutError,
    ConnectionError,
)

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"

log = structlog.get_logger(__name__)


def error_response(
    status: HTTPStatus,
    code: str,
    message: str,
    *,
    facts: Any = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Make an error answer."""
    body = {
        # The code has the information of a type; the title is that of the status (RFC 9457, 4.2.1).
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": message,
        "code": code,
        "facts": facts,
    }
    return JSONResponse(body, status_code=status, headers=headers, media_type=PROBLEM_MEDIA_TYPE)


def domain_error_response(error: DomainError) -> JSONResponse:
    """Answer an error by its kind."""
    status = STATUSES[error.kind]
    headers = {}
    if isinstance(error, TooManyAttempts):
        headers["Retry-After"] = str(error.retry_after_s)
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    facts = error_facts(error) or None
    message = _printable(str(error))
    return error_response(status, error.code, message, facts=facts, headers=headers)


def error_facts(error: DomainError) -> dict[str, Any]:
    """Return the facts of an error, with the response code of RocketMQ's controller for it."""
    code = find_controller_code(error)
    return error.facts if code is None else {"stock_code": code, **error.facts}


def unavailable_response(error: Exception) -> JSONResponse:
    """Answer that a database is unavailable."""
    log.warning("dependency_unavailable", error=str(error))
    return error_response(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "a store behind the control plane does not answer; try again",
        headers={"Retry-After": "1"},
    )


def add_handlers(app: FastAPI) -> None:
    """Make an application answer every error in one form."""

    @app.exception_handler(DomainError)
    async def on_domain_error(_request: Request, error: DomainError) -> JSONResponse:
        return domain_error_response(error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid_request(_request: Request, error: RequestValidationError) -> JSONResponse:
        faults = [
            {"at": [str(part) for part in fault["loc"]], "reason": fault["msg"]}
            for fault in error.errors()
        ]
        return error_response(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "invalid_input",
            "the request does not have the documented form",
            facts=faults,
        )

    @app.exception_handler(HTTPException)
    async def on_http_error(_request: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        code = status.name.lower()
        return error_response(status, code, status.phrase, headers=error.headers)

    @app.exception_handler(Exception)
    async def on_unforeseen(_request: Request, error: Exception) -> JSONResponse:
        log.error("request_failed", error=type(error).__name__)
        return error_response(
            HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "the control plane failed"
        )

    for unstorable in UNSTORABLE:

        @app.exception_handler(unstorable)
        async def on_unstorable(_request: Request, _error: Exception) -> JSONResponse:
            return error_response(HTTPStatus.BAD_REQUEST, "invalid_input", UNSTORABLE_TEXT)

    for kind in UNAVAILABLE:

        @app.exception_handler(kind)
        async def on_unavailable(_request: Request, error: Exception) -> JSONResponse:
            return unavailable_response(error)


def _printable(message: str) -> str:
    return message.encode("utf-8", "replace").decode()
