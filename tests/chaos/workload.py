"""Send messages to every broker at a fixed rate, after any answer, and read from all of them.

Open loop: a send does not wait for earlier ones. The broker that acknowledged last gets most
messages, but every broker gets some all the time, master or not. So a second master would be
detected.
"""

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Final

from regent_engine import decode_records, parse_offset_message_id

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.chaos.evidence import number_of
from tests.chaos.journal import Acknowledgement, Journal, Reading
from tests.integration.broker.client import Client

TOPIC: Final = "chaos"
QUEUE_COUNT: Final = 4
SEND_INTERVAL_S: Final = 0.025
ALL_EVERY: Final = 4
"""Every nth message is sent to each broker."""

LATE_S_MAX: Final = 1.0
"""Sends that are overdue for longer are left out: this machine is too busy."""

DELAYED_TOPIC: Final = "chaos-delayed"
DELAYED_EVERY: Final = 9
"""Every nth message is a delayed one. The number is coprime to the numbers of queues and brokers,
so that all of them get such messages."""

DELAY_LEVEL: Final = "1"
"""The shortest: a second."""

READ_INTERVAL_S: Final = 1.0
RECONNECT_S: Final = 0.05
CONNECT_TIMEOUT_S: Final = 10.0
READ_TIMEOUT_S: Final = 5.0
_SIZES: Final = (20, 100, 333, 1000, 4000, 30_000)


@dataclass(frozen=True, slots=True)
class Address:
    """The addresses of a broker, for and of its connections."""

    host: str
    port: int
    own_host: str


