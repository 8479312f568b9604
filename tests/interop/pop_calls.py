"""Calls of stock's Java client to brokers, as a consumer by POP makes them, from one process."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.interop.java import BROKER, class_path, jvm_options
from tests.waiting import PATIENCE_S

LINE_BYTES_MAX = 16 << 20
HELD_MS = 60_000
"""For how long a consumer has messages unless a scenario says otherwise."""

POLL_MS = 1_000
"""How long a POP waits for messages that are to come."""


@dataclass
class JavaClient:
    """The process of the client; an answer belongs to the call with its number."""

    process: asyncio.subprocess.Process
    numbers: Iterator[int] = field(default_factory=itertools.count)
    waiting: dict[int, asyncio.Future[dict[str, Any]]] = field(default_factory=dict)

    async def read(self) -> None:
        """Give each answer to its call; those without one fail when the process ends."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            number, tab, outcome = line.partition(b"\t")
            if tab and number.isdigit():
                self.waiting.pop(int(number)).set_result(json.loads(outcome))
        for call in self.waiting.values():
            call.set_exception(ConnectionResetError("the Java client has ended"))

    def start(self, call: str, **fields: object) -> "asyncio.Future[dict[str, Any]]":
        """Begin a call; a field with a list of values comes once for each value."""
        number = next(self.numbers)
        words = [str(number), call]
        for name, value in fields.items():
            values = value if isinstance(value, list) else [value]
            words += [f"{name}={_text(one)}" for one in values if one is not None]
        answer = self.waiting[number] = asyncio.get_running_loop().create_future()
        assert self.process.stdin is not None
        self.process.stdin.write("\t".join(words).encode() + b"\n")
        return answer

    async def call(self, call: str, **fields: object) -> dict[str, Any]:
        """Make a call and return its outcome."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.start(call, **fields)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@asynccontextmanager
async def java_client(home: Path) -> AsyncIterator[JavaClient]:
    """Run the client for the length of a block; its logs go below a directory."""
    process = await asyncio.create_subprocess_exec(
        *("java", *jvm_options(BROKER), f"-Duser.home={home}"),
        *(f"-Drocketmq.client.logRoot={home}", "-Drocketmq.client.logLevel=WARN"),
        *("-cp", class_path(BROKER), "regent.interop.PopCalls"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LINE_BYTES_MAX,
    )
    client = JavaClient(process)
    reading = asyncio.create_task(client.read())
    try:
        yield client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await reading


@dataclass(frozen=True, slots=True)
class Got:
    """A message that the client has got, with the handle that it made for it."""

    queue_id: int
    offset: int
    body: bytes
    id: str
    reconsume_times: int
    handle: str
    sys_flag: int
    properties: dict[str, str]

    @classmethod
    def of(cls, described: dict[str, Any]) -> "Got":
        """Read what the client printed of a message."""
        return cls(
            described["queueId"],
            described["offset"],
            bytes.fromhex(described["body"]),
            described["id"],
            described["reconsumeTimes"],
            described["handle"],
            described["sysFlag"],
            described["properties"],
        )


@dataclass
class Consumer:
    """A consumer group that receives one topic of one broker by POP."""

    java: JavaClient
    admin: Client
    """A connection of ours to the same broker, for what the client has no call for."""

    address: str
    broker: str
    topic: str
    group: str = "g"
    is_ordered: bool = False

    @property
    def _names(self) -> dict[str, object]:
        return {
            "address": self.address,
            "broker": self.broker,
            "topic": self.topic,
            "group": self.group,
        }

    async def create(self, queue_count: int, **attributes: str) -> None:
        """Create the topic at the broker."""
        fields = {
            "topic": self.topic,
            "defaultTopic": "TBW102",
            "readQueueNums": queue_count,
            "writeQueueNums": queue_count,
            "perm": 6,
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": 0,
            "order": "false",
            "attributes": ",".join(f"+{name}={value}" for name, value in attributes.items()),
        }
        told = await self.admin.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)
        assert told.code == 0, told.remark

    async def create_group(self, attributes: dict[str, str]) -> None:
        """Create the consumer group at the broker."""
        body = java_json.encode({"groupName": self.group, "attributes": attributes})
        code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        told = await self.admin.call(code, body=body)
        assert told.code == 0, told.remark

    async def send(
        self,
        body: bytes,
        *,
        queue_id: int = 0,
        sys_flag: int = 0,
        properties: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send one message; it gets an id unless its properties have one."""
        given = properties or {}
        sent = await self.java.call(
            "send",
            **self._names,
            queueId=queue_id,
            sysFlag=sys_flag,
            body=body.hex(),
            property=[f"{name}={value}" for name, value in given.items()],
        )
        assert sent.get("status") == "SEND_OK", sent
        return sent

    async def send_many(self, count: int, *, start: int = 0, queue_count: int = 1) -> None:
        """Send numbered messages, by turns to each queue."""
        for number in range(start, start + count):
            await self.send(b"%02d" % number, queue_id=number % queue_count)

    def start_pop(
        self,
        *,
        count: int = 32,
        held_ms: int = HELD_MS,
        poll_ms: int = POLL_MS,
        queue_id: int = -1,
        attempt: str | None = None,
    ) -> "asyncio.Future[dict[str, Any]]":
        """Begin a POP."""
        return self.java.start(
            "pop",
            **self._names,
            queueId=queue_id,
            count=count,
            invisibleMs=held_ms,
            pollMs=poll_ms,
            initMode=0,
            order=self.is_ordered,
            attempt=attempt,
        )

    async def pop(self, **fields: Any) -> list[Got]:
        """Return the messages of one POP; none after its wait."""
        async with asyncio.timeout(PATIENCE_S):
            told = await self.start_pop(**fields)
        return popped(told)

    async def take(self, count: int, **fields: Any) -> list[Got]:
        """Return messages of so many POPs that their number is reached, and not exceeded."""
        found: list[Got] = []
        async with asyncio.timeout(PATIENCE_S):
            while len(found) < count:
                found += await self.pop(**{"count": min(32, count - len(found))} | fields)
        return found

    async def ack(self, message: Got) -> str:
        """Acknowledge a message: OK, or NO_EXIST."""
        told = await self.java.call("ack", **self._names, handle=message.handle)
        return _status(told)

    async def batch_ack(self, messages: list[Got]) -> str:
        """Acknowledge messages in one request."""
        handles = [one.handle for one in messages]
        return _status(await self.java.call("batch-ack", **self._names, handle=handles))

    async def change(self, message: Got, held_ms: int) -> str:
        """Have a message for another time from now on, and return its new handle."""
        told = await self.java.call(
            "change", **self._names, handle=message.handle, invisibleMs=held_ms
        )
        assert _status(told) == "OK", told
        return told["handle"]

    def start_notification(
        self, *, poll_ms: int = HELD_MS, attempt: str | None = None
    ) -> "asyncio.Future[dict[str, Any]]":
        """Begin a question for messages."""
        return self.java.start(
            "notification",
            **self._names,
            queueId=-1,
            pollMs=poll_ms,
            order=self.is_ordered,
            attempt=attempt,
        )

    async def reset(self, offset: int, queue_id: int = 0) -> None:
        """Reset the offset of the group as stock's administration does."""
        told = await self.java.call("reset", **self._names, queueId=queue_id, offset=offset)
        assert told == {}, told

    async def is_blocked(self, **fields: Any) -> bool:
        """Whether an ordered group has to wait, although there are messages."""
        return not await self.pop(poll_ms=0, **fields)


def popped(told: dict[str, Any]) -> list[Got]:
    """Read the outcome of a POP."""
    assert told.get("status") in {"FOUND", "POLLING_NOT_FOUND", "NO_NEW_MSG"}, told
    return [Got.of(one) for one in told["messages"]]


def _status(told: dict[str, Any]) -> str:
    assert "status" in told, told
    return told["status"]
