"""Hold the response code of RocketMQ for an error.

The table lists the errors of remoting requests, and those of orders to a controller, whose codes
the other doors show too. Tools and scripts of RocketMQ know the codes.
"""

from collections.abc import Mapping
from typing import Final

from backend.domain import errors
from backend.remoting.response_code import ResponseCode

STOCK_CODES: Final[Mapping[type[errors.DomainError], ResponseCode]] = {
    errors.InvalidName: ResponseCode.INVALID_PARAMETER,
    errors.InvalidAddress: ResponseCode.INVALID_PARAMETER,
    errors.InvalidTopicSettings: ResponseCode.INVALID_PARAMETER,
    # Clients fall back to the template topic's route on exactly this code (remoting.md 7.3).
    errors.RouteNotFound: ResponseCode.TOPIC_NOT_EXIST,
    errors.SettingNotFound: ResponseCode.QUERY_NOT_FOUND,
    errors.TooManySettings: ResponseCode.SYSTEM_BUSY,
    errors.BrokerGroupBusy: ResponseCode.SYSTEM_BUSY,
    errors.BrokerProcessUnknown: ResponseCode.SYSTEM_BUSY,
    errors.BrokerGroupNotControlled: ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST,
    errors.BrokerIdRefused: ResponseCode.CONTROLLER_BROKER_ID_INVALID,
    errors.ProtocolVersionRefused: ResponseCode.CONTROLLER_INVALID_REQUEST,
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
}
_CONTROLLER_CODES: Final = frozenset(
    code for code in ResponseCode if code.name.startswith("CONTROLLER_")
)


def stock_code_of(error: errors.DomainError) -> ResponseCode:
    """Return the response code that the remoting door answers."""
    return STOCK_CODES.get(type(error), ResponseCode.SYSTEM_ERROR)


def find_controller_code(error: errors.DomainError) -> int | None:
    """Find the response code of an error that RocketMQ's controller has too."""
    code = STOCK_CODES.get(type(error))
    return int(code) if code in _CONTROLLER_CODES else None
