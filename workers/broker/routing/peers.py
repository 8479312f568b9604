"""Ask the masters of other broker groups for segments that they store (logical-queues.md 13.5)."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import BrokerMemberGroup
from backend.remoting.errors import RemotingError
from backend.remoting.headers import BrokerMemberGroupHeader, encode_header
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.broker import MASTER_ID
from workers.broker.errors import Refusal
from workers.broker.replication.passing_on import IN_FLIGHT_COUNT_MAX, MasterLink
from workers.broker.routing.topic_routes import RouteSource

TIMEOUT_S: Final = 3.0
"""The time limit of a request, including the wait for a connection (`lq.forwardTimeoutMs`)."""

ADDRESS_LIFE_MS: Final = 5_000
FAILURE_COUNT_MAX: Final = 2
PAUSE_MS: Final = 1_000
"""After so many failures in succession, requests are refused for this time."""


class NotSent(ConnectionError):
    """A request was not sent: the master is not known, or can't be reached."""


class _Paused(ConnectionError):
    """A master that did not answer is left alone for a while."""


@dataclass(slots=True)
class _Peer:
    link: MasterLink
    found_at_ms: int
    failure_count: int = 0
    refused_until_ms: int = 0


class Peers:
    """The connections to masters of other broker groups; belongs to the loop's thread."""

    def __init__(
        self,
        cluster_name: str,
        find_directory: Callable[[], RouteSource | None],
        clock: Callable[[], int],
        *,
        in_flight_count_max: int = IN_FLIGHT_COUNT_MAX,
    ) -> None:
        """Take the function for the name servers, and the clock that is never set.

        So many requests to one master are open at once; others wait.
        """
        self._cluster_name, self._in_flight_count_max = cluster_name, in_flight_count_max
        self._find_directory, self._clock = find_directory, clock
        self._peers: dict[str, _Peer] = {}

    async def ask(
        self, broker_name: str, code: int, ext: Mapping[str, str], *, place: str
    ) -> Command:
        """Return the answer of a master to a physical request, whatever its code.

        The place names the segment in the refusal. A master that was replaced, or has moved, is
        looked for once more: the requests may be repeated.

        Raises:
            Refusal: the master is not known, or does not answer.
        """
        try:
            async with asyncio.timeout(TIMEOUT_S):
                try:
                    return await self._ask(broker_name, code, ext)
                except OSError:
                    if not self._forget_address(broker_name):
                        raise
                    return await self._ask(broker_name, code, ext)
        except (OSError, RemotingError, InvalidJson) as error:
            self._note_failure(broker_name, error)
            reason = str(error) or "there is no answer in time"
            raise Refusal(
                ResponseCode.SYSTEM_BUSY, f"broker group {broker_name} stores {place}: {reason}"
            ) from error

    async def pass_on(
        self, broker_name: str, command: Command, ext: Mapping[str, str], body: bytes | None = None
    ) -> Command | None:
        """Pass on a request of a client, and return the answer; a one-way request has none.

        The request is sent once only, since it may be a message. Another body replaces its own.

        Raises:
            NotSent: the master is not known, or can't be reached. OSError: the connection is lost.
            RemotingError: the master broke the protocol.
        """
        is_sent = False
        try:
            peer = await self._find(broker_name)
            async with peer.link.connected() as requester:
                is_sent = True
                reply = await requester.pass_on(command, ext, body)
        except (OSError, RemotingError, InvalidJson) as error:
            self._note_failure(broker_name, error)
            if is_sent:
                raise
            raise NotSent(str(error) or "there is no answer in time") from error
        peer.failure_count = 0
        return reply

    async def _ask(self, broker_name: str, code: int, ext: Mapping[str, str]) -> Command:
        peer = await self._find(broker_name)
        async with peer.link.connected() as requester:
            reply = await requester.call(code, ext={**ext, "lo": "false"})
        peer.failure_count = 0
        return reply

    def _forget_address(self, broker_name: str) -> bool:
        """Look for a master again; return whether its address was a known one."""
        peer = self._peers.get(broker_name)
        now_ms = self._clock()
        if peer is None or now_ms < peer.refused_until_ms or peer.found_at_ms == now_ms:
            return False
        peer.found_at_ms = now_ms - ADDRESS_LIFE_MS
        return True

    async def _find(self, broker_name: str) -> _Peer:
        now_ms = self._clock()
        peer = self._peers.get(broker_name)
        if peer is not None and now_ms < peer.refused_until_ms:
            raise _Paused("it did not answer a moment ago")
        if peer is not None and now_ms - peer.found_at_ms < ADDRESS_LIFE_MS:
            return peer
        address = await self._address_of(broker_name)
        # Others may have found it meanwhile.
        peer = self._peers.get(broker_name)
        if peer is None or peer.link.address != address:
            if peer is not None:
                peer.link.retire()
            link = MasterLink(address, self._in_flight_count_max)
            peer = self._peers[broker_name] = _Peer(link, now_ms)
        peer.found_at_ms = now_ms
        return peer

    async def _address_of(self, broker_name: str) -> str:
        directory = self._find_directory()
        if directory is None:
            raise ConnectionError("this broker has no name server")
        header = BrokerMemberGroupHeader(cluster_name=self._cluster_name, broker_name=broker_name)
        answer = await directory.ask(RequestCode.GET_BROKER_MEMBER_GROUP, encode_header(header))
        if answer.code != ResponseCode.SUCCESS:
            raise ConnectionError(f"a name server answers code {answer.code}: {answer.remark}")
        address = java_json.decode(answer.body, BrokerMemberGroup).members.addresses.get(MASTER_ID)
        if address is None:
            raise ConnectionError("no name server knows its master")
        return address

    def _note_failure(self, broker_name: str, error: Exception) -> None:
        """Note that a master gave no answer; a request that the pause refuses does not prolong it.

        Otherwise clients that repeat their requests would keep the pause up for ever.
        """
        peer = self._peers.get(broker_name)
        if peer is None or isinstance(error, _Paused):
            return
        peer.failure_count += 1
        # Its group may have another master now.
        peer.found_at_ms = self._clock() - ADDRESS_LIFE_MS
        if peer.failure_count >= FAILURE_COUNT_MAX:
            peer.failure_count = 0
            peer.refused_until_ms = self._clock() + PAUSE_MS

    def close(self) -> None:
        """Close every connection after the answers of its open requests."""
        for peer in self._peers.values():
            peer.link.retire()
