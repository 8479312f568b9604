"""Receive the messages of the workload by POP, and do with them what consumers do.

Most messages are finished, alone or in a batch. Some are forgotten or finished late, kept longer
or given back, at their first delivery. One consumer is bound to each broker, master or not, and
waits for each answer: so a second owner would be detected. Two more ask the master.
"""

import asyncio
import base64
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final

from regent_engine import Command

from backend.domain.share_mode import ShareMode
from backend.remoting import java_json
from backend.remoting.bodies.shares import ShareQueuesBody
from backend.remoting.request_code import RequestCode
from backend.rules.attributes import SHARE_MODE, TIME_SHARE
from tests.chaos.cluster import GROUP
from tests.chaos.evidence import number_of
from tests.chaos.journal import Act, Delivery, Effect, Journal, Settlement
from tests.chaos.workload import QUEUE_COUNT, TOPIC, Workload
from tests.integration.broker.client import Client
from tests.integration.broker.popping import Popped, handle_fields, pop_fields, popped

POPPING_GROUP: Final = "chaos-poppers"
COUNT_MAX: Final = 16
INVISIBLE_MS: Final = 1_200
LONGER_MS: Final = 2_500
LATE_S: Final = 1.5
"""When a consumer finishes a message late: its time is over."""

DELAY_MS: Final = 300
CREATION_S_MAX: Final = 60.0
POLL_MS: Final = 300
PAUSE_S: Final = 0.2
ANSWER_TIMEOUT_S: Final = 2.0
ATTEMPT_COUNT: Final = 4
FOLLOWERS: Final = ("follower-1", "follower-2")
DELIVERY_COUNT_MAX: Final = 1_000
"""Of one message: more than any run has, so that none is given up."""

KIND_COUNT: Final = 16
FORGET, BE_LATE, GIVE_BACK, DELAY, KEEP = 1, 3, 5, 7, 9
"""What is done with a message at its first delivery: its number modulo `KIND_COUNT`."""

_VOID: Final = 208


@dataclass(frozen=True, slots=True)
class Held:
    """A message that a consumer has."""

    message: Popped
    delivery: Delivery

    @property
    def words(self) -> list[str]:
        """Return the words of the handle: start, time, invisible time, tag, and others."""
        return self.message.handle.split(" ")


