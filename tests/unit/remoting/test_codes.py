from backend.remoting.request_code import PROTOCOL_VERSION, RequestCode
from backend.remoting.response_code import ResponseCode


def test_request_codes_are_each_a_number_of_their_own():
    assert len(RequestCode.__members__) == len(set(RequestCode))


def test_each_request_of_ours_has_the_protocol_version_that_added_it():
    # Q73: those of RocketMQ have none.
    ours = {code for code in RequestCode if 4101 <= code <= 4104 or 7001 <= code < 8000}

    assert {code for code in RequestCode if code.since} == ours
    assert all(code.since <= PROTOCOL_VERSION for code in ours)
    assert RequestCode.HAND_OVER.since == 1


def test_response_codes_are_each_a_number_of_their_own():
    assert len(ResponseCode.__members__) == len(set(ResponseCode))


def test_every_response_code_fits_the_16_bits_that_go_clients_give_it():
    assert all(-(2**15) <= code < 2**15 for code in ResponseCode)
