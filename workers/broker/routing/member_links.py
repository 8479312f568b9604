"""Connect to the other members of the own broker group, by their ids."""

import asyncio
from typing import TYPE_CHECKING, Final

from backend.rules.broker import MASTER_ID
from workers.broker.replication.passing_on import MasterLink
from workers.broker.routing.group_members import Members, ask_members

if TYPE_CHECKING:
    from workers.broker.broker import Broker

KNOWN_MS: Final = 2_000
"""Time after which the name servers are asked again: a member may have another role or address."""

IN_FLIGHT_COUNT_MAX: Final = 512
"""The requests that wait at one member: POPs wait for messages."""


class MemberLinks:
    """The connections to members; belongs to the loop's thread."""

    def __init__(self, broker: "Broker") -> None:
        """Take the broker, whose name servers know the members."""
        self._broker = broker
        self._members: Members = {}
        self._asked_at_ms: int | None = None
        self._asking = asyncio.Lock()
        self._links: dict[str, MasterLink] = {}

    async def find(self, broker_id: int) -> MasterLink:
        """Return the connection to a member.

        A name server knows the master by id 0 only, so an id that no replica has is the master's.

        Raises:
            ConnectionError: no name server answers, or none knows the member.
        """
        members = await self._find_members()
        address = members.get(broker_id, members.get(MASTER_ID))
        if address is None:
            raise ConnectionError(f"no name server knows member {broker_id} of the broker group")
        host, port = self._broker.store_host
        if address == f"{host}:{port}":
            raise ConnectionError(f"the name servers know member {broker_id} by this address")
        return self._links.setdefault(address, MasterLink(address, IN_FLIGHT_COUNT_MAX))

    def forget_addresses(self) -> None:
        """Ask the name servers before the next request: a member did not answer."""
        self._asked_at_ms = None

    def close(self) -> None:
        """Close each connection after the answers of its open requests."""
        for link in self._links.values():
            link.retire()
        self._links.clear()

    async def _find_members(self) -> Members:
        async with self._asking:
            now_ms, broker = self._broker.elapsed_ms(), self._broker
            if self._asked_at_ms is not None and now_ms - self._asked_at_ms < KNOWN_MS:
                return self._members
            if broker.name_servers is None:
                raise ConnectionError("this broker has no name server")
            found = await ask_members(broker.name_servers, broker.settings)
            if found is None:
                raise ConnectionError("no name server answers")
            self._members, self._asked_at_ms = found, now_ms
            gone = self._links.keys() - set(found.values())
            for address in gone:
                self._links.pop(address).retire()
            return found
