"""A client that sends many requests at once over one blocking socket, and reads their answers."""

import socket
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Self

from regent_engine import Command, Decoder, Record, decode_records, encode_properties

from backend.remoting.command import notice, request
from backend.remoting.request_code import RequestCode
from tests.bench.failover.group import GroupError
from tests.integration.broker.client import pull_fields, send_fields

RECEIVE_SIZE = 1 << 18
TIMEOUT_S = 30.0
BUSY = 2
PULLED_COUNT = 32
"""What brokers of stock return for one pull of messages in memory."""


class Bulk:
    """One connection to a broker, of which one thread makes use."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._decoder = Decoder()
        self._opaque = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, code: int, exts: Sequence[dict[str, str]], body: bytes = b"") -> list[Command]:
        """Send requests of one kind at once, and return their answers in the order of asking.

        Raises:
            GroupError: the broker closed the connection.
        """
        first = self._opaque
        self._opaque += len(exts)
        frames = [
            request(code, opaque=first + index, ext=ext, body=body)
            for index, ext in enumerate(exts)
        ]
        self._socket.sendall(b"".join(frames))
        answers: dict[int, Command] = {}
        while len(answers) < len(exts):
            data = self._socket.recv(RECEIVE_SIZE)
            if not data:
                raise GroupError("the broker closed the connection")
            answers |= {one.opaque: one for one in self._decoder.receive(data) if one.is_response}
        return [answers[first + index] for index in range(len(exts))]

    def send_one_way(self, code: int, exts: Iterable[dict[str, str]]) -> None:
        """Send one-way requests of one kind at once."""
        self._socket.sendall(b"".join(notice(code, opaque=0, ext=ext) for ext in exts))

    def send(
        self,
        topic: str,
        properties: Iterable[dict[str, str]],
        body: bytes,
        *,
        window: int,
        sys_flag: int = 0,
    ) -> Iterator[list[Command]]:
        """Send messages, a window of them at once, over eight queues in turn.

        Raises:
            GroupError: the broker refuses one.
        """
        rest = enumerate(properties)
        while some := list(islice(rest, window)):
            exts = []
            for index, one in some:
                text = encode_properties(one).decode()
                fields = send_fields(topic, queue_id=index % 8, properties=text)
                fields["f"] = sys_flag
                exts.append({name: str(value) for name, value in fields.items()})
            yield self._send_all(exts, body)

    def _send_all(self, exts: list[dict[str, str]], body: bytes) -> list[Command]:
        """Send messages again that a busy broker refused, as clients do."""
        stored: list[Command] = []
        while exts:
            answers = self.ask(RequestCode.SEND_MESSAGE_V2, exts, body)
            stored += [one for one in answers if one.code == 0]
            refused = [one for one in answers if one.code not in {0, BUSY}]
            if refused:
                reason = f"{refused[0].code}: {refused[0].remark}"
                raise GroupError(f"a send is refused with {reason}")
            exts = [ext for ext, one in zip(exts, answers, strict=True) if one.code == BUSY]
        return stored

    def read(self, topic: str, queue_id: int) -> Iterator[Record]:
        """Read a queue from its beginning to its present end."""
        offset = 0
        while True:
            fields = pull_fields(topic) | {
                "queueId": queue_id,
                "queueOffset": offset,
                "maxMsgNums": PULLED_COUNT,
                "suspendTimeoutMillis": 0,
            }
            ext = {name: str(value) for name, value in fields.items()}
            (pulled,) = self.ask(RequestCode.PULL_MESSAGE, [ext])
            if pulled.code != 0:
                return
            yield from decode_records(pulled.body)
            offset = int(pulled.ext["nextBeginOffset"])

    def count(self, topic: str) -> int:
        """Count the messages that the eight queues of a topic have had."""
        exts = [{"topic": topic, "queueId": str(queue_id)} for queue_id in range(8)]
        answers = self.ask(RequestCode.GET_MAX_OFFSET, exts)
        return sum(int(one.ext["offset"]) for one in answers)
