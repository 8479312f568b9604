"""Start a broker container: `python -m workers.broker.container -c container.conf`."""

import argparse
import contextlib
import sys
from pathlib import Path

import structlog

from workers.broker.configuration.config_file import ConfigFile
from workers.broker.container.server import ContainerServer
from workers.broker.container.settings import load_container
from workers.broker.process import UNUSABLE, prepare, refuse, run

log = structlog.get_logger()


def main(arguments: list[str] | None = None) -> int:
    """Run a container until a signal stops it, and return the exit code of the process."""
    parser = argparse.ArgumentParser(
        prog="regent-container", description="Run several broker agents in one process."
    )
    parser.add_argument(
        "-c", "--config", type=Path, required=True, help="RocketMQ container.conf file"
    )
    options = parser.parse_args(arguments)
    prepare()
    try:
        loaded = load_container(options.config)
        if loaded.unused:
            log.info("properties_without_effect", names=list(loaded.unused))
        server = ContainerServer(loaded, ConfigFile(options.config))
    except UNUSABLE as error:
        return refuse("container", options.config, error)
    return run(server) or 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
