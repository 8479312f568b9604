"""Ask brokers for their connected producers and consumers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backend.brokers.asking import Brokers, Inquiry, Request
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.remoting import bodies, java_json
from backend.remoting.command import Command
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode


class ReportedClient(NamedTuple):
    """Hold a client as one broker reports it; `heard_ms` is the time since its last heartbeat.

    A tuple is five times faster to create, and a snapshot creates one for each client.
    """

    client_id: str
    address: str
    language: str
    version: int
    heard_ms: int | None
    producer_groups: tuple[str, ...] = ()
    consumer_groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportedClients:
    """Hold the listed clients of a broker, and the number of all its clients."""

    clients: tuple[ReportedClient, ...]
    total_count: int


@dataclass(frozen=True, slots=True)
class GetClients(Request[ReportedClients | None]):
    """Ask an agent for all clients; None if the broker does not know this request."""

    code = RequestCode.GET_CLIENTS
    absence = ResponseCode.REQUEST_CODE_NOT_SUPPORTED

    def read(self, response: Command) -> ReportedClients:
        body = java_json.decode(response.body, bodies.ConnectedClients)
        clients = [
            ReportedClient(
                one.client_id,
                one.address,
                one.language,
                one.version,
                one.heard_ms,
                tuple(one.producer_groups),
                tuple(one.consumer_groups),
            )
            for one in body.clients
        ]
        return ReportedClients(tuple(clients), body.total_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetProducers(Request[Sequence[ReportedClient]]):
    """Ask a broker for the clients of all producer groups.

    Stock brokers report the heartbeat time by their own clock, which may differ from ours.
    """

    code = RequestCode.GET_ALL_PRODUCER_INFO
    # This is how a broker says that it has none.
    absence = ResponseCode.SYSTEM_ERROR
    nothing = ()

    now_ms: int

    def read(self, response: Command) -> list[ReportedClient]:
        body = java_json.decode(response.body, bodies.ProducerTable)
        return [
            ReportedClient(
                one.client_id,
                one.remote_address.removeprefix("/"),
                one.language,
                one.version,
                max(0, self.now_ms - one.heard_at_ms) if one.heard_at_ms > 0 else None,
                producer_groups=(name,),
            )
            for name, clients in body.groups.items()
            for one in clients
        ]


@dataclass(frozen=True, slots=True)
class GetConsumers(Inquiry[list[ReportedClient]]):
    """Ask a broker for the clients of consumer groups, group by group."""

    consumer_groups: Sequence[str]

    async def put(self, brokers: Brokers, address: str) -> list[ReportedClient]:
        asked = {name: GetOnlineGroup(name) for name in self.consumer_groups}
        found = await brokers.ask_each(address, asked)
        return [
            ReportedClient(
                one.client_id,
                one.address,
                one.language,
                one.version,
                None,
                consumer_groups=(name,),
            )
            for name, online in found.items()
            if online is not None
            for one in online.members
        ]
