"""Say which requests a broker of a group may serve in its role (control-plane.md 3.6, 3.7)."""

from typing import Final

from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal

_FOR_THE_MASTER: Final = frozenset(
    {
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        RequestCode.DELETE_TOPIC_IN_BROKER,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        RequestCode.DELETE_SUBSCRIPTIONGROUP,
        RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
    }
)
_FENCED: Final = _FOR_THE_MASTER | {
    RequestCode.PULL_MESSAGE,
    RequestCode.LITE_PULL_MESSAGE,
    RequestCode.QUERY_CONSUMER_OFFSET,
    RequestCode.UPDATE_CONSUMER_OFFSET,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
    RequestCode.GET_MAX_OFFSET,
    RequestCode.GET_MIN_OFFSET,
    RequestCode.GET_EARLIEST_MSG_STORETIME,
    RequestCode.LOCK_BATCH_MQ,
}

_FOR_ITS_RECORDS: Final = frozenset({RequestCode.UPDATE_CONSUMER_OFFSET})
"""What a master alone may take, because it alone can have it kept by the group (D14)."""


def check_role(code: int, *, is_readable: bool, is_master: bool) -> None:
    """Pass a request that a broker may serve in its role, and readers if it is readable.

    Raises:
        Refusal: it may not.
    """
    if code in _FENCED and not is_readable:
        raise Refusal(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            "this master may not show yet what was acknowledged before it: try again"
            if is_master
            else "no master of the group is known yet",
        )
    if code in _FOR_THE_MASTER and not is_master:
        raise Refusal(
            ResponseCode.NO_PERMISSION,
            "only the master changes topics, groups and offsets",
        )
    if code in _FOR_ITS_RECORDS and not is_master:
        raise Refusal(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            "only the master of the group takes committed offsets: ask for the route again",
        )
