"""Senders of messages that are not safe get the answer they would have got, with its true code."""

import pytest
from regent_engine import Decoder, encode_command

from backend.remoting.response_code import ResponseCode
from workers.broker.commit_log.late_answers import unconfirmed
from workers.broker.replication.acknowledgement import Outcome


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


def test_a_deposed_master_confirms_no_message():
    frame = encode_command(code=0, opaque=7, flag=1, ext={"queueOffset": "1"})

    [answer] = Decoder(1 << 20).receive(unconfirmed(frame, Outcome.DEPOSED))

    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert "no longer the master, so it is unknown" in answer.remark


def test_a_refusal_stays_what_it_was():
    frame = encode_command(code=13, opaque=7, flag=1, remark="illegal")

    [answer] = Decoder(1 << 20).receive(unconfirmed(frame, Outcome.LATE))

    assert (answer.code, answer.remark) == (13, "illegal")


@pytest.mark.parametrize("outcome", [Outcome.LATE, Outcome.DEPOSED])
def test_the_answer_to_a_batch_may_name_more_messages_than_a_request_has_room_for(outcome):
    ids = ",".join(f"{number:032X}" for number in range(40_000))
    frame = encode_command(code=0, opaque=7, flag=1, ext={"msgId": ids})
    decoder = Decoder(16 << 20, header_size_max=16 << 20)

    [answer] = decoder.receive(unconfirmed(frame, outcome))

    assert len(ids) > 1 << 20
    assert answer.code != ResponseCode.SUCCESS
    assert answer.ext["msgId"] == ids


def test_an_answer_that_waits_for_the_disk_keeps_its_fields():
    stored = encode_command(code=0, opaque=7, flag=1, ext={"queueOffset": "1"})
    refused = encode_command(code=13, opaque=8, flag=1, remark="illegal")

    late = Decoder(1 << 20).receive(unconfirmed(stored + refused, Outcome.UNFLUSHED))

    assert [(answer.code, answer.opaque) for answer in late] == [
        (ResponseCode.FLUSH_DISK_TIMEOUT, 7),
        (13, 8),
    ]
    assert late[0].ext == {"queueOffset": "1"}
