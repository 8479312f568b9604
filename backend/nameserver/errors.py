"""Translate domain errors into the protocol's response codes."""

from collections.abc import Mapping
from typing import Final

from backend.domain import errors
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
    errors.RegistrationRefused: ResponseCode.SYSTEM_ERROR,
    # Clients fall back to the template topic's route on exactly this code (remoting.md 7.3).
    errors.RouteNotFound: ResponseCode.TOPIC_NOT_EXIST,
    errors.SettingNotFound: ResponseCode.QUERY_NOT_FOUND,
    errors.TooManySettings: ResponseCode.SYSTEM_BUSY,
    errors.Unauthenticated: ResponseCode.NO_PERMISSION,
    errors.InvalidCredentials: ResponseCode.NO_PERMISSION,
    errors.TooManyAttempts: ResponseCode.SYSTEM_BUSY,
    errors.Forbidden: ResponseCode.NO_PERMISSION,
}
