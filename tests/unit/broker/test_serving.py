"""What each request code means for a broker, as its processor declares it."""

import pytest

from backend.remoting.request_code import RequestCode
from workers.broker.dispatcher import Dispatcher  # noqa: F401 - declares every request
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole, check_role
from workers.broker.requests.serving import REQUESTS, find_served, serves

READABLE = {
    RequestCode.PULL_MESSAGE,
    RequestCode.LITE_PULL_MESSAGE,
    RequestCode.QUERY_CONSUMER_OFFSET,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP,
    RequestCode.GET_MAX_OFFSET,
    RequestCode.GET_MIN_OFFSET,
    RequestCode.GET_EARLIEST_MSG_STORETIME,
    RequestCode.CLEAN_UNUSED_TOPIC,
    RequestCode.GET_PENDING_TRANSACTIONS,
}
ORDERS = {17, 215, 200, 207, 401, 513, 7011, 7012, 7013, 7014, 7016, 7019}
MEMBERS_TAKE = {RequestCode.POP_MESSAGE, RequestCode.NOTIFICATION}
"""A replica takes them for topics in SHARED mode, and refuses them for others itself."""

POPS = {RequestCode.PEEK_MESSAGE, *MEMBERS_TAKE}
ACKNOWLEDGEMENTS = {
    RequestCode.ACK_MESSAGE,
    RequestCode.BATCH_ACK_MESSAGE,
    RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
}
MASTER_TAKES = {
    RequestCode.UPDATE_CONSUMER_OFFSET,
    RequestCode.LOCK_BATCH_MQ,
    RequestCode.PEEK_MESSAGE,
    RequestCode.SHARE_STATE_APPEND,
    *ACKNOWLEDGEMENTS,
}


@pytest.mark.parametrize("code", RequestCode)
def test_a_replica_passes_on_what_the_master_alone_may_do(code):
    takes = {10, 310, 320, 36, 37, 14, 15, 41, 42, 323, 370, 4101, 7018}

    assert find_served(code).is_passed_on == (code in takes | ORDERS | ACKNOWLEDGEMENTS)


@pytest.mark.parametrize("code", sorted(READABLE | MASTER_TAKES | MEMBERS_TAKE))
def test_readers_are_refused_before_the_log_may_be_shown(code):
    with pytest.raises(Refusal) as refusal:
        check_role(find_served(code).role, is_readable=False, is_master=True)

    assert refusal.value.code == 14


@pytest.mark.parametrize("code", sorted(MASTER_TAKES))
def test_a_replica_takes_no_offsets_and_gives_no_locks(code):
    with pytest.raises(Refusal) as refusal:
        check_role(find_served(code).role, is_readable=True, is_master=False)

    assert refusal.value.code == 14


@pytest.mark.parametrize("code", sorted({222, *ORDERS}))
def test_a_replica_takes_no_orders(code):
    with pytest.raises(Refusal) as refusal:
        check_role(find_served(code).role, is_readable=True, is_master=False)

    assert refusal.value.code == 16


@pytest.mark.parametrize("code", sorted(READABLE | MEMBERS_TAKE))
def test_a_replica_serves_readers_once_the_log_may_be_shown(code):
    check_role(find_served(code).role, is_readable=True, is_master=False)


def test_a_broker_of_an_older_version_knows_no_later_request():
    # Q74, Q77: its answer is that of an unknown code.
    code = RequestCode.COMPACT_SHARE_QUEUES
    assert code.since == 2

    assert find_served(code, 2) is REQUESTS[code]
    assert find_served(code, 1) is find_served(999_999)
    assert find_served(RequestCode.GET_SHARE_QUEUES, 1) is REQUESTS[RequestCode.GET_SHARE_QUEUES]


def test_the_fast_port_serves_everything_but_pulls():
    refused = {code for code, served in REQUESTS.items() if not served.on_fast_port}

    pulls = {RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE, RequestCode.PEEK_MESSAGE}
    assert refused == {*pulls, *POPS}


def test_a_request_has_one_processor():
    declare = serves(RequestCode.SEND_MESSAGE, role=RequiredRole.ANY, passed_on=False, target=None)

    with pytest.raises(ValueError, match="SEND_MESSAGE has two processors"):
        declare(lambda _broker, _caller, _command: b"")
