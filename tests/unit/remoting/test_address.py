"""Addresses that others name: a controller, or a master."""

import pytest

from backend.remoting.address import split_address


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("broker-a:10911", ("broker-a", 10911)),
        ("10.0.0.1:65535", ("10.0.0.1", 65535)),
        ("[::1]:10911", ("::1", 10911)),
        ("b\u00fccher.example:1", ("b\u00fccher.example", 1)),
    ],
)
def test_an_address_is_taken_apart(address, parts):
    assert split_address(address) == parts


@pytest.mark.parametrize(
    "address",
    [
        *("", "broker-a", ":10911", "[]:1", "broker-a:", "broker-a:-1", "broker-a:x"),
        *("10.0.0.1:65536", "10.0.0.1:" + "9" * 5_000),
        *("broker..a:10911", "x" * 64 + ":10911", "\ud800:10911", "broker\0a:10911"),
    ],
)
def test_an_invalid_address_can_not_be_reached(address):
    with pytest.raises(ConnectionError, match="is not host:port"):
        split_address(address)
