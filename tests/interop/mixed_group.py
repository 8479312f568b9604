"""One stock broker and one of ours in a group of two, and a producer that keeps a journal."""

import asyncio
import itertools
import json
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from regent_engine import Command

from backend.remoting.errors import RemotingError
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.integration.broker.agent import Agent, write_config
from tests.integration.broker.client import Client, messages
from tests.integration.broker.popping import pop_fields
from tests.interop.stock_broker import StockBroker
from tests.processes import pause
from workers.broker.tables.consumer_offsets import decode_offset_file

TOPIC = "orders"
QUEUE_COUNT = 4
BODY_BYTES = 2_000
PAUSE_S = 0.003
"""Between two messages: segments are to be filled, the machine is not."""

CALL_TIMEOUT_S = 5.0
TAIL_BYTES = 24 << 20
"""More than the sockets between two brokers hold: the end of it can't have left the master."""


STOCK_JOIN_S = 90.0
"""How long a stock broker that changes its role waits for each of its threads to end."""

PATIENCE = dict.fromkeys(
    ("controllerHeartBeatTimeoutMills", "haMaxTimeSlaveNotCatchup", "haHousekeepingInterval"),
    "100000",
)
"""In milliseconds: on a busy machine, no broker is given up for being slow."""


@dataclass
class OurBroker:
    """The agent of group g in cluster c, with the settings that stock's broker has."""

    agent: Agent
    port: int
    controller: str

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def log_folder(self) -> Path:
        return self.agent.root / "store" / "commitlog"

    async def start(self) -> None:
        properties = {
            "brokerClusterName": "c",
            "brokerName": "g",
            "listenPort": str(self.port),
            "haListenPort": str(self.port + 1),
            "namesrvAddr": self.controller,
            "enableControllerMode": "true",
            "controllerAddr": self.controller,
            "allAckInSyncStateSet": "true",
            **PATIENCE,
            "mappedFileSizeCommitLog": str(10 << 20),
        }
        path = write_config(self.agent.root, **properties)
        await asyncio.to_thread(self.agent.launch, path)

    @property
    def pid(self) -> int:
        assert self.agent.process is not None
        return self.agent.process.pid

    def signal(self, number: int) -> None:
        assert self.agent.process is not None
        self.agent.process.send_signal(number)

    async def kill(self) -> None:
        await asyncio.to_thread(self.agent.__exit__)

    def log(self) -> str:
        return "".join(self.agent.lines)


AnyBroker = OurBroker | StockBroker


@dataclass
class MixedGroup:
    """The group as its controller and its clients see it."""

    controller_port: int
    ours: OurBroker
    stock: StockBroker
    connections: dict[str, Client] = field(default_factory=dict)

    async def client(self, address: str) -> Client:
        """Give a persistent connection, opened again after a break."""
        known = self.connections.get(address)
        if known is None or known.closed.is_set():
            port = int(address.rpartition(":")[2])
            known = self.connections[address] = await Client.connect(port)
        return known

    async def state(self) -> tuple[str | None, int, set[int]]:
        """Master's address, epoch and SyncStateSet, as the controller has them."""
        controller = await self.client(f"127.0.0.1:{self.controller_port}")
        answer = await controller.call(RequestCode.CONTROLLER_GET_REPLICA_INFO, {"brokerName": "g"})
        members = json.loads(answer.body)["syncStateSet"] if answer.body else []
        epoch = int(answer.ext.get("masterEpoch") or 0)
        return answer.ext.get("masterAddress"), epoch, set(members)

    async def history(self, broker: AnyBroker) -> tuple[list[tuple[int, int]], int]:
        """Give the epochs of a broker's log with their starts, and its end."""
        client = await self.client(broker.address)
        told = json.loads((await client.call(RequestCode.GET_BROKER_EPOCH_CACHE)).body)
        epochs = [(entry["epoch"], entry["startOffset"]) for entry in told["epochList"]]
        return epochs, told["maxOffset"]

    async def elect(self, broker: AnyBroker) -> None:
        """Have a broker elected that is in the SyncStateSet, as an operator does."""
        controller = await self.client(f"127.0.0.1:{self.controller_port}")
        fields = {
            "clusterName": "c",
            "brokerName": "g",
            "brokerId": 1 if broker is self.ours else 2,
            "designateElect": True,
        }
        answer = await controller.call(RequestCode.CONTROLLER_ELECT_MASTER, fields)
        assert answer.code == 0, answer.remark

    async def append_tail(self, master: AnyBroker, replica: AnyBroker) -> int:
        """Have a master append what its replica can't take, kill it, and give its log's end."""
        _, begin = await self.history(master)
        await pause(replica.pid)
        client = await self.client(master.address)
        sends: list[asyncio.Future[Command]] = []
        end = begin
        while end < begin + TAIL_BYTES:
            if all(send.done() for send in sends):
                sends += [
                    asyncio.ensure_future(client.send(TOPIC, b"x" * (1 << 20))) for _ in range(25)
                ]
            await asyncio.sleep(0.1)
            _, end = await self.history(master)
        await master.kill()
        replica.signal(signal.SIGCONT)
        answers = await asyncio.gather(*sends, return_exceptions=True)
        codes = [getattr(answer, "code", None) for answer in answers]
        assert 0 not in codes, codes
        return end

    async def knows_topic(self, broker: AnyBroker) -> bool:
        """Return whether a broker has the topic: stock copies its master's every 10 s."""
        client = await self.client(broker.address)
        return (await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": TOPIC})).code == 0

    async def refuses_pop(self, broker: AnyBroker) -> bool:
        """Return whether a broker refuses POP for the reason that stock is in its group (D30)."""
        client = await self.client(broker.address)
        answer = await client.call(RequestCode.POP_MESSAGE, pop_fields(TOPIC, "readers"))
        return answer.code == ResponseCode.NO_PERMISSION and self.stock.address in answer.remark

    async def commit(self, broker: AnyBroker, offset: int) -> None:
        """Commit how far a consumer group is."""
        fields = {"consumerGroup": "readers", "topic": TOPIC, "queueId": 0, "commitOffset": offset}
        client = await self.client(broker.address)
        assert (await client.heartbeat("readers", TOPIC)).code == 0
        assert (await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)).code == 0

    async def held_offset(self, broker: AnyBroker) -> int | None:
        """Read from a broker's own table how far a consumer group is.

        A replica of ours lets its master answer the question of consumers (14).
        """
        client = await self.client(broker.address)
        answer = await client.call(RequestCode.GET_ALL_CONSUMER_OFFSET)
        held, _ = decode_offset_file(answer.body)
        return held.offsets.get(f"{TOPIC}@readers", {}).get(0)

    async def committed(self, broker: AnyBroker) -> int | None:
        """Read how far a consumer group is."""
        fields = {"consumerGroup": "readers", "topic": TOPIC, "queueId": 0}
        client = await self.client(broker.address)
        answer = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
        return int(answer.ext["offset"]) if answer.code == 0 else None

    def close(self) -> None:
        for client in self.connections.values():
            client.writer.close()