@dataclass
class Poppers:
    """The consumers of one group."""

    workload: Workload
    journal: Journal
    find_server: Callable[[], int]
    share_mode: ShareMode = ShareMode.PRIMARY
    _seen: set[int] = field(default_factory=set)
    _introduced: dict[int, Client] = field(default_factory=dict)
    _consumers: list[asyncio.Task[None]] = field(default_factory=list)
    _settling: set[asyncio.Task[None]] = field(default_factory=set)
    _errors: list[BaseException] = field(default_factory=list)
    _is_over: bool = False

    async def create_topic(self) -> None:
        """Create the topic with its mode, before the first POP; members take turns to own it.

        In SHARED mode each member with a consumer asks for a lease, so that ownership moves.
        """
        if self.share_mode is ShareMode.SHARED:
            await self._put_topic(self.share_mode)

    async def end_sharing(self) -> None:
        """Have all members give back what they own: a member that stops appends nothing then."""
        if self.share_mode is ShareMode.SHARED:
            await self._put_topic(ShareMode.PRIMARY)

    async def _put_topic(self, mode: ShareMode) -> None:
        fields = {
            "topic": TOPIC,
            "defaultTopic": "TBW102",
            "readQueueNums": QUEUE_COUNT,
            "writeQueueNums": QUEUE_COUNT,
            "perm": 6,
            "topicFilterType": "SINGLE_TAG",
            "order": "false",
            "attributes": f"+{SHARE_MODE}={mode},+{TIME_SHARE}=true",
        }
        async with asyncio.timeout(CREATION_S_MAX):
            while True:
                agent = self.find_server()
                told = await self._ask(agent, RequestCode.UPDATE_AND_CREATE_TOPIC, fields)
                if told is not None and not told.code:
                    return
                await asyncio.sleep(PAUSE_S)

    def start(self) -> None:
        """Begin to receive."""
        bound = [
            self._consume(f"bound-{agent}", lambda agent=agent: agent, is_bound=True)
            for agent in self.workload.addresses
        ]
        followers = [self._consume(name, self.find_server, is_bound=False) for name in FOLLOWERS]
        self._consumers = [asyncio.create_task(one) for one in (*bound, *followers)]

    async def finish(self) -> None:
        """Receive no more, and wait until the effect of each act is noted."""
        self._is_over = True
        for task in self._consumers:
            task.cancel()
        await asyncio.gather(*self._consumers, return_exceptions=True)
        while self._settling:
            await asyncio.wait(self._settling)
        self.check_alive()

    async def close(self) -> None:
        """Receive no more; a second call is no error."""
        self._is_over = True
        tasks = [*self._consumers, *self._settling]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def check_alive(self) -> None:
        """Raise the error that ended a consumer or an act."""
        if self._errors:
            raise self._errors[0]
        for task in self._consumers:
            if task.done() and not self._is_over:
                task.result()

    async def unfinished(self, master: int) -> dict[int, tuple[int, int]] | None:
        """Return the queues that are not finished: up to where they are, and their ends.

        None if the master does not answer.
        """
        fields = {"topic": TOPIC, "consumerGroup": POPPING_GROUP}
        told = await self._ask(master, RequestCode.GET_SHARE_QUEUES, fields)
        if told is None or told.code:
            return None
        listed = java_json.decode(told.body, ShareQueuesBody)
        if not listed.is_leading or len(listed.queues) != QUEUE_COUNT:
            return None
        return {
            one.queue_id: (one.start, one.max_offset)
            for one in listed.queues
            if one.start != one.max_offset
        }

    async def _consume(self, name: str, find: Callable[[], int], *, is_bound: bool) -> None:
        while not self._is_over:
            agent = find()
            held = await self._pop(name, agent, is_bound=is_bound)
            if not held:
                await asyncio.sleep(PAUSE_S)
            for work in self._works(held):
                task = asyncio.create_task(work)
                self._settling.add(task)
                task.add_done_callback(self._settled)

    def _settled(self, task: asyncio.Task[None]) -> None:
        self._settling.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._errors.append(error)

    async def _pop(self, name: str, agent: int, *, is_bound: bool) -> list[Held]:
        client = self.workload.client_of(agent)
        if client is None or not await self._introduce(agent, client):
            return []
        # A broker answers a request without a time of birth, however old it is.
        born_ms = 0 if is_bound else time.time_ns() // 1_000_000
        fields = pop_fields(
            TOPIC,
            POPPING_GROUP,
            maxMsgNums=COUNT_MAX,
            invisibleTime=INVISIBLE_MS,
            pollTime=POLL_MS,
            bornTime=born_ms,
        )
        asked_at_s = self.journal.now_s()
        limit_s = None if is_bound else ANSWER_TIMEOUT_S
        told = await self._ask(agent, RequestCode.POP_MESSAGE, fields, limit_s=limit_s)
        if told is None or told.code:
            return []
        return [self._note(name, agent, asked_at_s, message, told) for message in popped(told)]

    async def _introduce(self, agent: int, client: Client) -> bool:
        """Create the group, so that no message is given up after the default number of times."""
        if self._introduced.get(agent) is client:
            return True
        body = {"groupName": POPPING_GROUP, "retryMaxTimes": DELIVERY_COUNT_MAX}
        told = await self._ask(
            agent,
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
            body=java_json.encode(body),
        )
        if told is None or told.code:
            return False
        self._introduced[agent] = client
        return True

    def _note(
        self, name: str, agent: int, asked_at_s: float, message: Popped, told: Command
    ) -> Held:
        delivery = Delivery(
            number=number_of(message.body),
            consumer=name,
            agent=agent,
            queue=message.queue_id,
            offset=message.offset,
            tag=int(told.ext["reviveQid"]),
            pop_time_ms=int(told.ext["popTime"]),
            invisible_ms=INVISIBLE_MS,
            asked_at_s=asked_at_s,
            answered_at_s=self.journal.now_s(),
        )
        self.journal.delivered(delivery)
        return Held(message, delivery)

    def _works(self, held: list[Held]) -> Iterator[Coroutine[Any, Any, None]]:
        """Decide what is done with the messages of one answer."""
        batch = []
        for one in held:
            number = one.delivery.number
            kind = number % KIND_COUNT if number not in self._seen else 0
            self._seen.add(number)
            if kind == BE_LATE:
                yield self._finish_late(one)
            elif kind == GIVE_BACK:
                yield self._change(one, Act.GIVE_BACK, invisibleTime=0)
            elif kind == DELAY:
                yield self._change(one, Act.GIVE_BACK, invisibleTime=DELAY_MS, release="true")
            elif kind == KEEP:
                yield self._keep(one)
            elif kind != FORGET and number % 3:
                yield self._finish(one)
            elif kind != FORGET:
                batch.append(one)
        if batch:
            yield self._finish_batch(batch)

    async def _finish_late(self, held: Held) -> None:
        await asyncio.sleep(LATE_S)
        await self._finish(held)

    async def _finish(self, held: Held) -> None:
        """Ask until the effect is known, as a consumer does whose answers are lost."""
        agent = held.delivery.agent
        for _ in range(ATTEMPT_COUNT):
            asked_at_s = self.journal.now_s()
            fields = handle_fields(held.message, POPPING_GROUP)
            told = await self._ask(agent, RequestCode.ACK_MESSAGE, fields)
            effect = _effect(told)
            self._note_act(Act.FINISH, agent, held, asked_at_s, effect)
            if effect is not Effect.UNKNOWN:
                return
            await asyncio.sleep(PAUSE_S)
            agent = self.find_server()

    async def _finish_batch(self, batch: list[Held]) -> None:
        agent, asked_at_s = batch[0].delivery.agent, self.journal.now_s()
        body = {"brokerName": GROUP, "acks": list(_batch_entries(batch))}
        told = await self._ask(agent, RequestCode.BATCH_ACK_MESSAGE, body=java_json.encode(body))
        void = _void_offsets(told)
        for held in batch:
            place = held.delivery.queue, held.delivery.offset
            effect = Effect.NONE if place in void else _effect(told)
            self._note_act(Act.FINISH, agent, held, asked_at_s, effect, is_batch=True)
            if effect is Effect.UNKNOWN:
                await self._finish(held)

    async def _keep(self, held: Held) -> None:
        told = await self._change(held, Act.KEEP, invisibleTime=LONGER_MS)
        if told is None or told.code:
            return
        words = held.words
        words[1:4] = told.ext["popTime"], told.ext["invisibleTime"], told.ext["reviveQid"]
        pop_time_ms = int(told.ext["popTime"])
        await self._finish(
            Held(
                replace(held.message, handle=" ".join(words)),
                replace(held.delivery, pop_time_ms=pop_time_ms),
            )
        )

    async def _change(self, held: Held, act: Act, **fields: Any) -> Command | None:
        agent, asked_at_s = held.delivery.agent, self.journal.now_s()
        told = await self._ask(
            agent,
            RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
            handle_fields(held.message, POPPING_GROUP, **fields),
        )
        until_ms = None
        if act is Act.KEEP and told is not None and not told.code:
            until_ms = int(told.ext["popTime"]) + LONGER_MS
        self._note_act(act, agent, held, asked_at_s, _effect(told), until_ms=until_ms)
        return told

    def _note_act(
        self,
        act: Act,
        agent: int,
        held: Held,
        asked_at_s: float,
        effect: Effect,
        *,
        until_ms: int | None = None,
        is_batch: bool = False,
    ) -> None:
        delivery = held.delivery
        self.journal.settled(
            Settlement(
                act=act,
                agent=agent,
                queue=delivery.queue,
                offset=delivery.offset,
                tag=delivery.tag,
                pop_time_ms=delivery.pop_time_ms,
                asked_at_s=asked_at_s,
                answered_at_s=self.journal.now_s(),
                effect=effect,
                until_ms=until_ms,
                is_batch=is_batch,
            )
        )

    async def _ask(
        self,
        agent: int,
        code: int,
        fields: dict[str, Any] | None = None,
        body: bytes = b"",
        *,
        limit_s: float | None = ANSWER_TIMEOUT_S,
    ) -> Command | None:
        """Return the answer, or nothing."""
        client = self.workload.client_of(agent)
        if client is None:
            return None
        try:
            async with asyncio.timeout(limit_s):
                return await client.call(code, fields, body)
        except (OSError, TimeoutError):
            return None


