"""Translate what was refused into HTTP answers of one form.

Every error body is a problem document (RFC 9457) with two members more: ``code``, which stays the
same for programs whatever ``detail`` says to people, and ``facts``. What we did not foresee is told
without its inside; the log has it.
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

from backend.api.stock_codes import error_facts
from backend.clients.task_queue import TaskQueueUnavailable
from backend.db.unstorable import UNSTORABLE, UNSTORABLE_TOLD
from backend.domain import access_errors, errors, event_errors, message_errors, operation_errors
from backend.domain.errors import ErrorKind

ANSWERS: Final[Mapping[type[errors.DomainError], HTTPStatus]] = {
    errors.InvalidName: HTTPStatus.BAD_REQUEST,
    errors.InvalidAddress: HTTPStatus.BAD_REQUEST,
    errors.InvalidTopicSettings: HTTPStatus.BAD_REQUEST,
    errors.InvalidCursor: HTTPStatus.BAD_REQUEST,
    errors.InvalidPageSize: HTTPStatus.BAD_REQUEST,
    errors.InvalidSpan: HTTPStatus.BAD_REQUEST,
    errors.ClusterNotFound: HTTPStatus.NOT_FOUND,
    errors.BrokerGroupNotFound: HTTPStatus.NOT_FOUND,
    errors.TopicNotFound: HTTPStatus.NOT_FOUND,
    errors.CapacityReportNotFound: HTTPStatus.NOT_FOUND,
    errors.BrokerGroupAmbiguous: HTTPStatus.CONFLICT,
    errors.BrokerGroupNotControlled: HTTPStatus.NOT_FOUND,
    errors.BrokerGroupBusy: HTTPStatus.CONFLICT,
    errors.BrokerIdRefused: HTTPStatus.CONFLICT,
    errors.BrokerNotRegistered: HTTPStatus.NOT_FOUND,
    errors.AdoptionAwaited: HTTPStatus.CONFLICT,
    errors.AdoptionRefused: HTTPStatus.CONFLICT,
    errors.AlterSyncStateSetRefused: HTTPStatus.CONFLICT,
    errors.NotTheMaster: HTTPStatus.CONFLICT,
    errors.MasterEpochFenced: HTTPStatus.CONFLICT,
    errors.MasterEpochMoved: HTTPStatus.PRECONDITION_FAILED,
    errors.SyncStateSetEpochFenced: HTTPStatus.CONFLICT,
    errors.UnknownReplica: HTTPStatus.CONFLICT,
    errors.BrokerNotAlive: HTTPStatus.CONFLICT,
    errors.MasterNotAvailable: HTTPStatus.CONFLICT,
    errors.ElectionFailed: HTTPStatus.CONFLICT,
    errors.MasterLeaseLive: HTTPStatus.CONFLICT,
    errors.CleanRefused: HTTPStatus.CONFLICT,
    errors.RegistrationRefused: HTTPStatus.CONFLICT,
    errors.RouteNotFound: HTTPStatus.NOT_FOUND,
    errors.SettingNotFound: HTTPStatus.NOT_FOUND,
    errors.TooManySettings: HTTPStatus.CONFLICT,
    errors.VersionMoved: HTTPStatus.PRECONDITION_FAILED,
    errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
    errors.InvalidCredentials: HTTPStatus.UNAUTHORIZED,
    errors.TooManyAttempts: HTTPStatus.TOO_MANY_REQUESTS,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    access_errors.PasswordChangeRequired: HTTPStatus.FORBIDDEN,
    access_errors.InvalidPassword: HTTPStatus.BAD_REQUEST,
    access_errors.InvalidClusterPattern: HTTPStatus.BAD_REQUEST,
    access_errors.InvalidTokenScope: HTTPStatus.BAD_REQUEST,
    access_errors.UserNotFound: HTTPStatus.NOT_FOUND,
    access_errors.UserAlreadyExists: HTTPStatus.CONFLICT,
    access_errors.LastAdministrator: HTTPStatus.CONFLICT,
    access_errors.SessionNotFound: HTTPStatus.NOT_FOUND,
    access_errors.ApiTokenNotFound: HTTPStatus.NOT_FOUND,
    access_errors.ApiTokenAlreadyExists: HTTPStatus.CONFLICT,
    access_errors.TooManyApiTokens: HTTPStatus.CONFLICT,
    message_errors.MessageNotFound: HTTPStatus.NOT_FOUND,
    message_errors.InvalidMessageSearch: HTTPStatus.BAD_REQUEST,
    message_errors.ClientNotFound: HTTPStatus.NOT_FOUND,
    event_errors.EventsExpired: HTTPStatus.CONFLICT,
    event_errors.SubscriberTooSlow: HTTPStatus.CONFLICT,
    operation_errors.OperationNotFound: HTTPStatus.NOT_FOUND,
    operation_errors.OperationStateConflict: HTTPStatus.CONFLICT,
    operation_errors.OperationFenced: HTTPStatus.CONFLICT,
    operation_errors.PlanExpired: HTTPStatus.PRECONDITION_FAILED,
    operation_errors.PlanBlocked: HTTPStatus.CONFLICT,
    operation_errors.PreconditionMoved: HTTPStatus.PRECONDITION_FAILED,
    operation_errors.ConfirmationMissing: HTTPStatus.UNPROCESSABLE_ENTITY,
    operation_errors.InvalidParameters: HTTPStatus.BAD_REQUEST,
    operation_errors.NotUndoable: HTTPStatus.CONFLICT,
    operation_errors.IdempotencyKeyReused: HTTPStatus.UNPROCESSABLE_ENTITY,
    operation_errors.LockNotFound: HTTPStatus.NOT_FOUND,
    operation_errors.BrokerStillCounted: HTTPStatus.CONFLICT,
    operation_errors.ChangeRefused: HTTPStatus.CONFLICT,
    operation_errors.ConsumerGroupNotFound: HTTPStatus.NOT_FOUND,
    operation_errors.BrokerUnknown: HTTPStatus.NOT_FOUND,
    operation_errors.BrokerSilent: HTTPStatus.BAD_GATEWAY,
}

STATUSES: Final[Mapping[errors.ErrorKind, HTTPStatus]] = {
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

# What lies behind us is away for a while; the caller may try again.
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
        # The code tells what a type of its own would; the title is that of the status (4.2.1).
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": message,
        "code": code,
        "facts": facts,
    }
    return JSONResponse(body, status_code=status, headers=headers, media_type=PROBLEM_MEDIA_TYPE)


def domain_error_response(error: errors.DomainError) -> JSONResponse:
    """Answer a refusal by the table."""
    status = ANSWERS.get(type(error), HTTPStatus.BAD_REQUEST)
    headers = {}
    if isinstance(error, errors.TooManyAttempts):
        headers["Retry-After"] = str(error.retry_after_s)
    if status is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    facts = error_facts(error) or None
    message = _printable(str(error))
    return error_response(status, error.code, message, facts=facts, headers=headers)


def unavailable_response(error: Exception) -> JSONResponse:
    """Answer that something behind us is away."""
    log.warning("dependency_unavailable", error=str(error))
    return error_response(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "unavailable",
        "a store behind the control plane does not answer; try again",
        headers={"Retry-After": "1"},
    )


def add_handlers(app: FastAPI) -> None:
    """Have an application answer every error in one form."""

    @app.exception_handler(errors.DomainError)
    async def on_domain_error(_request: Request, error: errors.DomainError) -> JSONResponse:
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
            return error_response(HTTPStatus.BAD_REQUEST, "invalid_input", UNSTORABLE_TOLD)

    for kind in UNAVAILABLE:

        @app.exception_handler(kind)
        async def on_unavailable(_request: Request, error: Exception) -> JSONResponse:
            return unavailable_response(error)


def _printable(message: str) -> str:
    return message.encode("utf-8", "replace").decode()
