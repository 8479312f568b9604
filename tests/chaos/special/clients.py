"""The stock Java clients of a run, in one process, and their journal."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Final, TextIO

from tests.chaos.special.traffic import Traffic
from tests.interop.client import StockClient
from tests.interop.java import VERSIONS

DELAY_LEVEL: Final = 6
DELAY_MS: Final = 2_000
"""The delay of that level, in the settings of the agents."""

SEND_TIMEOUT_MS: Final = 3_000
PAUSE_MS: Final = 60
END_TIMEOUT_S: Final = 60.0
SYSTEM: Final = {
    # The proxy looks for the owner of a connection among those of IPv4.
    "java.net.preferIPv4Stack": "true",
    "rocketmq.client.rebalance.waitInterval": "1000",
    "rocketmq.client.rebalance.lockInterval": "1000",
}


class SpecialClients:
    """Senders and consumers of one version of the stock client."""

    def __init__(self, directory: Path, name_server: str) -> None:
        """Start them."""
        self._path = directory / "traffic.tsv"
        self._traffic = Traffic()
        self._file: TextIO | None = None
        self._rest = ""
        self._is_over = False
        self._stack = ExitStack()
        self._running = self._stack.enter_context(
            StockClient(VERSIONS[0], name_server, directory).start(
                "special-traffic",
                system=SYSTEM,
                journal=self._path,
                timed="special-timed",
                transactions="special-transactions",
                delay_level=DELAY_LEVEL,
                delay_ms=DELAY_MS,
                pause_ms=PAUSE_MS,
                send_timeout_ms=SEND_TIMEOUT_MS,
            )
        )

    @property
    def pid(self) -> int:
        """Return the process of all clients."""
        return self._running.pid

    def check_alive(self) -> None:
        """Raise if the process has ended by itself."""
        if not self._is_over:
            self._running.check_alive()

    def read_journal(self) -> Traffic:
        """Read what was written since the last call, and return all of it."""
        if self._file is None:
            if not self._path.exists():
                return self._traffic
            self._file = self._path.open(encoding="ascii")
        lines = (self._rest + self._file.read()).split("\n")
        self._rest = lines.pop()
        self._traffic.read(lines)
        return self._traffic

    async def stop_sending(self) -> None:
        """Send no more, and wait until the journal has the last answer."""
        self._running.write_line("stop sending")
        await asyncio.to_thread(
            self._running.wait_for,
            lambda event: event["event"] == "consuming",
            timeout_s=END_TIMEOUT_S,
        )

    async def stop(self) -> None:
        """End the consumers too."""
        self._is_over = True
        self._running.write_line("stop")
        await asyncio.to_thread(self._running.result)

    def close(self) -> None:
        """End the process at once, if it still runs."""
        self._stack.close()
        if self._file is not None:
            self._file.close()
