"""Two broker groups, a name server, and the steps of a move done one by one."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
from regent_engine import Command

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.logical_queues import (
    GetLogicalQueues,
    GetStaticTopic,
    PrepareLogicalQueue,
    SealLogicalQueue,
    StoreMapping,
)
from backend.domain.logical_queue.commit import with_successor
from backend.domain.logical_queue.mapping import (
    LogicalQueue,
    QueueCounts,
    TopicMapping,
    copy_for,
)
from backend.domain.logical_queue.segment import QueueSegment
from backend.domain.logical_queue.stock_json import encode_mapping
from backend.domain.topic_layout import TopicLayout
from backend.remoting import java_json
from backend.remoting.bodies import BrokerData, BrokerMemberGroup, BrokerMembers
from backend.remoting.bodies.logical_queues import HeldEpochs, NewerMapping, NewerMappings
from backend.remoting.command import answer
from backend.remoting.headers import BrokerMemberGroupHeader, decode_header
from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import write_config
from tests.integration.broker.client import Client
from tests.integration.broker.name_server import RecordingNameServer
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import load_settings
from workers.broker.server import BrokerServer

TOPIC = "Orders"
CLUSTER = "TestCluster"
FIRST_EPOCH = 1_000
NEW_VERSION, OLD_VERSION = b'"version":513', b'"version":409'


@dataclass
class OldClient(Client):
    """A client of RocketMQ 4.9.8, which does not know static topics."""

    def start(self, code, ext=None, body=b"") -> asyncio.Future[Command]:
        written = self.writer
        self.writer = Rewriting(written)
        try:
            return super().start(code, ext, body)
        finally:
            self.writer = written


@dataclass
class Rewriting:
    """Writes requests with the version number of an old client."""

    writer: asyncio.StreamWriter

    def write(self, frame: bytes) -> None:
        assert NEW_VERSION in frame
        self.writer.write(frame.replace(NEW_VERSION, OLD_VERSION))

    def is_closing(self) -> bool:
        return self.writer.is_closing()


@dataclass
class Directory(RecordingNameServer):
    """A name server that also knows the routes of static topics, and the master of each group."""

    addresses: dict[str, str] = field(default_factory=dict)
    present: TopicMapping | None = None
    confirms: bool = True
    withheld: list[tuple[asyncio.StreamWriter, Command]] = field(default_factory=list)
    """Questions for newer mappings that came while nothing was confirmed."""

    def confirm(self) -> None:
        """Answer the withheld questions for newer mappings, and those that come."""
        self.confirms = True
        for writer, command in self.withheld:
            self.reply(writer, command)
        self.withheld.clear()

    def reply(self, writer, command: Command) -> None:
        if command.code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
            brokers = [
                BrokerData(addresses={0: address}, broker_name=name, cluster=CLUSTER)
                for name, address in self.addresses.items()
            ]
            infos = self.infos(command.ext["topic"])
            route = {"topicQueueMappingByBroker": infos, "brokerDatas": brokers}
            writer.write(answer(command, body=java_json.encode(route)))
            return
        if command.code == RequestCode.GET_NEWER_MAPPINGS:
            if self.confirms:
                writer.write(answer(command, body=java_json.encode(self.newer_than(command))))
            else:
                self.withheld.append((writer, command))
            return
        if command.code != RequestCode.GET_BROKER_MEMBER_GROUP:
            super().reply(writer, command)
            return
        wanted = decode_header(BrokerMemberGroupHeader, command.ext)
        address = self.addresses.get(wanted.broker_name)
        members = BrokerMembers(
            cluster=wanted.cluster_name,
            broker_name=wanted.broker_name,
            addresses={} if address is None else {0: address},
        )
        body = java_json.encode(BrokerMemberGroup(members=members))
        writer.write(answer(command, body=body))

    def newer_than(self, command: Command) -> NewerMappings:
        """The mapping that a broker group missed; it is the present one of the groups here."""
        header = decode_header(BrokerMemberGroupHeader, command.ext)
        held = java_json.decode(command.body, HeldEpochs).epochs[TOPIC]
        if self.present is None or self.present.epoch <= held:
            return NewerMappings()
        counts = self.present.counts[header.broker_name]
        mapping = encode_mapping(copy_for(self.present, header.broker_name))
        newer = NewerMapping(
            mapping=msgspec.Raw(mapping.encode()),
            read_queue_count=counts.read_count,
            write_queue_count=counts.write_count,
            is_final=True,
        )
        return NewerMappings(topics={TOPIC: newer})

    def infos(self, topic: str = TOPIC) -> dict[str, dict]:
        """The last mapping that each broker group registered."""
        tables = [table.mapping_infos.get(topic) for table in self.tables()]
        return {info["bname"]: info for info in tables if info is not None}


@dataclass
class BrokerGroups:
    """Broker groups by name, each of one broker in this process."""

    root: Path
    stack: AsyncExitStack
    directory: Directory = field(default_factory=Directory)
    servers: dict[str, BrokerServer] = field(default_factory=dict)
    clients: dict[str, Client] = field(default_factory=dict)
    brokers: Brokers = field(default_factory=lambda: Brokers(RemotingClient()))
    topic: TopicMapping = field(
        default_factory=lambda: TopicMapping(TOPIC, FIRST_EPOCH, (), counts={})
    )

    async def start(self, name: str, **properties: str) -> Client:
        if not self.directory.port:
            await self.directory.start()
            self.stack.push_async_callback(self.directory.stop)
        root = self.root / name
        root.mkdir(exist_ok=True)
        path = write_config(
            root,
            brokerName=name,
            namesrvAddr=f"127.0.0.1:{self.directory.port}",
            **properties,
        )
        loaded = load_settings(path)
        server = BrokerServer(loaded.settings, given=loaded.given, config_file=ConfigFile(path))
        self.stack.push_async_callback(server.close)
        await server.start()
        self.servers[name] = server
        self.directory.addresses[name] = self.address(name)
        client = self.clients[name] = await Client.connect(server.port)
        self.stack.push_async_callback(client.close)
        return client

    async def stop(self, name: str) -> None:
        await self.clients.pop(name).close()
        await self.servers.pop(name).close()

    def address(self, name: str) -> str:
        return f"127.0.0.1:{self.servers[name].port}"

    async def ask(self, name: str, request):
        return await self.brokers.ask(self.address(name), request)

    async def create(self, *leaders: str) -> None:
        """Create the topic with one logical queue for each leader."""
        counts = dict.fromkeys(self.servers, QueueCounts())
        queues = []
        for global_id, name in enumerate(leaders):
            queue_id = counts[name].write_count
            counts[name] = counts[name].covering(queue_id)
            queues.append(LogicalQueue(global_id, (QueueSegment(0, name, queue_id),)))
        self.topic = replace(self.topic, queues=tuple(queues), counts=counts)
        for name in self.servers:
            await self.store(name)

    async def store(self, name: str, **more: bool) -> None:
        counts = self.topic.counts[name]
        layout = TopicLayout(
            read_queue_count=counts.read_count, write_queue_count=counts.write_count
        )
        mapping = copy_for(self.topic, name)
        await self.ask(name, StoreMapping(layout=layout, mapping=mapping, **more))

    async def prepare(self, name: str, global_id: int = 0):
        epoch = self.topic.epoch + 1_000
        return await self.ask(
            name, PrepareLogicalQueue(topic=TOPIC, global_id=global_id, epoch=epoch)
        )

    async def seal(self, name: str, global_id: int = 0):
        epoch = self.topic.epoch + 1_000
        return await self.ask(name, SealLogicalQueue(topic=TOPIC, global_id=global_id, epoch=epoch))

    def decide(self, global_id: int, destination: str, prepared, seal) -> None:
        moved = with_successor(self.topic, global_id, destination, prepared, seal=seal)
        self.topic = replace(moved, epoch=self.topic.epoch + 1_000)

    async def move(self, source: str, destination: str, global_id: int = 0) -> None:
        """Move a logical queue, step by step (logical-queues.md 9.4)."""
        prepared = await self.prepare(destination, global_id)
        self.decide(global_id, destination, prepared, await self.seal(source, global_id))
        await self.store(destination)
        await self.store(source, is_final=True)

    async def held(self, name: str):
        """Everything that a broker group keeps of the topic."""
        return (await self.ask(name, GetLogicalQueues(TOPIC))).get(TOPIC)

    async def described(self, name: str):
        return await self.ask(name, GetStaticTopic(TOPIC))