@dataclass
class Workload:
    """Senders and readers of every broker."""

    addresses: dict[int, Address]
    journal: Journal
    next_offsets: dict[tuple[int, int], int] = field(default_factory=dict)
    _clients: dict[int, Client] = field(default_factory=dict)
    _sends: set[asyncio.Task[None]] = field(default_factory=set)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _sender: asyncio.Task[None] | None = None
    _number: int = 0
    _is_over: bool = False

    def start(self) -> None:
        """Begin to send and read."""
        self._sender = asyncio.create_task(self._send_all())
        for agent in self.addresses:
            self._tasks.append(asyncio.create_task(self._keep_connected(agent)))
            self._tasks.append(asyncio.create_task(self._read(agent)))

    async def stop_sending(self) -> None:
        """Send no more, and wait for the open answers."""
        if self._sender is not None:
            self._sender.cancel()
        if self._sends:
            await asyncio.wait(self._sends)

    async def close(self) -> None:
        """Read no more and close every connection."""
        # A cancellation alone can be lost: `asyncio.wait_for` prefers a result that comes with it.
        self._is_over = True
        for task in (*self._tasks, *self._sends, self._sender):
            if task is not None:
                task.cancel()
        await asyncio.gather(*self._tasks, *self._sends, return_exceptions=True)
        for client in self._clients.values():
            client.writer.close()

    def check_alive(self) -> None:
        """Raise the error that ended a task."""
        for task in (*self._tasks, self._sender):
            if task is not None and task.done() and not task.cancelled():
                task.result()

    async def _keep_connected(self, agent: int) -> None:
        while not self._is_over:
            client = self._clients.get(agent)
            if client is None or not _is_open(client):
                if client is not None:
                    client.writer.close()
                try:
                    async with asyncio.timeout(CONNECT_TIMEOUT_S):
                        self._clients[agent] = await _connect(self.addresses[agent])
                except (OSError, TimeoutError):
                    pass
            await asyncio.sleep(RECONNECT_S)

    async def _send_all(self) -> None:
        loop = asyncio.get_running_loop()
        due_at_s = loop.time()
        for turn in itertools.count():
            due_at_s = max(due_at_s + SEND_INTERVAL_S, loop.time() - LATE_S_MAX)
            await asyncio.sleep(due_at_s - loop.time())
            agents = self.addresses if turn % ALL_EVERY == 0 else [self.last_master]
            for agent in agents:
                client = self.client_of(agent)
                if client is not None:
                    task = loop.create_task(self._send(agent, client, self._number))
                    self._number += 1
                    self._sends.add(task)
                    task.add_done_callback(self._sends.discard)

    @property
    def last_master(self) -> int:
        """Return the broker that acknowledged last."""
        told = self.journal.acknowledgements
        return told[-1].agent if told else next(iter(self.addresses))

    def client_of(self, agent: int) -> Client | None:
        """Return the connection to a broker, if there is one now."""
        client = self._clients.get(agent)
        return client if client is not None and _is_open(client) else None

    async def read_delivered(self, agent: int) -> set[int]:
        """Read the delayed messages that a broker shows.

        Raises:
            OSError: the broker does not answer.
        """
        numbers = set[int]()
        for queue in range(QUEUE_COUNT):
            offset = 0
            while True:
                client = self.client_of(agent)
                if client is None:
                    raise ConnectionError(f"broker {agent} is not connected")
                answer = await client.pull(
                    DELAYED_TOPIC, queueId=queue, queueOffset=offset, sysFlag=4
                )
                if answer.code:
                    break
                records = decode_records(answer.body)
                numbers |= {number_of(record.body) for record in records}
                offset += len(records)
        return numbers

    async def log_ends(self) -> set[int]:
        """Return the positions at which the logs of the brokers end; nothing if one is silent."""
        ends = set[int]()
        for agent in self.addresses:
            client = self.client_of(agent)
            if client is None:
                return set()
            try:
                async with asyncio.timeout(READ_TIMEOUT_S):
                    answer = await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)
            except (OSError, TimeoutError):
                return set()
            ends.add(int(java_json.loads(answer.body)["table"]["commitLogMaxOffset"]))
        return ends

    async def _send(self, agent: int, client: Client, number: int) -> None:
        if not _is_open(client):
            return
        queue, sent_at_s = number % QUEUE_COUNT, self.journal.now_s()
        body = b"%d:" % number
        body += b"." * (_SIZES[number * 7 // 5 % len(_SIZES)] - len(body))
        is_delayed = number % DELAYED_EVERY == 0
        topic = DELAYED_TOPIC if is_delayed else TOPIC
        properties = {"DELAY": DELAY_LEVEL} if is_delayed else {}
        try:
            answer = await client.send(topic, body, queue_id=queue, properties=properties)
        except TimeoutError:
            self.journal.note("unanswered", number=number, agent=agent, sent_at_s=sent_at_s)
            return
        except OSError:
            return
        if answer.code:
            return
        if is_delayed:
            # The broker decides where it waits: only its delivery is guaranteed.
            self.journal.promised_later(number, agent)
            return
        # A message's id is the broker's address and the log position; another broker may have
        # passed the request on.
        host, port, position = parse_offset_message_id(answer.ext["msgId"])
        self.journal.acknowledged(
            Acknowledgement(
                number=number,
                agent=self._agent_at(host, port),
                sent_at_s=sent_at_s,
                answered_at_s=self.journal.now_s(),
                queue=int(answer.ext["queueId"]),
                offset=int(answer.ext["queueOffset"]),
                position=position,
            )
        )

    def _agent_at(self, host: str, port: int) -> int:
        """Return the broker that advertises an address."""
        (agent,) = (n for n, at in self.addresses.items() if (at.host, at.port) == (host, port))
        return agent

    async def _read(self, agent: int) -> None:
        while not self._is_over:
            await asyncio.sleep(READ_INTERVAL_S)
            client = self._clients.get(agent)
            if client is None or not _is_open(client):
                continue
            for queue in range(QUEUE_COUNT):
                try:
                    async with asyncio.timeout(READ_TIMEOUT_S):
                        while _is_open(client) and await self._read_queue(agent, client, queue):
                            pass
                except (OSError, TimeoutError):
                    break

    async def _read_queue(self, agent: int, client: Client, queue: int) -> bool:
        offset = self.next_offsets.get((agent, queue), 0)
        answer = await client.pull(TOPIC, queueId=queue, queueOffset=offset, sysFlag=4)
        if answer.code:
            return False
        records = decode_records(answer.body)
        for place, record in enumerate(records):
            assert record.queue_offset == offset + place, "a broker skipped messages"
        self.journal.read(
            Reading(
                agent=agent,
                at_s=self.journal.now_s(),
                queue=queue,
                first_offset=offset,
                numbers=tuple(number_of(record.body) for record in records),
            )
        )
        self.next_offsets[agent, queue] = offset + len(records)
        return bool(records)


def _is_open(client: Client) -> bool:
    """Return whether requests can be sent; a closed connection answers none."""
    return not (client.closed.is_set() or client.writer.is_closing())


async def _connect(address: Address) -> Client:
    reader, writer = await asyncio.open_connection(
        address.host, address.port, local_addr=(address.own_host, 0)
    )
    client = Client(reader, writer)
    client.task = asyncio.create_task(client.read())
    return client
