"""Translate domain errors into the protocol's response codes."""

from collections.abc import Mapping
from typing import Final

from backend.domain import errors, event_errors, operation_errors
from backend.remoting.response_code import ResponseCode

ANSWERS: Final[Mapping[type[errors.DomainError], ResponseCode]] = {
    errors.InvalidName: ResponseCode.INVALID_PARAMETER,
    errors.InvalidAddress: ResponseCode.INVALID_PARAMETER,
    errors.InvalidTopicSettings: ResponseCode.INVALID_PARAMETER,
    errors.InvalidCursor: ResponseCode.INVALID_PARAMETER,
    errors.InvalidPageSize: ResponseCode.INVALID_PARAMETER,
    errors.ClusterNotFound: ResponseCode.SYSTEM_ERROR,
    errors.BrokerGroupNotFound: ResponseCode.BROKER_NOT_EXIST,
    errors.TopicNotFound: ResponseCode.TOPIC_NOT_EXIST,
    errors.CapacityReportNotFound: ResponseCode.QUERY_NOT_FOUND,
    errors.BrokerGroupAmbiguous: ResponseCode.SYSTEM_ERROR,
    errors.BrokerGroupNotControlled: ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST,
    errors.BrokerGroupBusy: ResponseCode.SYSTEM_BUSY,
    errors.BrokerIdRefused: ResponseCode.CONTROLLER_BROKER_ID_INVALID,
    errors.BrokerNotRegistered: ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED,
    errors.AdoptionAwaited: ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED,
    errors.AdoptionRefused: ResponseCode.CONTROLLER_INVALID_REQUEST,
    errors.AlterSyncStateSetRefused: ResponseCode.CONTROLLER_ALTER_SYNC_STATE_SET_FAILED,
    errors.NotTheMaster: ResponseCode.CONTROLLER_INVALID_MASTER,
    errors.MasterEpochFenced: ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH,
    errors.MasterEpochMoved: ResponseCode.CONTROLLER_FENCED_MASTER_EPOCH,
    errors.SyncStateSetEpochFenced: ResponseCode.CONTROLLER_FENCED_SYNC_STATE_SET_EPOCH,
    errors.UnknownReplica: ResponseCode.CONTROLLER_INVALID_REPLICAS,
    errors.BrokerNotAlive: ResponseCode.CONTROLLER_BROKER_NOT_ALIVE,
    errors.MasterNotAvailable: ResponseCode.CONTROLLER_MASTER_NOT_AVAILABLE,
    errors.ElectionFailed: ResponseCode.CONTROLLER_ELECT_MASTER_FAILED,
    errors.MasterLeaseLive: ResponseCode.CONTROLLER_ELECT_MASTER_FAILED,
    errors.CleanRefused: ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA,
    errors.RegistrationRefused: ResponseCode.SYSTEM_ERROR,
    # Clients fall back to the template topic's route on exactly this code (remoting.md 7.3).
    errors.RouteNotFound: ResponseCode.TOPIC_NOT_EXIST,
    errors.SettingNotFound: ResponseCode.QUERY_NOT_FOUND,
    errors.TooManySettings: ResponseCode.SYSTEM_BUSY,
    errors.Unauthenticated: ResponseCode.NO_PERMISSION,
    errors.InvalidCredentials: ResponseCode.NO_PERMISSION,
    errors.TooManyAttempts: ResponseCode.SYSTEM_BUSY,
    errors.Forbidden: ResponseCode.NO_PERMISSION,
    event_errors.EventsExpired: ResponseCode.SYSTEM_ERROR,
    event_errors.SubscriberTooSlow: ResponseCode.SYSTEM_BUSY,
    operation_errors.OperationNotFound: ResponseCode.QUERY_NOT_FOUND,
    operation_errors.OperationStateConflict: ResponseCode.SYSTEM_ERROR,
    operation_errors.OperationFenced: ResponseCode.SYSTEM_ERROR,
    operation_errors.PlanExpired: ResponseCode.SYSTEM_ERROR,
    operation_errors.PlanBlocked: ResponseCode.SYSTEM_ERROR,
    operation_errors.PreconditionMoved: ResponseCode.SYSTEM_ERROR,
    operation_errors.ConfirmationMissing: ResponseCode.INVALID_PARAMETER,
    operation_errors.InvalidParameters: ResponseCode.INVALID_PARAMETER,
    operation_errors.NotUndoable: ResponseCode.SYSTEM_ERROR,
    operation_errors.IdempotencyKeyReused: ResponseCode.INVALID_PARAMETER,
}
