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
    RequestCode.CLEAN_UNUSED_TOPIC,
}

_FOR_THE_GROUP: Final = frozenset({RequestCode.UPDATE_CONSUMER_OFFSET, RequestCode.LOCK_BATCH_MQ})
"""What counts in the group because one broker alone takes it: it has offsets kept by all (D14), and
gives no queue to two clients."""


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
    if code in _FOR_THE_GROUP and not is_master:
        raise Refusal(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            "only the master of the group takes committed offsets and gives locks:"
            " ask for the route again",
        )
