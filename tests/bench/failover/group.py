"""A broker group under a controller, whichever system's: what a round does to it.

Both systems answer the same requests, so only the starting of processes differs (`ours`, `stock`).
"""

import asyncio
import json
import shutil
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regent_engine import Command

from backend.remoting.request_code import RequestCode
from tests.bench.failover.network import Place
from tests.bench.failover.probe import QUEUE_COUNT, ask_master
from tests.integration.broker.client import Client, messages, pull_fields

CLUSTER, GROUP, TOPIC = "c", "g", "failover"
STOP_TIMEOUT_S = 60
POLL_S = 0.05
READ_COUNT = 32

Address = tuple[str, int]


class GroupError(RuntimeError):
    """A group did not do what it should, and cannot be measured."""


@dataclass
class Member:
    """One broker."""

    place: Place
    port: int
    home: Path
    process: asyncio.subprocess.Process | None = field(default=None)

    @property
    def address(self) -> str:
        return f"{self.place.host}:{self.port}"

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    def send_signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def end(self, *, with_signal: signal.Signals) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(with_signal)
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await self.process.wait()


@dataclass(frozen=True, slots=True)
class State:
    """What the controller says."""

    master_address: str | None
    epoch: int
    members: frozenset[int]


class Group(ABC):
    """Brokers, their name server and their controller."""

    label: str
    whole_timeout_s: float

    def __init__(self, directory: Path, host: str, places: tuple[Place, ...], port: int) -> None:
        """Use ports from `port` on, ten for each process."""
        self.directory, self.host, self.port = directory, host, port
        self.members = [
            Member(place, port + 100 + 10 * number, directory / f"b{number}")
            for number, place in enumerate(places, 1)
        ]
        self._controller: Client | None = None
        self._name_server: Client | None = None

    @property
    @abstractmethod
    def name_server(self) -> Address: ...

    @property
    @abstractmethod
    def controller(self) -> Address: ...

    @abstractmethod
    async def start_servers(self) -> None:
        """Start what stands before the brokers."""

    @abstractmethod
    async def stop_servers(self) -> None: ...

    @abstractmethod
    async def launch(self, member: Member) -> None:
        """Start a broker that does not run."""

    async def start(self) -> None:
        await self.start_servers()
        for member in self.members:
            member.home.mkdir(parents=True)
        await asyncio.gather(*map(self.launch, self.members))
        await self.await_whole()
        await self._create_topic()

    async def restart_empty(self) -> None:
        """Start again with empty stores and an empty controller."""
        await self.stop()
        self._controller = self._name_server = None
        await asyncio.to_thread(shutil.rmtree, self.directory, ignore_errors=True)
        await self.start()

    async def stop(self) -> None:
        for member in self.members:
            await member.end(with_signal=signal.SIGKILL)
        for client in (self._controller, self._name_server):
            if client is not None:
                await client.close()
        await self.stop_servers()

    async def state(self) -> State | None:
        """Ask the controller how the group is; None while it does not answer."""
        try:
            if self._controller is None or self._controller.closed.is_set():
                host, port = self.controller
                self._controller = await Client.connect(port, host=host)
            answer = await self._controller.call(
                RequestCode.CONTROLLER_GET_REPLICA_INFO, {"brokerName": GROUP}
            )
        except (OSError, TimeoutError):
            return None
        if answer.code or not answer.body:
            return None
        members = frozenset(json.loads(answer.body).get("syncStateSet") or ())
        epoch = int(answer.ext.get("masterEpoch") or 0)
        return State(answer.ext.get("masterAddress") or None, epoch, members)

    async def await_whole(self) -> Member:
        """Start who does not run, wait until all are in sync and known, and give the master."""
        for member in self.members:
            if not member.is_running:
                await self.launch(member)
        deadline = time.monotonic() + self.whole_timeout_s
        state = None
        while time.monotonic() < deadline:
            state = await self.state()
            if state is not None and len(state.members) == len(self.members):
                master = next((m for m in self.members if m.address == state.master_address), None)
                if master is not None and await self._is_routed(master):
                    return master
            await asyncio.sleep(POLL_S)
        raise GroupError(f"{self.label} did not become whole: {state} ({self.directory})")

    async def _is_routed(self, master: Member) -> bool:
        """Whether clients are sent to a master; the topic is not there at first."""
        if self._name_server is None or self._name_server.closed.is_set():
            host, port = self.name_server
            self._name_server = await Client.connect(port, host=host)
        routed = await ask_master(self._name_server, TOPIC)
        return routed in {None, master.address}

    async def elect(self, broker_id: int) -> Command:
        """Have the controller make another broker master, as an operator does (1002)."""
        host, port = self.controller
        client = await Client.connect(port, host=host)
        try:
            fields = {
                "clusterName": CLUSTER,
                "brokerName": GROUP,
                "brokerId": broker_id,
                "designateElect": True,
                "invokeTime": time.time_ns() // 1_000_000,
            }
            return await client.call(RequestCode.CONTROLLER_ELECT_MASTER, fields)
        finally:
            await client.close()

    @abstractmethod
    def broker_id(self, member: Member) -> int:
        """Give the id that the controller gave a broker."""

    async def ends(self, master: Member) -> list[int]:
        """Give where each queue of the topic ends."""
        client = await self._connect(master)
        try:
            answers = [
                await client.call(RequestCode.GET_MAX_OFFSET, {"topic": TOPIC, "queueId": queue_id})
                for queue_id in range(QUEUE_COUNT)
            ]
        finally:
            await client.close()
        return [int(answer.ext.get("offset", 0)) for answer in answers]

    async def read(self, master: Member, begins: list[int]) -> set[int]:
        """Read the numbers of all messages from some offsets on."""
        ends = await self.ends(master)
        client = await self._connect(master)
        try:
            numbers: set[int] = set()
            for queue_id, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                offset = begin
                while offset < end:
                    answer = await self._pull(client, queue_id, offset)
                    numbers |= {int(m.body.split(b" ", 1)[0]) for m in messages(answer)}
                    offset = int(answer.ext["nextBeginOffset"])
        finally:
            await client.close()
        return numbers

    async def _pull(self, client: Client, queue_id: int, offset: int) -> Command:
        fields: Mapping[str, Any] = pull_fields(TOPIC) | {
            "queueId": queue_id,
            "queueOffset": offset,
            "maxMsgNums": READ_COUNT,
            "suspendTimeoutMillis": 0,
        }
        answer = await client.call(RequestCode.PULL_MESSAGE, fields)
        # Found, or an answer to continue at another offset.
        if answer.code not in {0, 20, 21}:
            raise GroupError(f"{self.label} does not show queue {queue_id}: {answer.remark}")
        if answer.code and int(answer.ext["nextBeginOffset"]) <= offset:
            raise GroupError(f"{self.label} shows nothing of queue {queue_id} from {offset} on")
        return answer

    async def _connect(self, member: Member) -> Client:
        return await Client.connect(member.port, host=member.place.host)

    async def _create_topic(self) -> None:
        fields = {
            "topic": TOPIC,
            "defaultTopic": "TBW102",
            "readQueueNums": QUEUE_COUNT,
            "writeQueueNums": QUEUE_COUNT,
            "perm": 6,
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": 0,
            "order": False,
        }
        client = await self._connect(await self.await_whole())
        try:
            answer = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)
        finally:
            await client.close()
        if answer.code:
            raise GroupError(f"{self.label} did not make the topic: {answer.remark}")
        for member in self.members:
            client = await self._connect(member)
            try:
                await await_topic(client, TOPIC, timeout_s=self.whole_timeout_s)
            except TimeoutError as error:
                why = f"{member.address} of {self.label} did not take the topic over"
                raise GroupError(f"{why} ({self.directory})") from error
            finally:
                await client.close()


async def await_topic(client: Client, topic: str, *, timeout_s: float) -> None:
    """Wait until a replica has taken a topic over."""
    async with asyncio.timeout(timeout_s):
        while True:
            if not (await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": topic})).code:
                return
            await asyncio.sleep(POLL_S)
