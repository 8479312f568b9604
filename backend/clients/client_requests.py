"""Ask brokers which producers and consumers are connected to them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from backend.clients.broker_answers import BrokerRefused, accepted
from backend.clients.remoting_client import RemotingClient
from backend.domain.membership import Membership
from backend.remoting import bodies, java_json
from backend.remoting.command import Command
from backend.remoting.headers import ConsumerGroupHeader, encode_header
from backend.remoting.headers.locks import MembershipsHeader
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode

IN_FLIGHT_MAX: Final = 32

BodyT = TypeVar("BodyT")


class ToldClient(NamedTuple):
    """Hold a client as one broker tells it; `heard_ms` is since its last heartbeat.

    A tuple, which is made in a fifth of the time: a census makes one for each client of a cluster.
    """

    client_id: str
    address: str
    language: str
    version: int
    heard_ms: int | None
    producer_groups: tuple[str, ...] = ()
    consumer_groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToldClients:
    """Hold the clients that a broker listed, and how many it has."""

    clients: tuple[ToldClient, ...]
    total_count: int


class ClientRequests:
    """Speak to brokers of their clients."""

    def __init__(self, client: RemotingClient) -> None:
        self._client = client

    async def connected_clients(self, address: str) -> ToldClients | None:
        """Ask an agent for all clients (7006); None is a broker that knows no such request.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is another error, or can't be read.
        """
        response = await self._client.request(address, RequestCode.GET_CLIENTS)
        if response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            return None
        told = _read(address, response, bodies.ConnectedClients)
        clients = [
            ToldClient(
                one.client_id,
                one.address,
                one.language,
                one.version,
                one.heard_ms,
                tuple(one.producer_groups),
                tuple(one.consumer_groups),
            )
            for one in told.clients
        ]
        return ToldClients(tuple(clients), told.total_count)

    async def memberships(
        self, address: str, consumer_group: str | None = None
    ) -> list[Membership] | None:
        """Ask an agent what each member says of its group (7007); None is a stock broker.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is another error, or can't be read.
        """
        header = MembershipsHeader(consumer_group=consumer_group)
        response = await self._client.request(
            address, RequestCode.GET_MEMBERSHIPS, ext=encode_header(header)
        )
        if response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            return None
        return [
            Membership(
                one.group,
                one.client_id,
                one.address,
                one.message_model,
                one.consume_type,
                one.consume_from_where,
                {
                    each.topic: f"{each.expression_type} {each.expression}"
                    for each in one.subscriptions
                },
                one.heard_ms,
            )
            for one in _read(address, response, bodies.GroupMemberships).members
        ]

    async def producers(self, address: str, *, now_ms: int) -> list[ToldClient]:
        """Ask a broker for the clients of all producer groups (328).

        Stock brokers tell when they heard each by their own clock, which may differ from ours.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is another error, or can't be read.
        """
        response = await self._client.request(address, RequestCode.GET_ALL_PRODUCER_INFO)
        if response.code == ResponseCode.SYSTEM_ERROR:
            # So a broker says that it has none.
            return []
        told = _read(address, response, bodies.ProducerTable)
        return [
            ToldClient(
                one.client_id,
                one.remote_address.removeprefix("/"),
                one.language,
                one.version,
                max(0, now_ms - one.heard_at_ms) if one.heard_at_ms > 0 else None,
                producer_groups=(name,),
            )
            for name, clients in told.groups.items()
            for one in clients
        ]

    async def consumers(self, address: str, groups: Sequence[str]) -> list[ToldClient]:
        """Ask a broker for the clients of consumer groups, group by group, some at a time (203).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: an answer is another error, or can't be read.
        """
        places = asyncio.Semaphore(IN_FLIGHT_MAX)

        async def ask(group: str) -> list[ToldClient]:
            header = ConsumerGroupHeader(consumer_group=group)
            code = RequestCode.GET_CONSUMER_CONNECTION_LIST
            async with places:
                response = await self._client.request(address, code, ext=encode_header(header))
            if response.code == ResponseCode.CONSUMER_NOT_ONLINE:
                return []
            told = _read(address, response, bodies.ConsumerConnection)
            return [
                ToldClient(
                    one.client_id,
                    one.client_address,
                    one.language,
                    one.version,
                    None,
                    consumer_groups=(group,),
                )
                for one in told.connections
            ]

        found = await asyncio.gather(*(ask(group) for group in groups))
        return [one for told in found for one in told]


def _read(address: str, response: Command, kind: type[BodyT]) -> BodyT:
    try:
        return java_json.decode(accepted(address, response).body, kind)
    except InvalidJson as error:
        raise BrokerRefused(address, f"its answer can't be read: {error}") from error
