"""Translate what was refused into GraphQL errors with a code, and mask the rest."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import structlog
from graphql import ExecutionResult as CoreExecutionResult
from graphql import GraphQLError
from strawberry.extensions import SchemaExtension
from strawberry.types.execution import ExecutionResult

from backend.api.answers import UNAVAILABLE
from backend.api.stock_codes import error_facts
from backend.db.unstorable import UNSTORABLE, UNSTORABLE_TOLD
from backend.domain import access_errors, errors, event_errors, message_errors, operation_errors
from backend.domain.errors import ErrorKind

CODES: Final[Mapping[type[errors.DomainError], str]] = {
    errors.InvalidName: "invalid_input",
    errors.InvalidAddress: "invalid_input",
    errors.InvalidTopicSettings: "invalid_input",
    errors.InvalidCursor: "invalid_input",
    errors.InvalidPageSize: "invalid_input",
    errors.InvalidSpan: "invalid_input",
    errors.ClusterNotFound: "not_found",
    errors.BrokerGroupNotFound: "not_found",
    errors.TopicNotFound: "not_found",
    errors.CapacityReportNotFound: "not_found",
    errors.BrokerGroupAmbiguous: "conflict",
    errors.BrokerGroupNotControlled: "not_found",
    errors.BrokerGroupBusy: "conflict",
    errors.BrokerIdRefused: "conflict",
    errors.BrokerNotRegistered: "not_found",
    errors.AdoptionAwaited: "conflict",
    errors.AdoptionRefused: "conflict",
    errors.AlterSyncStateSetRefused: "conflict",
    errors.NotTheMaster: "conflict",
    errors.MasterEpochFenced: "conflict",
    errors.MasterEpochMoved: "precondition_failed",
    errors.SyncStateSetEpochFenced: "conflict",
    errors.UnknownReplica: "conflict",
    errors.BrokerNotAlive: "conflict",
    errors.MasterNotAvailable: "conflict",
    errors.ElectionFailed: "conflict",
    errors.MasterLeaseLive: "conflict",
    errors.CleanRefused: "conflict",
    errors.RegistrationRefused: "conflict",
    errors.RouteNotFound: "not_found",
    errors.SettingNotFound: "not_found",
    errors.TooManySettings: "conflict",
    errors.VersionMoved: "precondition_failed",
    errors.Unauthenticated: "unauthenticated",
    errors.InvalidCredentials: "unauthenticated",
    errors.TooManyAttempts: "too_many_attempts",
    errors.Forbidden: "forbidden",
    access_errors.PasswordChangeRequired: "forbidden",
    access_errors.InvalidPassword: "invalid_input",
    access_errors.InvalidClusterPattern: "invalid_input",
    access_errors.InvalidTokenScope: "invalid_input",
    access_errors.UserNotFound: "not_found",
    access_errors.UserAlreadyExists: "conflict",
    access_errors.LastAdministrator: "conflict",
    access_errors.SessionNotFound: "not_found",
    access_errors.ApiTokenNotFound: "not_found",
    access_errors.ApiTokenAlreadyExists: "conflict",
    access_errors.TooManyApiTokens: "conflict",
    message_errors.MessageNotFound: "not_found",
    message_errors.InvalidMessageSearch: "invalid_input",
    message_errors.ClientNotFound: "not_found",
    event_errors.EventsExpired: "events_expired",
    event_errors.SubscriberTooSlow: "subscriber_too_slow",
    operation_errors.OperationNotFound: "not_found",
    operation_errors.OperationStateConflict: "conflict",
    operation_errors.OperationFenced: "conflict",
    operation_errors.PlanExpired: "precondition_failed",
    operation_errors.PlanBlocked: "conflict",
    operation_errors.PreconditionMoved: "precondition_failed",
    operation_errors.ConfirmationMissing: "confirmation_missing",
    operation_errors.InvalidParameters: "invalid_input",
    operation_errors.NotUndoable: "conflict",
    operation_errors.IdempotencyKeyReused: "invalid_input",
    operation_errors.LockNotFound: "not_found",
    operation_errors.BrokerStillCounted: "conflict",
    operation_errors.ChangeRefused: "conflict",
    operation_errors.ConsumerGroupNotFound: "not_found",
    operation_errors.BrokerUnknown: "not_found",
    operation_errors.BrokerSilent: "unavailable",
}
KIND_CODES: Final[Mapping[ErrorKind, str]] = {
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
}
INVALID_INPUT: Final = "invalid_input"
INTERNAL: Final = "internal"
UNAVAILABLE_CODE: Final = "unavailable"

log = structlog.get_logger(__name__)


class TellErrors(SchemaExtension):
    """Give every error of an answer its code before it leaves."""

    def on_operation(self) -> Iterator[None]:
        """Go over the errors of a finished operation."""
        yield
        _tell(self.execution_context.result)

    def on_stream_result(self, result: Any) -> Iterator[None]:
        """Go over the errors of one item of a subscription."""
        _tell(result)
        yield None


def tell(error: GraphQLError) -> GraphQLError:
    """Return an error as the caller may see it; doing so twice changes nothing."""
    if error.extensions and "code" in error.extensions:
        return error
    cause = error.original_error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    if cause is None or isinstance(cause, GraphQLError):
        return _with(error, INVALID_INPUT, error.message)
    if isinstance(cause, errors.DomainError):
        code = CODES.get(type(cause), INVALID_INPUT)
        told = error_facts(cause)
        facts = {_FACT_NAMES.get(name, name): told[name] for name in told}
        return _with(error, code, str(cause), reason=cause.code, **facts)
    if isinstance(cause, UNAVAILABLE):
        log.warning("dependency_unavailable", error=str(cause))
        return _with(error, UNAVAILABLE_CODE, "a store behind the control plane does not answer")
    if isinstance(cause, UNSTORABLE):
        return _with(error, INVALID_INPUT, UNSTORABLE_TOLD)
    log.error("resolver_failed", path=error.path, exc_info=cause)
    return _with(error, INTERNAL, "the control plane failed")


def _tell(result: object) -> None:
    if isinstance(result, (CoreExecutionResult, ExecutionResult)) and result.errors:
        result.errors = [tell(error) for error in result.errors]


def _with(error: GraphQLError, code: str, message: str, **facts: object) -> GraphQLError:
    return GraphQLError(
        message,
        nodes=error.nodes,
        source=error.source,
        positions=error.positions,
        path=error.path,
        extensions={"code": code, **facts},
    )
