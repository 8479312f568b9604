"""Start a broker agent: `python -m workers.broker -c broker.conf`.

An error that an operator can fix gives one line on standard error and exit code 2. Examples are
settings, a port in use, or a store that another process holds.
"""

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import Final, TypeGuard

import structlog
import uvloop
from regent_engine import StoreError

from backend.open_files import allow_open_files
from workers.broker.commit_log.heap import keep_heap
from workers.broker.commit_log.log import configure_log
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import InvalidSetting, load_settings, parse_settings
from workers.broker.replication.identity import IdentityMismatch
from workers.broker.server import BrokerServer, PortInUse
from workers.broker.tables.state_file import StateFileUnreadable

EXIT_FAILED: Final = 1
EXIT_UNUSABLE: Final = 2

_UNUSABLE: Final = (
    InvalidSetting,
    PortInUse,
    StoreError,
    StateFileUnreadable,
    IdentityMismatch,
    OSError,
)

log = structlog.get_logger()


def main(arguments: list[str] | None = None) -> int:
    """Run a broker until a signal stops it, and return the exit code of the process."""
    parser = argparse.ArgumentParser(prog="regent-broker", description="Run one broker agent.")
    parser.add_argument("-c", "--config", type=Path, help="RocketMQ broker.conf file")
    options = parser.parse_args(arguments)
    configure_log()
    keep_heap()
    allow_open_files()
    try:
        loaded = load_settings(options.config) if options.config else parse_settings({})
        if loaded.unused:
            log.info("properties_without_effect", names=list(loaded.unused))
        file = ConfigFile(options.config) if options.config else None
        server = BrokerServer(loaded.settings, given=loaded.given, config_file=file)
    except _UNUSABLE as error:
        return _refuse(options.config, error)
    return uvloop.run(_serve(server))


def _refuse(config: Path | None, error: Exception) -> int:
    place = f"{config}: " if config and isinstance(error, InvalidSetting) else ""
    reason = f"{error.filename}: {error.strerror}" if _is_about_a_file(error) else str(error)
    sys.stderr.write(f"broker: {place}{reason}\n")
    return EXIT_UNUSABLE


def _is_about_a_file(error: Exception) -> TypeGuard[OSError]:
    return isinstance(error, OSError) and bool(error.filename)


async def _serve(server: BrokerServer) -> int:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    endings = [asyncio.ensure_future(event.wait()) for event in (stopped, server.failed)]
    try:
        await server.start()
        await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await server.close()
        for ending in endings:
            ending.cancel()
    return EXIT_FAILED if server.failed.is_set() else 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
