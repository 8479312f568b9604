"""Run the control plane's remoting port alone: controller and name server, without HTTP doors.

A chaos run kills and starts this process repeatedly; the doors would take most of that time. Usage:
`python -m tests.chaos.control_plane HOST PORT [SCAN]`. `SCAN` is the seconds between searches for
silent brokers, 5 by default. `REGENT_DATABASE_URL`, `REGENT_REDIS_URL` and `REGENT_LEASE_POLICY`
are those of `backend.server`.
"""

import asyncio
import os
import sys

import uvloop
from redis.asyncio import Redis

from backend.clients.clock import SystemClock
from backend.db.engine import open_database
from backend.domain.replica_group import LeasePolicy
from backend.nameserver.server import SILENCE_SCAN_INTERVAL_S, NameServer
from tests.plain_logs import log_plainly


async def serve(
    host: str, port: int, silence_scan_interval_s: float = SILENCE_SCAN_INTERVAL_S
) -> None:
    """Serve until killed."""
    database = open_database(os.environ["REGENT_DATABASE_URL"], application_name="chaos")
    async with (
        Redis.from_url(os.environ["REGENT_REDIS_URL"]) as redis,
        NameServer.serve(
            host,
            port,
            database=database,
            redis=redis,
            clock=SystemClock(),
            lease_policy=LeasePolicy(os.environ["REGENT_LEASE_POLICY"]),
            silence_scan_interval_s=silence_scan_interval_s,
        ),
    ):
        await asyncio.Event().wait()


def main(arguments: list[str]) -> None:
    """Serve with the arguments of the command until killed."""
    log_plainly()
    host, port, *interval = arguments
    uvloop.run(serve(host, int(port), *map(float, interval)))


if __name__ == "__main__":
    main(sys.argv[1:])
