"""The unmodified Java client as a load: `Producer.java`, run from its source."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from tests.bench.clients.load import LoadError
from tests.bench.clients.systems import STOCK_VERSION
from tests.interop.java import class_path

SOURCE = Path(__file__).with_name("Producer.java")
START_TIMEOUT_S, ANSWER_TIMEOUT_S = 60.0, 60.0
WARM_UP_S = 10.0
"""Until both compilers of the client have done most of their work."""


@dataclass(frozen=True, slots=True)
class JavaSent:
    """What one turn of the producer came to."""

    acknowledged: int
    refused: int
    seconds: float


@dataclass(frozen=True, slots=True)
class JavaProducer:
    """A running client with one producer."""

    process: asyncio.subprocess.Process

    @classmethod
    @asynccontextmanager
    async def running(
        cls, name_server: str, topic: str, threads: int, body_size: int
    ) -> AsyncIterator[Self]:
        """Start a client and warm it up."""
        with TemporaryDirectory(prefix="regent-bench-java-") as home:
            process = await asyncio.create_subprocess_exec(
                *("java", "-Xms512m", "-Xmx512m", f"-Duser.home={home}"),
                *("-Drocketmq.client.logLevel=WARN", f"-Drocketmq.client.logRoot={home}"),
                *("-cp", class_path(f"client-{STOCK_VERSION}"), str(SOURCE)),
                *(name_server, topic, str(threads), str(body_size)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
            producer = cls(process)
            try:
                await producer._line(START_TIMEOUT_S)
                await producer.send(WARM_UP_S)
                yield producer
            finally:
                process.kill()
                await process.wait()

    async def send(self, seconds: float) -> JavaSent:
        """Send for some seconds."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{seconds}\n".encode())
        acknowledged, refused, passed = (await self._line(seconds + ANSWER_TIMEOUT_S)).split()
        return JavaSent(int(acknowledged), int(refused), float(passed))

    async def _line(self, timeout_s: float) -> str:
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(timeout_s):
                line = await self.process.stdout.readline()
        except TimeoutError as error:
            raise LoadError(f"the Java producer says nothing for {timeout_s:.0f} s") from error
        if not line:
            raise LoadError("the Java producer ended")
        return line.decode()
