"""Translate domain errors into GraphQL errors with a code, and mask all others."""

from collections.abc import Mapping
from typing import Final

import structlog
from graphql import GraphQLError
from strawberry.extensions import MaskErrors

from backend.api.answers import UNAVAILABLE, error_facts
from backend.db.unstorable import UNSTORABLE, UNSTORABLE_TEXT
from backend.domain.errors import DomainError, ErrorKind

CODES: Final[Mapping[ErrorKind, str]] = {
    ErrorKind.INVALID: "invalid_input",
    ErrorKind.NOT_FOUND: "not_found",
    ErrorKind.CONFLICT: "conflict",
    ErrorKind.OUTDATED: "precondition_failed",
    ErrorKind.UNCONFIRMED: "confirmation_missing",
    ErrorKind.REUSED: "invalid_input",
    ErrorKind.UNAUTHENTICATED: "unauthenticated",
    ErrorKind.FORBIDDEN: "forbidden",
    ErrorKind.THROTTLED: "too_many_attempts",
    ErrorKind.EXPIRED: "events_expired",
    ErrorKind.TOO_SLOW: "subscriber_too_slow",
    ErrorKind.UNAVAILABLE: "unavailable",
}
_FACT_NAMES: Final = {
    "stock_code": "stockCode",
    "oldest_number": "oldestNumber",
    "newest_number": "newestNumber",
    "topic_name": "topicName",
    "unique_key": "uniqueKey",
}
INVALID_INPUT: Final = "invalid_input"
INTERNAL: Final = "internal"
UNAVAILABLE_CODE: Final = "unavailable"

log = structlog.get_logger(__name__)


class ExplainErrors(MaskErrors):
    """Add the code to every error of an answer, and mask unexpected errors."""

    def anonymise_error(self, error: GraphQLError) -> GraphQLError:
        """Return an error as the caller may see it."""
        return explain(error)


def explain(error: GraphQLError) -> GraphQLError:
    """Return an error as the caller may see it; a second call changes nothing."""
    if error.extensions and "code" in error.extensions:
        return error
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if cause is None or isinstance(cause, GraphQLError):
        return _with(error, INVALID_INPUT, error.message)
    if isinstance(cause, DomainError):
        answer = error_facts(cause)
        facts = {_FACT_NAMES.get(name, name): answer[name] for name in answer}
        return _with(error, CODES[cause.kind], str(cause), reason=cause.code, **facts)
    if isinstance(cause, UNAVAILABLE):
        log.warning("dependency_unavailable", error=str(cause))
        return _with(error, UNAVAILABLE_CODE, "a store behind the control plane does not answer")
    if isinstance(cause, UNSTORABLE):
        return _with(error, INVALID_INPUT, UNSTORABLE_TEXT)
    log.error("resolver_failed", path=error.path, exc_info=cause)
    return _with(error, INTERNAL, "the control plane failed")


def _with(error: GraphQLError, code: str, message: str, **facts: object) -> GraphQLError:
    return GraphQLError(
        message,
        nodes=error.nodes,
        source=error.source,
        positions=error.positions,
        path=error.path,
        extensions={"code": code, **facts},
    )
