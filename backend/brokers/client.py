"""Send requests to remoting peers: one connection per address, a deadline for every call.

Everything is bounded: connections, open requests per connection, frame size. If a peer breaks the
protocol, its connection is closed and every waiting call on it fails.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Final

from backend.brokers.errors import AnswerLate, BrokerUnreachable
from backend.remoting.address import split_address
from backend.remoting.command import Command
from backend.remoting.errors import LocalProtocolError, RemoteProtocolError
from backend.requester import Requester, connect

DEADLINE: Final = timedelta(seconds=3)
CONNECTION_COUNT_MAX: Final = 512
IN_FLIGHT_COUNT_MAX: Final = 128


class RemotingClient:
    """Keep connections to peers, and match answers to requests.

    Belongs to one event loop. At the limit of connections, the least recently used connection
    without an open request is closed.
    """

    def __init__(
        self,
        *,
        deadline: timedelta = DEADLINE,
        connection_count_max: int = CONNECTION_COUNT_MAX,
        in_flight_count_max: int = IN_FLIGHT_COUNT_MAX,
    ) -> None:
        self._deadline_s = deadline.total_seconds()
        self._connection_count_max = connection_count_max
        self._in_flight_count_max = in_flight_count_max
        # Least recently used first.
        self._peers: dict[str, Requester] = {}
        self._locks: dict[str, _AddressLock] = {}

    async def request(
        self,
        address: str,
        code: int,
        *,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
        answer_timeout_s: float | None = None,
    ) -> Command:
        """Send a request and return its answer, with any code.

        `answer_timeout_s` is the time for an answer that takes long; a connection never takes long.

        Raises:
            BrokerUnreachable: no connection, no answer before the deadline, or too many
                requests are open.
            AnswerLate: the peer has the request, and no answer came before the deadline.
        """
        deadline = asyncio.get_running_loop().time() + self._deadline_s
        peer = None
        try:
            peer = self._open_peer(address)
            if peer is None:
                async with asyncio.timeout_at(deadline):
                    peer = await self._connect(address)
            if answer_timeout_s is not None:
                deadline = asyncio.get_running_loop().time() + answer_timeout_s
            return await peer.call(code, ext=ext, body=body, deadline=deadline)
        except TimeoutError as error:
            kind = BrokerUnreachable if peer is None else AnswerLate
            reason = f"no answer within {answer_timeout_s or self._deadline_s:g} s"
            raise kind(address, reason) from error
        except (OSError, UnicodeError, RemoteProtocolError, LocalProtocolError) as error:
            # A host name that can't be encoded raises UnicodeError.
            raise BrokerUnreachable(address, str(error) or type(error).__name__) from error

    async def notify(
        self,
        address: str,
        code: int,
        *,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> None:
        """Send a one-way request, which has no answer.

        Raises:
            BrokerUnreachable: there is no connection before the deadline.
        """
        try:
            async with asyncio.timeout(self._deadline_s):
                peer = self._open_peer(address) or await self._connect(address)
            peer.notify(code, ext=ext, body=body)
        except TimeoutError as error:
            reason = f"no connection within {self._deadline_s:g} s"
            raise BrokerUnreachable(address, reason) from error
        except (OSError, UnicodeError, RemoteProtocolError, LocalProtocolError) as error:
            raise BrokerUnreachable(address, str(error) or type(error).__name__) from error

    async def aclose(self) -> None:
        """Close every connection; waiting calls fail as unreachable."""
        peers, self._peers = self._peers, {}
        for peer in peers.values():
            peer.close()
        # The transports report their end in the next turn of the loop.
        await asyncio.sleep(0)

    def _open_peer(self, address: str) -> Requester | None:
        """Return the connection to an address, if any, and mark it as most recently used."""
        peer = self._peers.pop(address, None)
        if peer is None or not peer.is_open:
            return None
        self._peers[address] = peer
        return peer

    async def _connect(self, address: str) -> Requester:
        async with self._locked(address):
            # Another task may have connected while this task waited for the lock.
            peer = self._open_peer(address)
            if peer is None:
                self._make_room()
                peer = await connect(
                    split_address(address),
                    peer_name="peer",
                    in_flight_count_max=self._in_flight_count_max,
                    timeout_s=None,
                )
                self._peers[address] = peer
            return peer

    @contextlib.asynccontextmanager
    async def _locked(self, address: str) -> AsyncIterator[None]:
        # All callers of an address share one connection; the lock lives as long as its users.
        entry = self._locks.setdefault(address, _AddressLock())
        entry.user_count += 1
        try:
            async with entry.lock:
                yield
        finally:
            entry.user_count -= 1
            if not entry.user_count:
                del self._locks[address]

    def _make_room(self) -> None:
        for address in [address for address, peer in self._peers.items() if not peer.is_open]:
            del self._peers[address]
        if len(self._peers) < self._connection_count_max:
            return
        for address, peer in self._peers.items():
            if peer.is_idle:
                peer.close()
                del self._peers[address]
                return
        raise LocalProtocolError(f"all {self._connection_count_max} connections are in use")


class _AddressLock:
    """Serialize the opening of one address's connection."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.user_count = 0