def _effect(told: Command | None) -> Effect:
    if told is None or told.code not in {0, _VOID}:
        return Effect.UNKNOWN
    return Effect.NONE if told.code else Effect.DONE


def _batch_entries(batch: Iterable[Held]) -> Iterator[dict[str, Any]]:
    """Describe the messages of one answer, queue by queue."""
    by_queue = sorted(batch, key=lambda one: (one.delivery.queue, one.delivery.offset))
    for queue, group in groupby(by_queue, key=lambda one: one.delivery.queue):
        members = list(group)
        words = members[0].words
        start, bits = members[0].delivery.offset, 0
        for one in members:
            bits |= 1 << (one.delivery.offset - start)
        content = bits.to_bytes(bits.bit_length() // 8 + 1, "little")
        yield {
            "c": POPPING_GROUP,
            "t": TOPIC,
            "r": "0",
            "so": start,
            "q": queue,
            "rq": int(words[3]),
            "pt": int(words[1]),
            "it": int(words[2]),
            "b": base64.b64encode(content).decode(),
        }


def _void_offsets(told: Command | None) -> set[tuple[int, int]]:
    """Read queues and offsets of the messages whose handles were void."""
    if told is None or told.code or not told.remark:
        return set()
    found = set()
    for part in told.remark.partition(": ")[2].split("; "):
        name, _, offsets = part.partition(": ")
        queue = int(name.split(" ")[1])
        found |= {(queue, int(one)) for one in offsets.split(", ")}
    return found
