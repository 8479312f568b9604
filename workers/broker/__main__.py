"""Start a broker agent: `python -m workers.broker -c broker.conf`."""

import argparse
import contextlib
import sys
from pathlib import Path

import structlog

from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import load_settings, parse_settings
from workers.broker.process import UNUSABLE, prepare, refuse, run
from workers.broker.server import BrokerServer

log = structlog.get_logger()


def main(arguments: list[str] | None = None) -> int:
    """Run a broker until a signal stops it, and return the exit code of the process."""
    parser = argparse.ArgumentParser(prog="regent-broker", description="Run one broker agent.")
    parser.add_argument("-c", "--config", type=Path, help="RocketMQ broker.conf file")
    options = parser.parse_args(arguments)
    prepare()
    while True:
        try:
            server = _build(options.config)
        except UNUSABLE as error:
            return refuse("broker", options.config, error)
        code = run(server, restart_wanted=server.broker.restart_wanted)
        if code is not None:
            return code
        log.info("broker_starts_again")


def _build(config: Path | None) -> BrokerServer:
    loaded = load_settings(config) if config else parse_settings({})
    if loaded.unused:
        log.info("properties_without_effect", names=list(loaded.unused))
    file = ConfigFile(config) if config else None
    return BrokerServer(loaded.settings, given=loaded.given, config_file=file)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
