"""The processes of a run: the control plane and the agents of one group, over their databases.

Each can be killed at any moment and started again with its data. Nothing here waits for a process
to be ready: the run checks that.
"""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import psycopg

from tests import guard
from tests.chaos.databases import Postgres, RedisProcess
from tests.chaos.network import Network
from tests.chaos.schedule import LEASE_S
from tests.chaos.sockets import find_owner
from tests.forking import BROKER, CONTROL_PLANE, ForkedProcess, forking_process
from tests.integration.broker.agent import write_config

ROOT: Final = Path(__file__).parents[2]
GROUP: Final = "broker-c"
AGENTS: Final = (1, 2, 3)
CONTROLLER: Final = "controller"
CLIENT: Final = "client"
STOP_TIMEOUT_S: Final = 30
SMALL: Final = {
    "mappedFileSizeCommitLog": str(1 << 20),
    "mappedFileSizeConsumeQueue": "20000",
    "maxMessageSize": "65536",
}
"""Files so small that each run goes over their ends."""

_PORTS: Final = range(15_000, 30_000, 10)


@dataclass(frozen=True, slots=True)
class Hosts:
    """Loopback addresses that no other run has."""

    real: str
    proxy: str
    client: str

    @classmethod
    def of_process(cls, pid: int) -> "Hosts":
        """Derive them from a process id, which has at most 22 bits."""
        top, rest = pid >> 16 & 63, f"{pid >> 8 & 255}.{pid & 255}"
        return cls(f"127.{1 + top}.{rest}", f"127.{65 + top}.{rest}", f"127.{129 + top}.{rest}")


@dataclass(frozen=True, slots=True)
class Standing:
    """The committed state of the group at the controller."""

    master: int | None
    epoch: int
    members: frozenset[int]
    revision: int


def agent_name(agent: int) -> str:
    """Return the name of an agent in the network."""
    return f"agent{agent}"


