"""Answer POPs of shared topics at members that do not own the share queues: forward first.

A POP goes to the owner, and is not forwarded again (queue-ownership.md 4.7). Only without an owner,
or if the owner gives no answer, the member asks for the share queue itself. So a client that
reaches any member is served (Q88, Q89, Q91). Ownership does not move
for each consumer: that was the lesson of Qpid (queue-ownership.md 3.2).
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Final

import structlog
from regent_engine import Command, decode_records

from backend.remoting.command import answer
from backend.remoting.errors import RemotingError, RequestTooLarge
from backend.remoting.headers import PopMessageHeader
from backend.remoting.names import pop_retry_topic
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.broker import MASTER_ID
from backend.rules.consumer_group import consumer_group_name_fault
from backend.rules.topic import RETRY_PREFIX
from workers.broker.errors import Refusal
from workers.broker.requests.caller import Caller
from workers.broker.requests.explaining import explain
from workers.broker.routing.member_links import MemberLinks
from workers.broker.shares.member_shares import ShareName, pairs_of

if TYPE_CHECKING:
    from workers.broker.broker import Broker

FORWARDED_FIELD: Final = "shareFwd"
"""Marks a forwarded POP; its receiver does not forward it again."""

HINT_FIELD: Final = "ownerHint"
"""The broker group and the id of the member that owns the share queue."""

WAITING_COUNT_MAX: Final = 1_024
"""POPs that wait for another member; with more the answer is POLLING_FULL (O50)."""

SLICE_MS: Final = 1_000
"""A POP waits so long at its owner; then this member looks whether the client is still there."""

SHORT_SLICE_MS: Final = 200
"""As SLICE_MS, if the queues have several owners: their messages are looked for in turn."""

LOOK_S: Final = 0.05
"""The pause between two looks at queues of several owners."""

FREE_LOOK_S: Final = 0.25
"""The pause between two looks at queues without an owner; a new owner ends it."""

PAUSE_S: Final = 0.2
"""A member that did not take a POP is left alone for this time."""

ANSWER_S_MAX: Final = 3.0
"""The time of a forwarded POP besides its wait."""

_NOTHING: Final = frozenset(
    {ResponseCode.POLLING_TIMEOUT, ResponseCode.PULL_NOT_FOUND, ResponseCode.POLLING_FULL}
)
_NOT_TAKEN: Final = frozenset(
    {
        ResponseCode.NOT_LEADER_FOR_QUEUE,
        ResponseCode.NOT_TAKEN,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        # The disk of the owner fails: it gives up its leases with the next flush.
        ResponseCode.SYSTEM_ERROR,
    }
)
_NEW_RETRY, _NO_RETRY = 2, 0

ServeHere = Callable[[], bytes | Awaitable[bytes] | None]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Pop:
    """One POP that waits."""

    caller: Caller
    command: Command
    header: PopMessageHeader
    serve_here: ServeHere
    ends_at_s: float


@dataclass(frozen=True, slots=True)
class _Split:
    """The share queues of a POP: owned here, by other members, and by none that answers."""

    own: Collection[ShareName]
    others: Mapping[int, Sequence[ShareName]]
    free: Sequence[ShareName]
    able: Collection[ShareName]
    """Those that may have messages."""

    named: Collection[ShareName]
    """Those that this member can own: its lane knows them, or is not read at the moment."""

    def has_messages(self, names: Collection[ShareName]) -> bool:
        """Return whether any of the share queues may have messages."""
        return any(name in self.able for name in names)


class SharedPops:
    """The POPs of shared topics that wait at this member; belongs to the loop's thread."""

    def __init__(self, broker: "Broker") -> None:
        """Take the broker."""
        self._broker = broker
        self.links = MemberLinks(broker)
        self._tasks: set[asyncio.Task[None]] = set()
        self._paused_until_s: dict[int, float] = {}
        self._turn = 0
        self._is_closed = False

    def takes(self, header: PopMessageHeader) -> bool:
        """Return whether a POP of a shared topic asks for a queue that is not owned here.

        A queue of the retry topic without an owner does not count: the keeper takes it.
        """
        shares = self._broker.member_shares
        if not shares.is_shared(header.topic):
            return False
        names = self._names(header)
        owned = self._owned(names)
        away = [name for name in names if name not in owned]
        return any(name.topic == header.topic or shares.owner_of(*name) for name in away)

    def serve(
        self, caller: Caller, command: Command, header: PopMessageHeader, serve_here: ServeHere
    ) -> bytes | Awaitable[bytes] | None:
        """Forward a POP, or wait for an owner; the answer comes later.

        `serve_here` serves it from the queues that this member owns.

        Raises:
            Refusal: a name or the queue is invalid. Or another member forwarded it, and this one
            owns none of the queues. Or too many POPs wait already, or this broker is stopping.
        """
        names = self._checked(header)
        if FORWARDED_FIELD in command.ext:
            if self._owned(names):
                return serve_here()
            raise self._not_owner(names)
        if self._is_closed:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "this broker is stopping")
        self._check_able()
        if len(self._tasks) >= WAITING_COUNT_MAX:
            reason = f"{WAITING_COUNT_MAX} POPs wait for other members already: try again"
            raise Refusal(ResponseCode.POLLING_FULL, reason)
        if caller.is_gone or command.is_oneway:
            return None
        ends_at_s = self._now_s() + max(0, header.poll_ms) / 1000
        waiting = _Pop(caller, command, header, serve_here, ends_at_s)
        self._begin(
            self._answer(waiting), lambda error: caller.send(explain(waiting.command, error))
        )
        return None

    def may_forward(self, topic_name: str) -> bool:
        """Return whether the engine may forward POPs of a topic.

        POPs of a topic whose queues are shared by time also ask for the queues themselves.
        """
        is_shared = self._broker.member_shares.is_shared(topic_name)
        return is_shared and not self._broker.member_shares.takes_turns(topic_name)

    def has_one_owner(self, header: PopMessageHeader) -> bool:
        """Return whether one other member owns all share queues that a POP asks for."""
        split = self._split(self._names(header))
        return len(split.others) == 1 and not split.own and not split.free

    def give_back(self, owner_id: int, command: Command, reply: Command) -> None:
        """Release the messages that an owner gave to a client which has left."""
        # The engine reads fewer fields than the dispatcher, so the others may be malformed.
        self._begin(
            self._give_back(command.ext.get("consumerGroup", ""), reply, owner_id),
            lambda error: log.error("messages_not_released", exc_info=error),
        )

    def close(self) -> None:
        """Answer the POPs that wait: there is no message here any more."""
        self._is_closed = True

    async def wait_closed(self) -> None:
        """Wait until each POP is answered, then close the connections."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=SLICE_MS / 1000 + ANSWER_S_MAX)
        self.links.close()

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()

    def _names(self, header: PopMessageHeader) -> tuple[ShareName, ...]:
        topic = self._broker.find_topic(header.topic)
        ids = range(topic.read_queue_count) if header.queue_id < 0 else (header.queue_id,)
        names = [ShareName(topic.name, one, header.consumer_group) for one in ids]
        # Each POP gets messages of the retry topic as well.
        name = pop_retry_topic(header.consumer_group, topic.name)
        retry = None if header.is_ordered else self._broker.topics.find(name)
        if retry is not None:
            count = retry.read_queue_count
            names += [ShareName(name, one, header.consumer_group) for one in range(count)]
        return tuple(names)

    def _checked(self, header: PopMessageHeader) -> tuple[ShareName, ...]:
        """Return the share queues; what is wrong with one would spoil the heartbeat for all."""
        topic = self._broker.find_topic(header.topic)
        fault = consumer_group_name_fault(header.consumer_group)
        if not -1 <= header.queue_id < topic.read_queue_count:
            fault = f"queueId[{header.queue_id}] is illegal, topic:[{topic.name}]"
            fault += f" topicConfig.readQueueNums:[{topic.read_queue_count}]"
        if fault is not None:
            raise Refusal(ResponseCode.INVALID_PARAMETER, fault)
        return self._names(header)

    def _owned(self, names: Sequence[ShareName]) -> set[ShareName]:
        """Return what is handed out here; the lane may know a later owner before the keeper."""
        return {name for name in names if self._broker.member_shares.hands_out(name)}

    def _not_owner(self, names: Sequence[ShareName]) -> Refusal:
        """Refuse a forwarded POP; the sequencer takes the queues if no arbiter answers (O25)."""
        shares, keeper = self._broker.member_shares, self._broker.lease_keeper
        if keeper is not None and keeper.is_silent:
            keeper.want(names)
        found = (shares.owner_of(*name) for name in names)
        owners = [owner for owner in found if owner is not None]
        hint = {}
        if owners:
            hint[HINT_FIELD] = f"{self._broker.settings.broker_name}@{min(owners)}"
        reason = "this member does not own the share queue: ask for it again, at its owner"
        return Refusal(ResponseCode.NOT_LEADER_FOR_QUEUE, reason, hint)

    def _split(self, names: Sequence[ShareName]) -> _Split:
        shares, now_s = self._broker.member_shares, self._now_s()
        own = self._owned(names)
        seen = shares.seen_of(pairs_of(names))
        others: dict[int, list[ShareName]] = {}
        free: list[ShareName] = []
        for name in names:
            if name in own:
                continue
            # Only the master names a share queue, with the first POP for it.
            owner = seen[name].owner if name in seen else MASTER_ID
            is_known = owner is not None and owner != self._broker.membership.own_id
            if owner is None or not is_known or self._paused_until_s.get(owner, 0.0) > now_s:
                free.append(name)
            else:
                others.setdefault(owner, []).append(name)
        able = {name for name in names if name not in seen or seen[name].has_messages}
        return _Split(own, others, free, able, named=seen.keys() if shares.reads_lane else names)

    def _want(self, waiting: _Pop, split: _Split) -> None:
        keeper = self._broker.lease_keeper
        if keeper is None:
            return
        wanted = list(split.free)
        if self._broker.member_shares.takes_turns(waiting.header.topic):
            wanted += [name for names in split.others.values() for name in names]
        keeper.want(name for name in wanted if name in split.named)

    def _check_able(self) -> None:
        """Check that this member has the lane as it is now.

        Raises:
            Refusal: it can't store or apply records.
        """
        if self._broker.share_incidents.is_disabled:
            reason = "this member can't store or apply records: ask another broker of its group"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)

    async def _answer(self, waiting: _Pop) -> None:
        reply = await self._find_reply(waiting)
        if reply:
            waiting.caller.send(reply)

    async def _find_reply(self, waiting: _Pop) -> bytes | None:
        """Return the answer of an owner, or of this member; None if the client is gone."""
        while not waiting.caller.is_gone:
            self._check_able()
            if not self._broker.member_shares.is_shared(waiting.header.topic):
                # The mode has changed: the client asks again, at the master.
                return nothing_answer(waiting.command)
            # A topic may get queues meanwhile, and its consumer group a retry topic.
            split = self._split(self._names(waiting.header))
            self._want(waiting, split)
            is_alone = not split.others and not split.free
            if split.own and (is_alone or split.has_messages(split.own)):
                outcome = waiting.serve_here()
                return await outcome if isawaitable(outcome) else outcome
            rest_ms = max(0, int((waiting.ends_at_s - self._now_s()) * 1000))
            owner_id, asked_at_s, slice_ms = self._next_owner(split), self._now_s(), 0
            if owner_id is not None:
                is_sole = len(split.others) == 1 and not split.own
                slice_ms = min(rest_ms, SLICE_MS if is_sole else SHORT_SLICE_MS)
                reply = await self._forward(waiting, owner_id, slice_ms)
                if reply is not None:
                    return reply
            if self._is_closed or self._now_s() >= waiting.ends_at_s:
                return nothing_answer(waiting.command)
            # An owner with too many POPs answers at once: asked on and on, it would have more.
            if (self._now_s() - asked_at_s) * 1000 < slice_ms / 2 or owner_id is None:
                await self._wait(waiting, is_free_only=not split.own and not split.others)
        return None

    def _next_owner(self, split: _Split) -> int | None:
        """Return the owner that is asked next: in turn, those whose queues have messages."""
        keeper = self._broker.lease_keeper
        able = list(split.others)
        if len(able) > 1 or split.own:
            able = [one for one, names in split.others.items() if split.has_messages(names)]
        if not able and split.free and keeper is not None and keeper.is_silent:
            # Without an arbiter the sequencer owns what has no lease.
            is_sequencer = self._broker.membership.role_id == MASTER_ID
            is_paused = self._paused_until_s.get(MASTER_ID, 0.0) > self._now_s()
            return None if is_sequencer or is_paused else MASTER_ID
        if not able:
            return None
        self._turn += 1
        return able[self._turn % len(able)]

    async def _wait(self, waiting: _Pop, *, is_free_only: bool) -> None:
        keeper = self._broker.lease_keeper
        pause_s = min(waiting.ends_at_s - self._now_s(), FREE_LOOK_S if is_free_only else LOOK_S)
        if keeper is None:
            await asyncio.sleep(max(0.0, pause_s))
        else:
            await keeper.await_change(max(0.0, pause_s))

    async def _forward(self, waiting: _Pop, owner_id: int, wait_ms: int) -> bytes | None:
        """Return the answer of the owner to pass on; None if it has no message, or did not take it.

        An answer that comes after the time limit is lost: its messages come again after the time
        that they are hidden.

        Raises:
            Refusal: the owner would not read the request.
        """
        # The wait at the owner is shorter than that of the client, which began earlier.
        fields = {FORWARDED_FIELD: "1", "pollTime": str(wait_ms), "bornTime": "0"}
        try:
            async with asyncio.timeout(wait_ms / 1000 + ANSWER_S_MAX):
                link = await self.links.find(owner_id)
                async with link.connected() as requester:
                    reply = await requester.pass_on(waiting.command, fields)
        except RequestTooLarge as error:
            # The owner can serve other requests.
            raise Refusal(ResponseCode.MESSAGE_ILLEGAL, str(error)) from error
        except (OSError, RemotingError) as error:
            self.links.forget_addresses()
            self._pause(owner_id, str(error) or "there is no answer in time")
            return None
        self._paused_until_s.pop(owner_id, None)
        if reply is None or reply.code in _NOTHING:
            return None
        if reply.code in _NOT_TAKEN:
            self._pause(owner_id, reply.remark or str(reply.code))
            return None
        if reply.code == ResponseCode.SUCCESS:
            if reply.ext.get("hasMsg") == "false":
                return None
            if waiting.caller.is_gone and reply.body:
                await self._give_back(waiting.header.consumer_group, reply, owner_id)
                return None
        return answer(
            waiting.command, code=reply.code, remark=reply.remark, ext=reply.ext, body=reply.body
        )

    def _pause(self, owner_id: int, reason: str) -> None:
        self._paused_until_s[owner_id] = self._now_s() + PAUSE_S
        log.info("pop_not_forwarded", owner_id=owner_id, reason=reason)

    async def _give_back(self, consumer_group_name: str, reply: Command, owner_id: int) -> None:
        """Release the messages of a client that left while its POP waited at the owner (Q10)."""
        ext = reply.ext
        delivery = f"{ext.get('popTime')} {ext.get('invisibleTime')} {ext.get('reviveQid')}"
        for record in decode_records(reply.body):
            flag = _NEW_RETRY if record.topic.startswith(RETRY_PREFIX) else _NO_RETRY
            place = f"{self._broker.settings.broker_name} {record.queue_id} {record.queue_offset}"
            fields = {
                "consumerGroup": consumer_group_name,
                "topic": record.topic,
                "queueId": str(record.queue_id),
                "extraInfo": f"{record.queue_offset} {delivery} {flag} {place}",
                "offset": str(record.queue_offset),
                "invisibleTime": "0",
            }
            try:
                link = await self.links.find(owner_id)
                async with link.connected() as requester:
                    await requester.call(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, ext=fields)
            except (OSError, RemotingError) as error:
                log.warning("message_not_released", topic=record.topic, reason=str(error))
                return

    def _begin(
        self, work: Coroutine[None, None, None], on_error: Callable[[BaseException], None]
    ) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(partial(self._done, on_error))

    def _done(self, on_error: Callable[[BaseException], None], task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            on_error(error)


def nothing_answer(command: Command) -> bytes:
    """Return the answer that there is no message: the client asks again, another broker perhaps."""
    if command.code == RequestCode.NOTIFICATION:
        return answer(command, ext={"hasMsg": "false", "pollingFull": "false"})
    fields = dict.fromkeys(("popTime", "invisibleTime", "reviveQid", "restNum"), "0")
    code, remark = ResponseCode.POLLING_TIMEOUT, "NO_MESSAGE_IN_QUEUE"
    return answer(command, code=code, remark=remark, ext=fields)
