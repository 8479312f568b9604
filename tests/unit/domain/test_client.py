"""Clients are identified by their connections, and releases by the numbers of the protocol."""

import pytest

from backend.domain.client import BrokerConnection, Client, ClientFilter, ClientRole, version_name


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (317, "4.5.2"),
        (399, "4.9.3"),
        (401, "4.9.4"),
        (413, "5.0.0"),
        (473, "5.3.0"),
        (481, "5.3.4"),
        (513, "5.5.0"),
        # A snapshot, and what is older or newer than we know.
        (480, None),
        (37, None),
        (999, None),
    ],
)
def test_a_version_is_named_when_it_is_known(number, name):
    assert version_name(number) == name


def connection(*, producers=(), consumers=(), heard_ms=None):
    return BrokerConnection(
        broker_group_name="broker-a",
        broker_name="broker-a-1",
        broker_address="10.0.0.1:10911",
        address="10.0.0.7:5",
        language="JAVA",
        version=513,
        heard_ms=heard_ms,
        producer_groups=producers,
        consumer_groups=consumers,
    )


BOTH = Client(
    "both@1",
    (
        connection(producers=("senders",), heard_ms=900),
        connection(consumers=("readers",), heard_ms=None),
        connection(consumers=("readers", "more"), heard_ms=40),
    ),
)


def test_a_client_is_what_all_its_connections_are():
    assert BOTH.roles == (ClientRole.PRODUCER, ClientRole.CONSUMER)
    assert BOTH.consumer_groups == ("more", "readers")
    assert BOTH.heard_ms == 40
    assert Client("silent", (connection(),)).heard_ms is None


@pytest.mark.parametrize(
    ("chosen", "is_meant"),
    [
        (ClientFilter(), True),
        (ClientFilter(group="readers"), True),
        (ClientFilter(group="readers", role=ClientRole.CONSUMER), True),
        (ClientFilter(group="readers", role=ClientRole.PRODUCER), False),
        (ClientFilter(group="nobody"), False),
        (ClientFilter(search="BOTH"), True),
        (ClientFilter(search="other"), False),
    ],
)
def test_every_fact_of_a_filter_must_be_so(chosen, is_meant):
    assert chosen.takes(BOTH) is is_meant
