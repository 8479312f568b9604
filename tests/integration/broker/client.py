"""A minimal client of ours for talking to an agent over a real socket."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from regent_engine import Command, Record, decode_records, encode_properties

from backend.remoting import java_json
from backend.remoting.connection import PeerConnection
from backend.remoting.request_code import RequestCode
from tests.waiting import PATIENCE_S

HELD_MS = 600_000
"""For how long a pull may be held: a pull that is not woken is not answered."""


@dataclass
class Client:
    """One connection; requests run side by side, notices from the broker are kept."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    peer: PeerConnection[asyncio.Future[Command]] = field(default_factory=PeerConnection)
    notices: list[Command] = field(default_factory=list)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    @classmethod
    async def connect(cls, port: int, *, host: str = "127.0.0.1") -> "Client":
        reader, writer = await asyncio.open_connection(host, port)
        client = cls(reader, writer)
        client.task = asyncio.create_task(client.read())
        return client

    async def read(self) -> None:
        try:
            while data := await self.reader.read(1 << 16):
                self.peer.receive_data(data)
                for command in self.peer.commands():
                    self.take(command)
        except ConnectionError:
            pass
        finally:
            self.closed.set()
            for waiter in self.peer.abandon():
                if not waiter.done():
                    waiter.set_exception(ConnectionResetError("the broker closed the connection"))

    def take(self, command: Command) -> None:
        waiter = self.peer.take(command) if command.is_response else None
        if waiter is not None and not waiter.done():
            waiter.set_result(command)
        elif not command.is_response:
            self.notices.append(command)

    async def call(
        self, code: int, ext: Mapping[str, Any] | None = None, body: bytes = b""
    ) -> Command:
        return await self.start(code, ext, body)

    def start(
        self, code: int, ext: Mapping[str, Any] | None = None, body: bytes = b""
    ) -> asyncio.Future[Command]:
        if self.closed.is_set() or self.writer.is_closing():
            raise ConnectionResetError("the broker closed the connection")
        waiter: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self.writer.write(self.peer.request(code, waiter, ext=_texts(ext), body=body))
        return asyncio.ensure_future(patiently(waiter))

    def notify(self, code: int, ext: Mapping[str, Any] | None = None, body: bytes = b"") -> None:
        self.writer.write(self.peer.notice(code, ext=_texts(ext), body=body))

    async def send(
        self,
        topic: str,
        body: bytes,
        *,
        queue_id: int = 0,
        properties: Mapping[str, str] | None = None,
        **ext: Any,
    ) -> Command:
        text = encode_properties(dict(properties or {})).decode()
        fields = send_fields(topic, queue_id=queue_id, properties=text) | ext
        return await self.call(RequestCode.SEND_MESSAGE_V2, fields, body)

    async def heartbeat(
        self, group: str, *topics: str, client_id: str = "c1", **more: Any
    ) -> Command:
        subscriptions = [subscription(topic, **more.pop("sub", {})) for topic in topics]
        consumer = {
            "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
            "consumeType": "CONSUME_PASSIVELY",
            "groupName": group,
            "messageModel": "CLUSTERING",
            "subscriptionDataSet": subscriptions,
            "unitMode": False,
        }
        body = {
            "clientID": client_id,
            "consumerDataSet": [consumer],
            "producerDataSet": [{"groupName": "pg"}],
        } | more
        return await self.call(RequestCode.HEART_BEAT, body=java_json.encode(body))

    async def pull(self, topic: str, **fields: Any) -> Command:
        return await self.start_pull(topic, **fields)

    def start_pull(self, topic: str, **fields: Any) -> asyncio.Future[Command]:
        code = fields.pop("code", RequestCode.PULL_MESSAGE)
        return self.start(code, pull_fields(topic) | fields)

    async def close(self) -> None:
        self.writer.close()
        await asyncio.wait_for(self.closed.wait(), PATIENCE_S)


async def patiently(answer: asyncio.Future[Command]) -> Command:
    """Wait for an answer; `wait_for` forgets a cancellation that comes right after the answer."""
    async with asyncio.timeout(PATIENCE_S):
        return await answer


def send_fields(topic: str, *, queue_id: int = 0, properties: str = "") -> dict[str, Any]:
    return {
        "a": "pg",
        "b": topic,
        "c": "TBW102",
        "d": 4,
        "e": queue_id,
        "f": 0,
        "g": 1758000000000,
        "h": 0,
        "i": properties,
        "j": 0,
        "k": "false",
        "m": "false",
    }


def pull_fields(topic: str) -> dict[str, Any]:
    """Ask as a lite pull consumer does: the subscription rides along, nothing is committed."""
    return {
        "consumerGroup": "g",
        "topic": topic,
        "queueId": 0,
        "queueOffset": 0,
        "maxMsgNums": 32,
        "sysFlag": 4,
        "commitOffset": 0,
        "suspendTimeoutMillis": HELD_MS,
        "subscription": "*",
        "subVersion": 0,
    }


def subscription(
    topic: str, *, expression: str = "*", version: int = 1, expression_type: str = "TAG"
) -> dict[str, Any]:
    return {
        "classFilterMode": False,
        "codeSet": [],
        "expressionType": expression_type,
        "subString": expression,
        "subVersion": version,
        "tagsSet": [],
        "topic": topic,
    }


def messages(command: Command) -> list[Record]:
    return decode_records(command.body)


def bodies(command: Command) -> list[bytes]:
    return [record.body for record in messages(command)]


def _texts(ext: Mapping[str, Any] | None) -> dict[str, str]:
    values = {name: value for name, value in (ext or {}).items() if value is not None}
    return {
        name: str(value).lower()
        if value in (True, False) and isinstance(value, bool)
        else str(value)
        for name, value in values.items()
    }
