"""Give a lock once a majority of the group gives it, and take a refused one back (5.8, D18).

The majority is that of the configured members, so two parts of a group never both give a lock. What
a failed attempt took is released, here and at the members: RocketMQ leaves it until it expires. A
lock that the client held before stays: its holder may not have heard of the failure yet.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import msgspec
import structlog

from backend.remoting import java_json
from backend.remoting.bodies import LockBody, LockedBody, MessageQueue
from backend.remoting.errors import RemotingError
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.replication.passing_on import MasterLink

MEMBER_TIMEOUT_S: Final = 1.0
UNLOCK_TIMEOUT_S: Final = 0.8
"""Stock clients wait 1 s for the answer."""

Place = tuple[str, str, MessageQueue]
"""A consumer group, a client id and a queue."""

log = structlog.get_logger()


class LockQuorum:
    """The other members of a group as voters about locks; belongs to the loop's thread."""

    def __init__(self, broker: Broker, find_others: Callable[[], Iterable[str]]) -> None:
        """Take the function for the addresses of the other living members."""
        self._broker, self._find_others = broker, find_others
        self._links: dict[str, MasterLink] = {}
        # The open attempts of each lock that no attempt has given yet.
        self._open = Counter[Place]()

    @property
    def needed_count(self) -> int:
        """Return how many members must give a lock, this one included; 1 without a quorum."""
        settings = self._broker.settings
        return settings.replica_count // 2 + 1 if settings.locks_by_quorum else 1

    async def lock(self, wish: LockBody, queues: list[MessageQueue]) -> list[MessageQueue]:
        """Lock queues here and at a majority; return those that the client has now."""
        locks, now_ms = self._broker.locks, self._broker.elapsed_ms()
        group, client_id = wish.consumer_group, wish.client_id
        former = {one for one in queues if locks.find(group, one, now_ms) is not None}
        held = locks.lock(group, client_id=client_id, queues=queues, now_ms=now_ms)
        if self.needed_count == 1 or not held:
            # No member is asked about a queue that another client holds here (S123).
            return held
        places = {one: (group, client_id, one) for one in held}
        for one, place in places.items():
            if one not in former or place in self._open:
                self._open[place] += 1
        locked: list[MessageQueue] = []
        try:
            locked = await self._ask_majority(wish, held)
        finally:
            refused = [
                one for one, place in places.items() if self._end(place, is_locked=one in locked)
            ]
        if refused:
            log.info("locks_refused_by_quorum", consumer_group_name=group, count=len(refused))
            locks.unlock(group, client_id=client_id, queues=refused)
            await self._ask_all(RequestCode.UNLOCK_BATCH_MQ, wish, refused, UNLOCK_TIMEOUT_S)
        return locked

    def _end(self, place: Place, *, is_locked: bool) -> bool:
        """Note the outcome of an attempt; return whether a lock is to be taken back.

        It is not if the client has it from another attempt, or if another one is open.
        """
        if is_locked:
            self._open.pop(place, None)
        if place not in self._open:
            return False
        self._open[place] -= 1
        if self._open[place]:
            return False
        del self._open[place]
        return True

    async def _ask_majority(self, wish: LockBody, held: list[MessageQueue]) -> list[MessageQueue]:
        """Return those of the queues locked here that a majority locks, too."""
        votes = Counter(held)
        for given in await self._ask_all(RequestCode.LOCK_BATCH_MQ, wish, held, MEMBER_TIMEOUT_S):
            votes.update(one for one in set(given) if one in votes)
        return [one for one in held if votes[one] >= self.needed_count]

    async def unlock(self, wish: LockBody) -> None:
        """Unlock queues here and at the other members, for their holder only."""
        self._broker.locks.unlock(wish.consumer_group, client_id=wish.client_id, queues=wish.queues)
        if self.needed_count > 1:
            code = RequestCode.UNLOCK_BATCH_MQ
            await self._ask_all(code, wish, wish.queues, UNLOCK_TIMEOUT_S)

    def close(self) -> None:
        """Close the connections to the members."""
        for link in self._links.values():
            link.retire()
        self._links.clear()

    async def _ask_all(
        self, code: int, wish: LockBody, queues: list[MessageQueue], timeout_s: float
    ) -> list[list[MessageQueue]]:
        """Ask every other member at once."""
        others = sorted(self._find_others())
        for address in self._links.keys() - set(others):
            self._links.pop(address).retire()
        asked = msgspec.structs.replace(wish, queues=queues, only_this_broker=True)
        return await asyncio.gather(
            *(self.ask_member(one, code, asked, timeout_s) for one in others)
        )

    async def ask_member(
        self, address: str, code: int, wish: LockBody, timeout_s: float
    ) -> list[MessageQueue]:
        """Ask one member for its vote; without an answer in time it gives nothing."""
        link = self._links.get(address)
        if link is None:
            link = self._links[address] = MasterLink(address)
        try:
            async with asyncio.timeout(timeout_s), link.connected() as requester:
                reply = await requester.call(code, body=java_json.encode(wish))
            if reply.code != ResponseCode.SUCCESS or not reply.body:
                return []
            return java_json.decode(reply.body, LockedBody).queues
        except (OSError, TimeoutError, RemotingError, InvalidJson) as error:
            log.info("lock_not_voted_for", member=address, reason=str(error) or "no answer in time")
            return []
