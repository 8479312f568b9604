from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode


def test_request_codes_are_each_a_number_of_their_own():
    assert len(RequestCode.__members__) == len(set(RequestCode))


def test_response_codes_are_each_a_number_of_their_own():
    assert len(ResponseCode.__members__) == len(set(ResponseCode))


def test_every_response_code_fits_the_16_bits_that_go_clients_give_it():
    assert all(-(2**15) <= code < 2**15 for code in ResponseCode)
