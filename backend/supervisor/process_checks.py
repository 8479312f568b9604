"""Health checks of a local cluster's processes, through the interfaces of their users.

A missing answer means not healthy: no check raises.
"""

import asyncio
import contextlib
import http.client
import json
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regent_engine import Decoder, ProtocolError, encode_command

from backend.remoting.request_code import RequestCode
from backend.supervisor.layout import LOOPBACK, BrokerLayout, ClusterLayout, GroupLayout

ANSWER_TIMEOUT_S = 2.0
MASTER_ID = "0"


@dataclass(frozen=True, slots=True)
class LocalGroupState:
    """The answer about a group, by addresses.

    Attributes:
        master: Who is master and alive.
        in_sync: The living members of its SyncStateSet; without a controller, all that are online.
    """

    master: str | None
    in_sync: frozenset[str]

    def lacks(self, group: GroupLayout) -> list[BrokerLayout]:
        """List the brokers that are not in sync."""
        return [broker for broker in group.brokers if broker.address not in self.in_sync]


async def group_states(
    layout: ClusterLayout, groups: Sequence[GroupLayout]
) -> dict[str, LocalGroupState]:
    """Ask the controller about groups (remoting.md 2.9, 1006).

    The name server answers about a group in acting-master mode, which the controller does not know.
    """
    names = [group.name for group in groups]
    body = json.dumps(names).encode()
    answer = await _ask(layout, RequestCode.CONTROLLER_GET_SYNC_STATE_DATA, body)
    states = {
        name: _state(replicas) for name, replicas in answer.get("replicasInfoTable", {}).items()
    }
    if states.keys() >= set(names):
        return states
    registered = {
        name: LocalGroupState(addresses.get(MASTER_ID), frozenset(addresses.values()))
        for name, addresses in (await _registered(layout)).items()
        if name in names
    }
    return registered | states


async def registered_masters(layout: ClusterLayout) -> dict[str, str]:
    """Ask the name server for the writable brokers of each group (remoting.md 2.7, request 106)."""
    return {
        name: addresses[MASTER_ID]
        for name, addresses in (await _registered(layout)).items()
        if MASTER_ID in addresses
    }


async def _registered(layout: ClusterLayout) -> dict[str, dict[str, str]]:
    """Return the addresses of the registered brokers, by broker group and id."""
    answer = await _ask(layout, RequestCode.GET_BROKER_CLUSTER_INFO)
    return {
        name: dict(group.get("brokerAddrs", {}))
        for name, group in answer.get("brokerAddrTable", {}).items()
    }


async def is_serving(layout: ClusterLayout, group: GroupLayout) -> bool:
    """Return whether a group takes messages, and clients find its master."""
    master = (await registered_masters(layout)).get(group.name)
    if not group.is_replicated:
        return master is not None
    state = (await group_states(layout, [group])).get(group.name)
    return state is not None and state.master is not None and state.master == master


async def is_broker_ready(layout: ClusterLayout, group: GroupLayout, broker: BrokerLayout) -> bool:
    """Return whether a broker works: as the only broker of its group, or as a member of the set."""
    if not group.is_replicated:
        return await takes_connections(broker.port) and await is_serving(layout, group)
    state = (await group_states(layout, [group])).get(group.name)
    return state is not None and broker.address in state.in_sync


async def is_http_ready(layout: ClusterLayout) -> bool:
    """Return whether the control plane reports that it can serve."""
    return await asyncio.to_thread(_get, f"{layout.http_url}/readyz") is not None


async def is_worker_ready(redis_url: str) -> bool:
    """Return whether a worker answers on the task queue."""
    return await asyncio.to_thread(_ping_worker, redis_url)


async def takes_connections(port: int) -> bool:
    """Return whether a process listens on a port."""
    return await _connects(asyncio.open_connection(LOOPBACK, port))


async def takes_socket_connections(path: Path) -> bool:
    """Return whether a process listens on a unix socket."""
    return await _connects(asyncio.open_unix_connection(path))


async def _connects(opening: Any) -> bool:
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            _reader, writer = await opening
    except (TimeoutError, OSError):
        return False
    writer.close()
    return True


async def _ask(layout: ClusterLayout, code: RequestCode, body: bytes = b"") -> dict[str, Any]:
    with contextlib.suppress(TimeoutError, OSError, ValueError, ProtocolError):
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(LOOPBACK, layout.remoting_port)
            try:
                writer.write(encode_command(code=code, opaque=1, body=body))
                decoder = Decoder()
                while chunk := await reader.read(1 << 16):
                    for answer in decoder.receive(chunk):
                        return dict(json.loads(answer.body or b"{}"))
            finally:
                writer.close()
    return {}


def _state(replicas: Mapping[str, Any]) -> LocalGroupState:
    living = frozenset(r["brokerAddress"] for r in replicas["inSyncReplicas"] if r["alive"])
    master = replicas.get("masterAddress")
    return LocalGroupState(master if master in living else None, living)


def _get(url: str) -> str | None:
    try:
        with urllib.request.urlopen(url, timeout=ANSWER_TIMEOUT_S) as response:  # noqa: S310 - our own address
            return str(response.read().decode())
    except (http.client.HTTPException, OSError, ValueError):
        return None


def _ping_worker(redis_url: str) -> bool:
    # This costs half a second, at a start only.
    from celery import Celery  # noqa: PLC0415
    from kombu.exceptions import OperationalError  # noqa: PLC0415
    from redis.exceptions import RedisError  # noqa: PLC0415

    app = Celery(broker=redis_url.replace("unix://", "redis+socket://"))
    try:
        return bool(app.control.ping(timeout=1.0, limit=1))
    except (OSError, OperationalError, RedisError):
        return False
