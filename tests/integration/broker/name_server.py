"""A name server of a few lines that records the messages of brokers."""

import asyncio
import zlib
from dataclasses import dataclass, field

from regent_engine import Command, Decoder

from backend.remoting.bodies import TopicConfigTable, decode_register_broker_body
from backend.remoting.command import answer
from backend.remoting.headers import RegisterBrokerHeader, decode_header
from backend.remoting.request_code import RequestCode


@dataclass
class RecordingNameServer:
    received: list[Command] = field(default_factory=list)
    writers: set[asyncio.StreamWriter] = field(default_factory=set)
    refuse_count: int = 0
    server: asyncio.Server | None = None
    port: int = 0

    async def start(self, port: int = 0) -> None:
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", port)
        self.port = self.server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self.server is not None
        self.server.close()
        for writer in list(self.writers):
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        decoder = Decoder()
        self.writers.add(writer)
        try:
            while data := await reader.read(1 << 16):
                for command in decoder.receive(data):
                    self.received.append(command)
                    self.reply(writer, command)
        except ConnectionError:
            pass
        finally:
            self.writers.discard(writer)
            writer.close()

    def reply(self, writer: asyncio.StreamWriter, command: Command) -> None:
        if command.is_oneway:
            return
        refuses = self.refuse_count > 0
        self.refuse_count -= refuses
        writer.write(answer(command, code=1 if refuses else 0))

    def of(self, code: RequestCode) -> list[Command]:
        return [command for command in self.received if command.code == code]

    def tables(self) -> list[TopicConfigTable]:
        registrations = self.of(RequestCode.REGISTER_BROKER)
        return [table_of(command) for command in registrations]

    def has_topics(self, *names: str) -> bool:
        """Whether a broker has registered, with these topics at once or one by one."""
        tables = self.tables()
        told = {name for table in tables for name in table.topics}
        return bool(tables) and set(names) <= told


def table_of(command: Command) -> TopicConfigTable:
    header = decode_header(RegisterBrokerHeader, command.ext)
    assert header.body_crc32 == zlib.crc32(command.body) & 0x7FFFFFFF
    body, _ = decode_register_broker_body(
        command.body, compressed=header.compressed, version=command.version
    )
    return body.topic_table


class FakeStockBroker(RecordingNameServer):
    """A broker of RocketMQ that knows none of the requests of a test."""

    def reply(self, writer: asyncio.StreamWriter, command: Command) -> None:
        writer.write(answer(command, code=3, remark=f"request type {command.code}"))