class Process:
    """One process of a program at a time, always with the same arguments.

    It is forked from a process that has imported the program: a run starts dozens. Its log
    continues over all starts.
    """

    def __init__(
        self,
        program: str,
        arguments: Sequence[str],
        log_path: Path,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        # Its imports are not part of the first start.
        self._origin = forking_process(program)
        self._arguments, self.log_path = arguments, log_path
        self._environment = environment
        self._process: ForkedProcess | None = None

    @property
    def pid(self) -> int | None:
        """Its id, unless it was ended."""
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended, if it did by itself."""
        return None if self._process is None else self._process.poll()

    def start(self) -> None:
        """Start it, unless it runs."""
        if self._process is None:
            environment = os.environ | self._environment
            self._process = self._origin.fork(
                self._arguments, log_path=self.log_path, environment=environment
            )

    def send_signal(self, number: signal.Signals) -> None:
        """Signal it, if it runs."""
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once, also while it is paused."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_TIMEOUT_S)
            self._process = None

    def stop(self) -> int | None:
        """Stop it cleanly and return its exit code; None if it did not run."""
        if self._process is None:
            return None
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL
        self._process = None
        return code


class Cluster:
    """One group of three under one control plane."""

    silence_scan_interval_s = 5.0
    """How often the name server looks for silent brokers; elections do not depend on it."""

    def __init__(
        self,
        directory: Path,
        *,
        policy: str,
        flush: str,
        properties: Mapping[str, str] = SMALL,
        is_proxied: bool = True,
    ) -> None:
        """Prepare the processes; `properties` are further settings of the agents.

        Without proxies the network has no faults, and carries as much as the machine can.
        """
        self.hosts = Hosts.of_process(os.getpid())
        if not is_proxied:
            self.hosts = replace(self.hosts, proxy=self.hosts.real)
        self._is_proxied = is_proxied
        self.directory = directory
        guard.watch()
        self.postgres, self.redis = Postgres(), RedisProcess()
        self.network = Network(self._owner_of, real=self.hosts.real, proxy=self.hosts.proxy)
        ports = _free_ports(self.hosts)
        self.controller_port = next(ports)
        self.ports = {agent: next(ports) for agent in AGENTS}
        self.controller = self._controller_process(policy)
        self.agents = {agent: self._agent_process(agent, flush, properties) for agent in AGENTS}
        self.client_pids: set[int] = set()
        """Processes of clients: their connections may have any address."""

        self._connection: psycopg.AsyncConnection | None = None

    @property
    def name_server(self) -> str:
        """Return the address of the control plane for agents and clients."""
        return f"{self.hosts.proxy}:{self.controller_port}"

    async def open_network(self) -> None:
        """Let the nodes reach one another."""
        if not self._is_proxied:
            return
        await self.network.expose(CONTROLLER, self.controller_port)
        for agent, port in self.ports.items():
            await self.network.expose(agent_name(agent), port)
            await self.network.expose(agent_name(agent), port + 1)

    async def standing(self) -> Standing | None:
        """Ask Postgres for the group; None if it does not answer or has none yet."""
        rows = await self._query(
            "SELECT master_id, master_epoch, sync_state_set, revision FROM replica_groups"
        )
        if not rows:
            return None
        master, epoch, members, revision = rows[0]
        return Standing(master, epoch, frozenset(members), revision)

    async def elections(self) -> dict[int, int] | None:
        """Return the elected master of each epoch, by the controller's history; None without
        answer."""
        rows = await self._query(
            "SELECT master_epoch, master_id FROM replica_group_changes"
            " WHERE kind = 'master_elected' ORDER BY id"
        )
        return None if rows is None else dict(rows)

    def ended_by_itself(self) -> dict[str, int]:
        """Name the processes that ended without a fault of the schedule, with their exit codes."""
        processes = {CONTROLLER: self.controller} | {
            agent_name(agent): process for agent, process in self.agents.items()
        }
        codes = {name: process.exit_code for name, process in processes.items()}
        return {name: code for name, code in codes.items() if code is not None}

    async def close(self) -> None:
        """End everything at once."""
        for process in (*self.agents.values(), self.controller):
            process.kill()
        await self.network.close()
        if self._connection is not None:
            await self._connection.close()
        self.redis.close()
        self.postgres.close()

    async def _query(self, statement: str) -> list[tuple] | None:
        try:
            if self._connection is None:
                self._connection = await psycopg.AsyncConnection.connect(
                    self.postgres.url, autocommit=True
                )
            cursor = await self._connection.execute(statement)
            return await cursor.fetchall()
        except psycopg.Error:
            if self._connection is not None:
                await self._connection.close()
                self._connection = None
            return None

    def _owner_of(self, host: str, port: int) -> str | None:
        if host == self.hosts.client:
            return CLIENT
        named = {agent_name(agent): process.pid for agent, process in self.agents.items()}
        named[CONTROLLER] = self.controller.pid
        pids = {pid: name for name, pid in named.items() if pid is not None}
        pids |= dict.fromkeys(self.client_pids, CLIENT)
        pid = find_owner((host, port), self.hosts.proxy, pids)
        return None if pid is None else pids[pid]

    def _controller_process(self, policy: str) -> Process:
        environment = {
            "REGENT_DATABASE_URL": self.postgres.url,
            "REGENT_REDIS_URL": self.redis.url,
            "REGENT_LEASE_POLICY": policy,
        }
        interval_s = str(self.silence_scan_interval_s)
        arguments = [self.hosts.real, str(self.controller_port), interval_s]
        log_path = self.directory / "controller.log"
        return Process(CONTROL_PLANE, arguments, log_path, environment)

    def _agent_process(self, agent: int, flush: str, properties: Mapping[str, str]) -> Process:
        root = self.directory / agent_name(agent)
        root.mkdir()
        config = write_config(
            root,
            brokerName=GROUP,
            bindAddress=self.hosts.real,
            brokerIP1=self.hosts.proxy,
            brokerIP2=self.hosts.proxy,
            listenPort=str(self.ports[agent]),
            haListenPort=str(self.ports[agent] + 1),
            namesrvAddr=self.name_server,
            flushDiskType=flush,
            brokerHeartbeatInterval="200",
            syncBrokerMetadataPeriod="500",
            haSendHeartbeatInterval="200",
            haHousekeepingInterval="1200",
            haMaxTimeSlaveNotCatchup="2000",
            slaveTimeout="1000",
            # A full disk of this machine must not cause deletions.
            cleanFileForciblyEnable="false",
            diskMaxUsedSpaceRatio="95",
            **self._role(agent),
            **properties,
        )
        return Process(BROKER, ["-c", str(config)], root / "agent.log")

    def _role(self, _agent: int) -> Mapping[str, str]:
        """Return the settings that make an agent a member of the group."""
        return {
            "enableControllerMode": "true",
            "controllerAddr": self.name_server,
            "controllerHeartBeatTimeoutMills": str(int(LEASE_S * 1000)),
        }


def _free_ports(hosts: Hosts) -> Iterator[int]:
    """Find ports that are free with their neighbours: two below is the fast port, one above ours.

    They stay free: no other program uses these hosts, and the kernel gives ports above them.
    """
    for port in _PORTS:
        try:
            for host in (hosts.real, hosts.proxy):
                for near in (port - 2, port, port + 1):
                    socket.create_server((host, near)).close()
        except OSError:
            continue
        yield port
