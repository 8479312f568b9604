"""A blocking remoting peer for tests, which can also send what no client would."""

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from regent_engine import Command, Decoder, encode_command

from tests.system.cluster import Cluster
from tests.waiting import PATIENCE_S

GET_BROKER_SAMPLE = 7001
GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
UNKNOWN_REQUEST = 31_999
NOT_SUPPORTED = 3
BAD_TOPICS = {
    "a slash": "a/b",
    "two dots": "..",
    "a way out": "../../../../tmp/out",
    "a NUL": "a\0b",
    "256 bytes": "t" * 256,
    "256 bytes of retry topic": "%RETRY%" + "t" * 249,
}


class Peer:
    """One connection to a name server or broker."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._decoder = Decoder()
        self._opaque = 0

    def ask(
        self,
        code: int,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        encoding: str = "json",
    ) -> Command:
        """Send a request and return its answer."""
        self._opaque += 1
        request = encode_command(
            code=code,
            opaque=self._opaque,
            language="JAVA",
            ext=ext,
            body=body,
            encoding=encoding,
        )
        self._connection.sendall(request)
        while chunk := self._connection.recv(1 << 16):
            for command in self._decoder.receive(chunk):
                if command.is_response and command.opaque == self._opaque:
                    return command
        raise AssertionError(f"the connection was closed instead of an answer to {code}")

    def send_raw(self, data: bytes) -> None:
        self._connection.sendall(data)

    def is_closed_within(self, seconds: float) -> bool:
        """Read, and drop, what comes until the other side closes or the time is over."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._connection.settimeout(left)
            try:
                if not self._connection.recv(1 << 16):
                    return True
            except TimeoutError:
                return False
            except OSError:
                return True
        return False


@contextmanager
def peer(address: str) -> Iterator[Peer]:
    """Connect to a server for the length of a block."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
        yield Peer(connection)


def send_header(topic: str, **changes: str | None) -> dict[str, str]:
    """Build the header of a 310 SEND_MESSAGE_V2; a change to None leaves a field out."""
    header: dict[str, str | None] = {
        "a": "tests",
        "b": topic,
        "c": "TBW102",
        "d": "4",
        "e": "0",
        "f": "0",
        "g": str(int(time.time() * 1000)),
        "h": "0",
        "i": "",
        "j": "0",
        "k": "false",
        "m": "false",
        **changes,
    }
    return {name: value for name, value in header.items() if value is not None}


def broker_sample(address: str) -> dict[str, Any]:
    """Ask a broker for its counters, positions and topics."""
    with peer(address) as asker:
        answer = asker.ask(GET_BROKER_SAMPLE)
    assert answer.code == 0, answer.remark
    return msgspec.json.decode(answer.body)


def broker_groups(address: str) -> dict[str, Any]:
    """Ask a broker for its consumer groups: the file of them follows later."""
    with peer(address) as asker:
        answer = asker.ask(GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
    assert answer.code == 0, answer.remark
    groups: dict[str, Any] = msgspec.json.decode(answer.body)["subscriptionGroupTable"]
    return groups


def addresses(cluster: Cluster) -> list[str]:
    """Name one of each kind of server: the name server and a broker."""
    return [cluster.name_server_address, cluster.brokers[0].address]
