"""Answer as the brokers of 200 groups, each by its own address.

`python -m tests.bench.many_brokers PORT AGENT_PORT`. Consumer groups, their members and
their progress differ from broker to broker, as in a cluster of 5 000 groups. Other questions go to
a real agent once, and its answer is repeated.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Final

import uvloop
from regent_engine import Command

from backend.brokers.client import RemotingClient
from backend.remoting import bodies, java_json
from backend.remoting.bodies.groups import (
    ClientConnection,
    ConnectedClient,
    ConnectedClients,
    ConsumerConnection,
    QueueProgress,
    QueueTimeSpan,
    QueueTimeSpans,
    SubscriptionData,
    SubscriptionGroupConfig,
    encode_consume_stats,
)
from backend.remoting.bodies.locks import QueueReaderBody, QueueReadersBody
from backend.remoting.command import answer
from backend.remoting.connection import PeerConnection
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

BROKER_COUNT: Final = 200
REPLICA_IDS: Final = (1, 2)
READERS_PER_BROKER: Final = 25
TOPICS_PER_BROKER: Final = 50
QUEUE_COUNT: Final = 8
COMMITTED, END = 90, 100
WAITING_MS: Final = 4_200
STORED_MS: Final = 1_772_452_800_000

Body = bytes | None


def addresses() -> list[str]:
    """Give the address of every broker."""
    return [f"127.{replica}.{n}.1" for n in range(BROKER_COUNT) for replica in REPLICA_IDS]


def readers_of(number: int) -> dict[str, str]:
    """Give the consumer groups of a broker, each with the one topic that it reads."""
    first = number * TOPICS_PER_BROKER
    return {
        f"readers-{number * READERS_PER_BROKER + i}": f"topic-{first + i}"
        for i in range(READERS_PER_BROKER)
    }


class FakeBroker:
    """One broker, whose answers about its consumer groups are encoded once."""

    def __init__(self, number: int) -> None:
        self._name, self._readers = f"group-{number}", readers_of(number)
        configs = {name: SubscriptionGroupConfig(name=name) for name in self._readers}
        self._all_groups = java_json.encode({"subscriptionGroupTable": configs})
        offsets = {str(i): COMMITTED for i in range(QUEUE_COUNT)}
        committed = {f"{topic}@{name}": offsets for name, topic in self._readers.items()}
        self._all_offsets = java_json.encode({"offsetTable": committed})
        clients = [
            ConnectedClient(
                client_id=_client_id(name),
                address="127.0.0.1:40000",
                language="JAVA",
                version=513,
                heard_ms=1_000,
                consumer_groups=[name],
            )
            for name in self._readers
        ]
        self._clients = java_json.encode(
            ConnectedClients(total_count=len(clients), clients=clients)
        )
        self.answers: Mapping[int, Callable[[Mapping[str, str]], tuple[int, bytes]]] = {
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: lambda _: (0, self._all_groups),
            RequestCode.GET_ALL_CONSUMER_OFFSET: lambda _: (0, self._all_offsets),
            RequestCode.GET_CLIENTS: lambda _: (0, self._clients),
            RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: self._settings,
            RequestCode.GET_CONSUMER_CONNECTION_LIST: self._members,
            RequestCode.GET_CONSUME_STATS: self._progress,
            RequestCode.QUERY_CONSUME_TIME_SPAN: self._spans,
            RequestCode.GET_QUEUE_READERS: self._queue_readers,
        }

    def _settings(self, ext: Mapping[str, str]) -> tuple[int, bytes]:
        name = ext["group"]
        if name not in self._readers:
            return ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, b""
        return 0, java_json.encode(SubscriptionGroupConfig(name=name))

    def _members(self, ext: Mapping[str, str]) -> tuple[int, bytes]:
        name = ext["consumerGroup"]
        topic = self._readers.get(name)
        if topic is None:
            return ResponseCode.CONSUMER_NOT_ONLINE, b""
        member = ClientConnection(
            client_address="127.0.0.1:40000",
            client_id=_client_id(name),
            language="JAVA",
            version=513,
        )
        found = ConsumerConnection(
            connections=[member],
            consume_from_where="CONSUME_FROM_LAST_OFFSET",
            consume_type="CONSUME_PASSIVELY",
            message_model="CLUSTERING",
            subscriptions={topic: SubscriptionData(topic=topic)},
        )
        return 0, java_json.encode(found)

    def _progress(self, ext: Mapping[str, str]) -> tuple[int, bytes]:
        topic = self._readers.get(ext["consumerGroup"])
        # No consumer failed to handle a message: no retry topic has one.
        if topic is None or ext.get("topicList", topic) != topic:
            return 0, encode_consume_stats([])
        progress = QueueProgress(
            broker_offset=END,
            consumer_offset=COMMITTED,
            last_timestamp_ms=STORED_MS,
            pull_offset=COMMITTED,
        )
        return 0, encode_consume_stats((queue, progress) for queue in self._queues(topic))

    def _spans(self, ext: Mapping[str, str]) -> tuple[int, bytes]:
        spans = [
            QueueTimeSpan(
                queue=queue,
                min_timestamp_ms=STORED_MS,
                max_timestamp_ms=STORED_MS,
                consumed_timestamp_ms=STORED_MS,
                delay_ms=WAITING_MS,
            )
            for queue in self._queues(ext["topic"])
        ]
        return 0, java_json.encode(QueueTimeSpans(spans=spans))

    def _queue_readers(self, _ext: Mapping[str, str]) -> tuple[int, bytes]:
        queues = [
            QueueReaderBody(
                queue_id=i, pulled_ms=5, committed_ms=5, advanced_ms=5, address="127.0.0.1:40000"
            )
            for i in range(QUEUE_COUNT)
        ]
        told = QueueReadersBody(is_gate_open=True, observed_for_ms=60_000, queues=queues)
        return 0, java_json.encode(told)

    def _queues(self, topic: str) -> list[bodies.MessageQueue]:
        return [
            bodies.MessageQueue(topic=topic, broker_name=self._name, queue_id=i)
            for i in range(QUEUE_COUNT)
        ]


class Agent:
    """A real agent that is asked the same only once."""

    def __init__(self, address: str) -> None:
        self._client = RemotingClient(in_flight_count_max=10_000)
        self._address = address
        self._told: dict[tuple[object, ...], asyncio.Task[Command]] = {}

    async def ask(self, command: Command) -> Command:
        key = (command.code, tuple(sorted(command.ext.items())), bytes(command.body))
        if key not in self._told:
            asked = self._client.request(
                self._address, command.code, ext=command.ext, body=bytes(command.body)
            )
            self._told[key] = asyncio.ensure_future(asked)
        return await self._told[key]


class Conversation(asyncio.Protocol):
    """One connection to one of the brokers."""

    def __init__(self, brokers: Mapping[str, FakeBroker], agent: Agent) -> None:
        self._brokers, self._agent = brokers, agent
        self._connection: PeerConnection[None] = PeerConnection()
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        # By its second number: a master and its replica answer the same.
        number = transport.get_extra_info("sockname")[0].split(".")[2]
        self._broker = self._brokers[number]

    def data_received(self, data: bytes) -> None:
        self._connection.receive_data(data)
        for command in self._connection.commands():
            own = self._broker.answers.get(command.code)
            if own is not None:
                code, body = own(command.ext)
                self._transport.write(answer(command, code=code, body=body))
            else:
                task = asyncio.ensure_future(self._pass_on(command))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, command: Command) -> None:
        told = await self._agent.ask(command)
        frame = answer(
            command, code=told.code, ext=told.ext, body=bytes(told.body), remark=told.remark
        )
        self._transport.write(frame)


def _client_id(name: str) -> str:
    return f"127.0.0.1@{name}"


async def serve(port: int, agent_port: int) -> None:
    """Answer until the process is ended."""
    agent = Agent(f"127.0.0.1:{agent_port}")
    brokers = {str(number): FakeBroker(number) for number in range(BROKER_COUNT)}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Conversation(brokers, agent), addresses(), port)
    print("listening", flush=True)  # noqa: T201 - the process that started this one waits for the line
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2])))
