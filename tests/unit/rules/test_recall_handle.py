"""The handle by which a waiting message is recalled."""

import base64

import pytest

from backend.rules.recall_handle import RecallHandle, decode_recall_handle


def test_a_handle_is_read_as_it_was_written():
    handle = RecallHandle("orders", "broker-a", 1_700_000_000_001, "7F0001A1")

    text = handle.encode()

    assert decode_recall_handle(text) == handle
    assert base64.urlsafe_b64decode(text) == b"v1 orders broker-a 1700000000001 7F0001A1"


@pytest.mark.parametrize(
    "content",
    [
        b"v2 orders broker-a 1 K",
        b"v1 orders broker-a 1",
        b"v1 orders broker-a 1 K more",
        b"v1 orders broker-a -1 K",
        b"v1 orders broker-a 1234567890123456789 K",
        b"\xff",
    ],
)
def test_a_malformed_handle_is_refused(content):
    with pytest.raises(ValueError, match="malformed"):
        decode_recall_handle(base64.urlsafe_b64encode(content).decode())


def test_a_handle_that_is_no_base64_is_refused():
    with pytest.raises(ValueError, match="malformed"):
        decode_recall_handle("no handle")
