"""A client that sends at a fixed pace and asks for the route at once when something is wrong.

It speaks the protocol of both systems and knows nothing else of them: a broker is left for the one
that the name server calls master. Every connection is kept until its broker closes it, so that an
answer that comes late is still noted.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable
from functools import partial
from typing import cast

from regent_engine import Command, Decoder, parse_offset_message_id

from backend.remoting.command import request
from backend.remoting.request_code import RequestCode
from tests.bench.failover.journal import Journal, Send
from tests.integration.broker.client import Client, send_fields

FRAME_SIZE_MAX = 16 << 20
CONNECT_TIMEOUT_S = 0.2
STALL_S = 0.1
"""A send that is not answered for so long is reason to look whether there is another master."""

STALL_PAUSE_S = 0.02
ROUTE_PAUSE_S = 0.002
"""Between two questions about the route, while a stalled master may be well and while it isn't."""

DELAY_NOTED_S = 0.005
QUEUE_COUNT = 4
BODY_SIZE = 128


class BrokerLink(asyncio.Protocol):
    """One connection to one broker."""

    def __init__(self, address: str, on_change: Callable[[], None]) -> None:
        self.address = address
        self._on_change = on_change
        self._decoder = Decoder(FRAME_SIZE_MAX)
        self._transport: asyncio.Transport | None = None
        self.waiting: dict[int, Send] = {}
        self.is_refusing = False

    @property
    def is_open(self) -> bool:
        return self._transport is not None

    @property
    def is_stalled(self) -> bool:
        oldest = next(iter(self.waiting.values()), None)
        return oldest is not None and time.monotonic() - oldest.sent_at > STALL_S

    @property
    def is_well(self) -> bool:
        return self.is_open and not self.is_refusing and not self.is_stalled

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods, not the base class.
        self._transport = cast("asyncio.Transport", transport)

    def send(self, send: Send, frame: bytes) -> None:
        assert self._transport is not None
        self.waiting[send.number] = send
        self._transport.write(frame)

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        for answer in self._decoder.receive(data):
            self._take(answer, now)

    def _take(self, answer: Command, now: float) -> None:
        send = self.waiting.pop(answer.opaque, None)
        if send is None:
            return
        send.answered_at, send.code = now, answer.code
        if send.is_acknowledged:
            send.place = int(answer.ext["queueId"]), int(answer.ext["queueOffset"])
            host, port, _ = parse_offset_message_id(answer.ext["msgId"])
            send.master_address = f"{host}:{port}"
        self.is_refusing = send.is_refused
        if self.is_refusing:
            self._on_change()

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        self._on_change()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class Probe:
    """Sends to the present master, until its task is cancelled."""

    def __init__(
        self, name_server: tuple[str, int], topic: str, *, pace_s: float, first_number: int = 0
    ) -> None:
        self._name_server, self._topic, self._pace_s = name_server, topic, pace_s
        self._number = first_number
        self._links: list[BrokerLink] = []
        self._link: BrokerLink | None = None
        self._client: Client | None = None
        self._doubt = asyncio.Event()
        self.journal = Journal()

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send_at_pace())
                tasks.create_task(self._follow_route())
        finally:
            if self._client is not None:
                await self._client.close()
            for link in self._links:
                link.close()

    async def _send_at_pace(self) -> None:
        due_at = time.monotonic()
        while True:
            due_at += self._pace_s
            await asyncio.sleep(due_at - time.monotonic())
            late_s = time.monotonic() - due_at
            if late_s > DELAY_NOTED_S:
                self.journal.delays.append((due_at + late_s, late_s))
                # What was missed stays out: a burst would be another load.
                due_at += late_s
            self._send_one()

    def _send_one(self) -> None:
        link = self._link
        if link is None or not link.is_open:
            return
        if link.is_stalled:
            self._doubt.set()
        self._number += 1
        fields = send_fields(self._topic, queue_id=self._number % QUEUE_COUNT)
        frame = request(
            RequestCode.SEND_MESSAGE_V2,
            opaque=self._number,
            ext={name: str(value) for name, value in fields.items()},
            body=b"%d " % self._number + b"." * BODY_SIZE,
        )
        send = Send(self._number, link.address, time.monotonic())
        self.journal.sends.append(send)
        link.send(send, frame)

    async def _follow_route(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        # Python 3.11 may lose an order to end in the answer that comes with it (`wait_for`).
        while not task.cancelling():
            link = self._link
            if link is not None and link.is_well:
                self._doubt.clear()
                await self._doubt.wait()
                continue
            # A name server closes connections over which nothing was asked for a while.
            if self._client is None or self._client.closed.is_set():
                host, port = self._name_server
                self._client = await Client.connect(port, host=host)
            address = await ask_master(self._client, self._topic)
            is_other = link is None or not link.is_open or link.address != address
            if address is not None and is_other:
                await self._connect(address)
            is_stalled = link is not None and link.is_open and not link.is_refusing
            await asyncio.sleep(STALL_PAUSE_S if is_stalled else ROUTE_PAUSE_S)

    async def _connect(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        build = partial(BrokerLink, address, self._doubt.set)
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                _, self._link = await asyncio.get_running_loop().create_connection(
                    build, host, int(port)
                )
            self._links.append(self._link)
            self._send_one()


async def ask_master(client: Client, topic: str) -> str | None:
    """Give the address of the topic's master as the name server knows it."""
    fields = {"topic": topic, "acceptStandardJsonOnly": "true"}
    answer = await client.call(RequestCode.GET_ROUTEINFO_BY_TOPIC, fields)
    if answer.code != 0:
        return None
    brokers = json.loads(answer.body)["brokerDatas"]
    return next((data["brokerAddrs"].get("0") for data in brokers), None)