@dataclass
class Journal:
    """Every message is sent once, with a distinct body; acknowledged ones are recorded."""

    group: MixedGroup
    acknowledged: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    """By body: the queue and the offset in it that the answer named."""

    is_over: bool = False
    trouble: str = "none"
    """What the last send that was not acknowledged met, and when by the clock of the logs."""

    async def run(self) -> None:
        """Send to the present master, until it is over."""
        master = None
        for number in itertools.count():
            if self.is_over:
                return
            body = (b"m%d " % number).ljust(BODY_BYTES, b".")
            try:
                async with asyncio.timeout(CALL_TIMEOUT_S):
                    master = master or (await self.group.state())[0] or ""
                    client = await self.group.client(master)
                    answer = await client.send(TOPIC, body, queue_id=number % QUEUE_COUNT)
            except (OSError, TimeoutError, RemotingError, ValueError) as error:
                self.note(f"{error!r} of {master!r}")
                master = None
            else:
                if answer.code == 0:
                    place = int(answer.ext["queueId"]), int(answer.ext["queueOffset"])
                    self.acknowledged[body] = place
                else:
                    self.note(f"{answer.code} {answer.remark!r} of {master!r}")
                    master = None
            await asyncio.sleep(PAUSE_S if master else 0.05)

    async def grow(self, count: int, timeout_s: float = 2 * STOCK_JOIN_S) -> None:
        """Wait until so many more messages are acknowledged."""
        wanted, deadline = len(self.acknowledged) + count, time.monotonic() + timeout_s
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < deadline, (
                f"{len(self.acknowledged)} of {wanted} acknowledged; the last trouble: "
                f"{self.trouble}\n{self.group.ours.log()[-6000:]}\n{self.group.stock.log()[-9000:]}"
            )
            await asyncio.sleep(0.01)

    def note(self, trouble: str) -> None:
        self.trouble = f"{time.strftime('%H:%M:%S')} {trouble}"

    async def check(self, broker: AnyBroker) -> None:
        """Read everything back: each acknowledged message is there once, at its offset."""
        acknowledged = dict(self.acknowledged)
        client = await self.group.client(broker.address)
        for queue_id in range(QUEUE_COUNT):
            expected = {body: at for body, (queue, at) in acknowledged.items() if queue == queue_id}
            stored = await _read(client, queue_id, end=max(expected.values()) + 1)
            own = [(body, at) for at, body in enumerate(stored) if body.startswith(b"m")]
            found = dict(own)
            assert len(found) == len(own), "a message is stored twice"
            assert {body: found.get(body) for body in expected} == expected


async def _read(client: Client, queue_id: int, *, end: int) -> list[bytes]:
    """Read a queue from its first message to at least an offset, as it is shown."""
    bodies: list[bytes] = []
    deadline = time.monotonic() + 60
    while len(bodies) < end:
        assert time.monotonic() < deadline, f"queue {queue_id} shows {len(bodies)} of {end}"
        answer = await client.pull(TOPIC, queueId=queue_id, queueOffset=len(bodies), sysFlag=4)
        if answer.code == 0:
            bodies += [record.body for record in messages(answer)]
        else:
            await asyncio.sleep(0.05)
    return bodies


def log_bytes(folder: Path, end: int) -> bytes:
    """Read a log that begins at 0 up to a position."""
    return b"".join(path.read_bytes() for path in sorted(folder.glob("0*")))[:end]
