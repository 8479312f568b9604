"""Senders of unconfirmed messages get the answer they would have got, with its true code."""

import pytest
from regent_engine import Decoder, encode_command

from backend.remoting.response_code import ResponseCode
from workers.broker.replication.acknowledgement import Outcome
from workers.broker.replication.late_answers import unconfirmed


@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
def test_each_answer_keeps_its_request_and_its_offset(encoding):
    frames = b"".join(
        encode_command(
            code=0, opaque=opaque, flag=1, ext={"queueOffset": str(opaque)}, encoding=encoding
        )
        for opaque in (7, 8)
    )

    late = Decoder(1 << 20).receive(unconfirmed(frames, Outcome.LATE))

    assert [answer.code for answer in late] == [ResponseCode.FLUSH_SLAVE_TIMEOUT] * 2
    assert [(answer.opaque, answer.ext["queueOffset"]) for answer in late] == [(7, "7"), (8, "8")]
    assert all(answer.is_response and answer.encoding == encoding for answer in late)


def test_a_deposed_master_tells_nobody_that_a_message_is_stored():
    frame = encode_command(code=0, opaque=7, flag=1, ext={"queueOffset": "1"})

    [answer] = Decoder(1 << 20).receive(unconfirmed(frame, Outcome.DEPOSED))

    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert "no master any more" in answer.remark


def test_a_refusal_stays_what_it_was():
    frame = encode_command(code=13, opaque=7, flag=1, remark="illegal")

    [answer] = Decoder(1 << 20).receive(unconfirmed(frame, Outcome.LATE))

    assert (answer.code, answer.remark) == (13, "illegal")
