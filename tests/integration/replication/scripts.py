"""A script of producers and consumers by POP, drawn from a seed, for a topic in one of both modes.

Each message has a fate: what its consumers do at each of its deliveries. So the result depends on
no time: a message is finished, or it is a dead letter, in whatever order the deliveries come.
"""

import asyncio
import base64
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from backend.domain.share_mode import ShareMode
from backend.domain.share_queue import ShareQueueName
from backend.remoting import java_json
from backend.remoting.bodies.shares import ShareQueuesBody
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.integration.broker.popping import handle_fields, pop_fields, popped
from tests.integration.replication.conftest import Group, read_all
from tests.waiting import eventually

QUEUE_COUNT = 2
MEMBERS = (1, 2)
DELIVERY_COUNT_MAX = 6
"""A message that is delivered so often is given up."""

INVISIBLE_MS, LONGER_MS, DELAY_MS = 6_000, 9_000, 200
POLL_MS = 300
PAUSE_S = 0.05
ANSWER_S_MAX = 5.0
VOID = 208


class Fate(StrEnum):
    """What becomes of a message."""

    ACK = "acknowledged"
    ACK_TWICE = "acknowledged, and again at another member"
    BATCH = "acknowledged in a batch"
    RENEW = "kept longer, then acknowledged"
    RELEASE = "given back at once, later acknowledged"
    DELAY = "given back for a while, later acknowledged"
    DISCONNECT = "with a consumer that loses its connection, later acknowledged"
    REJECT = "given up by its consumer"
    EXHAUST = "given back until its group gives it up"


DEAD = frozenset({Fate.REJECT, Fate.EXHAUST})
AT_FIRST = frozenset({Fate.RENEW, Fate.RELEASE, Fate.DELAY, Fate.DISCONNECT})
"""Fates that differ from an acknowledgement at the first delivery alone."""


@dataclass
class Result:
    """What became of the messages, by what consumers and readers were answered."""

    finished: set[bytes] = field(default_factory=set)
    dead: list[bytes] = field(default_factory=list)
    deliveries: Counter[bytes] = field(default_factory=Counter)
    again: set[bytes] = field(default_factory=set)
    """Messages that were handed out although their acknowledgement had been answered (Q9)."""


@dataclass
class Script:
    """The script of one seed, and its run on one topic."""

    group: Group
    mode: ShareMode
    seed: int
    message_count: int
    find_master: Callable[[], int]
    result: Result = field(default_factory=Result)
    _consumers: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        source = random.Random(self.seed)
        fates = [*Fate, *source.choices([*Fate], k=self.message_count - len(Fate))]
        source.shuffle(fates)
        self.fates = {b"%04d" % number: fate for number, fate in enumerate(fates)}
        self.queues = [source.randrange(QUEUE_COUNT) for _ in fates]
        self.counts = [[source.randint(1, 8) for _ in range(97)] for _ in MEMBERS]

    @property
    def topic(self) -> str:
        return f"script-{self.mode.lower()}-{self.seed}"

    @property
    def consumers(self) -> str:
        return f"g-{self.topic}"

    @property
    def expected(self) -> tuple[set[bytes], list[bytes]]:
        """Give the messages that are finished in the end, and the dead letters."""
        dead = [body for body, fate in self.fates.items() if fate in DEAD]
        return set(self.fates) - set(dead), sorted(dead)

    async def create(self) -> None:
        """Create topic and group at the master, which is member 1."""
        attributes = f"+share.mode={self.mode}"
        if self.mode is ShareMode.SHARED:
            attributes += ",+share.timeShare=true"
        fields = {
            "topic": self.topic,
            "defaultTopic": "TBW102",
            "readQueueNums": QUEUE_COUNT,
            "writeQueueNums": QUEUE_COUNT,
            "perm": 6,
            "topicFilterType": "SINGLE_TAG",
            "order": "false",
            "attributes": attributes,
        }
        body = {
            "groupName": self.consumers,
            "retryMaxTimes": DELIVERY_COUNT_MAX,
            "attributes": {"+releaseOnDisconnect": "true"},
        }
        client, asked = self.group.client(1), RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
        assert (await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)).code == 0
        assert (await client.call(asked, body=java_json.encode(body))).code == 0

    async def send(self, master: int, part: slice) -> None:
        for body, queue_id in list(zip(self.fates, self.queues, strict=True))[part]:
            answer = await self.group.send(master, body, topic=self.topic, queue_id=queue_id)
            assert answer.code == 0, answer.remark

    def start(self) -> None:
        """Begin to consume: in SHARED mode at each member, in PRIMARY mode at the master."""
        self._consumers = [
            asyncio.create_task(_Consumer(self, member, counts).run())
            for member, counts in zip(MEMBERS, self.counts, strict=True)
        ]

    def share_queues(self) -> list[ShareQueueName]:
        return [ShareQueueName(self.topic, one, self.consumers) for one in range(QUEUE_COUNT)]

    async def await_share(self, share: float) -> None:
        """Wait until so much of all messages is finished."""
        count = share * len(self.fates)
        await eventually(lambda: len(self.result.finished) >= count, seen=self.seen)

    async def await_end(self) -> Result:
        """Wait until nothing is left to deliver, and read the dead letters."""
        await eventually(self._is_over, seen=self.seen)
        for task in self._consumers:
            task.cancel()
        ended = await asyncio.gather(*self._consumers, return_exceptions=True)
        failed = [one for one in ended if isinstance(one, Exception)]
        assert not failed, failed
        self.result.dead = sorted(await self._dead_letters())
        return self.result

    def seen(self) -> str:
        left = sorted(set(self.fates) - self.result.finished)
        told = [(one, self.fates[one], self.result.deliveries[one]) for one in left]
        return f"{self.topic}: {told}"

    async def _is_over(self) -> bool:
        for task in self._consumers:
            if task.done():
                task.result()
        fields = {"topic": self.topic, "consumerGroup": self.consumers}
        try:
            client = self.group.client(self.find_master())
            told = await client.call(RequestCode.GET_SHARE_QUEUES, fields)
        except (OSError, TimeoutError):
            return False
        listed = java_json.decode(told.body, ShareQueuesBody) if told.code == 0 else None
        if listed is None or len(listed.queues) != QUEUE_COUNT:
            return False
        dead_count = len(await self._dead_letters())
        return (
            all(one.start == one.max_offset for one in listed.queues)
            and dead_count >= len(self.expected[1])
            and self.result.finished >= self.expected[0]
        )

    async def _dead_letters(self) -> list[bytes]:
        client = self.group.client(self.find_master())
        return await read_all(client, topic=f"%DLQ%{self.consumers}")


class _Consumer:
    """One consumer; it has one connection at a time."""

    def __init__(self, script: Script, member: int, counts: list[int]) -> None:
        self.script, self.member, self.counts = script, member, counts
        self.turn = 0
        self.client: Client | None = None
        self.agent = 0

    async def run(self) -> None:
        try:
            while True:
                held = await self._receive()
                if held:
                    await self._act(held)
                else:
                    await asyncio.sleep(PAUSE_S)
        finally:
            self._disconnect()

    async def _connected(self) -> Client:
        """Give a connection to the own member, or in PRIMARY mode to the master."""
        script = self.script
        wanted = self.member if script.mode is ShareMode.SHARED else script.find_master()
        if self.client is None or self.client.closed.is_set() or self.agent != wanted:
            self._disconnect()
            self.agent = wanted
            self.client = await Client.connect(script.group.agents[wanted - 1].port)
            name = f"{script.topic}-{self.member}-{self.turn}"
            await self.client.heartbeat(script.consumers, script.topic, client_id=name)
        return self.client

    def _disconnect(self) -> None:
        if self.client is not None:
            self.client.writer.close()
            self.client = None

    async def _ask(self, code, fields=None, body=b""):
        """Give the answer; none if the member is away or says nothing."""
        try:
            async with asyncio.timeout(ANSWER_S_MAX):
                return await (await self._connected()).call(code, fields, body)
        except (OSError, TimeoutError):
            self._disconnect()
            return None

    async def _receive(self):
        script = self.script
        self.turn += 1
        fields = pop_fields(
            script.topic,
            script.consumers,
            maxMsgNums=self.counts[self.turn % len(self.counts)],
            invisibleTime=INVISIBLE_MS,
            pollTime=POLL_MS,
        )
        told = await self._ask(RequestCode.POP_MESSAGE, fields)
        found = [] if told is None or told.code else popped(told)
        for one in found:
            script.result.deliveries[one.body] += 1
            if one.body in script.result.finished:
                script.result.again.add(one.body)
        return found

    async def _act(self, held) -> None:
        """Do with each message what its fate wants; those of a lost connection come last."""
        script, batch, is_lost = self.script, [], False
        for one in held:
            fate = script.fates[one.body]
            if fate in AT_FIRST and script.result.deliveries[one.body] > 1:
                fate = Fate.ACK
            if fate is Fate.BATCH:
                batch.append(one)
            elif fate is Fate.DISCONNECT:
                is_lost = True
            else:
                await self._do(fate, one)
        if batch:
            await self._finish_batch(batch)
        if is_lost:
            self._disconnect()

    async def _do(self, fate: Fate, one) -> None:
        if fate is Fate.RENEW:
            await self._renew(one)
        elif fate in {Fate.RELEASE, Fate.EXHAUST}:
            await self._change(one, invisibleTime=0)
        elif fate is Fate.DELAY:
            await self._change(one, invisibleTime=DELAY_MS, release="true")
        elif fate is Fate.REJECT:
            await self._reject(one)
        else:
            await self._finish(one, handle_fields(one, self.script.consumers))
            if fate is Fate.ACK_TWICE and one.body in self.script.result.finished:
                await self._finish(one, handle_fields(one, self.script.consumers))

    async def _finish(self, one, fields) -> None:
        """Ask until the effect is known; a void handle means that the message comes again."""
        while True:
            told = await self._ask(RequestCode.ACK_MESSAGE, fields)
            if told is not None and told.code in {0, VOID}:
                break
            await asyncio.sleep(PAUSE_S)
        if told.code == 0:
            self.script.result.finished.add(one.body)

    async def _finish_batch(self, batch) -> None:
        entries = [_entry(one, self.script.consumers) for one in batch]
        body = java_json.encode({"brokerName": self.script.group.name, "acks": entries})
        told = await self._ask(RequestCode.BATCH_ACK_MESSAGE, body=body)
        if told is not None and told.code == 0 and not told.remark:
            self.script.result.finished |= {one.body for one in batch}
            return
        for one in batch:
            await self._finish(one, handle_fields(one, self.script.consumers))

    async def _renew(self, one) -> None:
        told = await self._change(one, invisibleTime=LONGER_MS)
        if told is None or told.code:
            return
        words = one.handle.split(" ")
        words[1:4] = told.ext["popTime"], told.ext["invisibleTime"], told.ext["reviveQid"]
        fields = handle_fields(one, self.script.consumers, extraInfo=" ".join(words))
        await self._finish(one, fields)

    async def _change(self, one, **what):
        fields = handle_fields(one, self.script.consumers, **what)
        return await self._ask(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, fields)

    async def _reject(self, one) -> None:
        fields = {
            "offset": one.log_position,
            "group": self.script.consumers,
            "delayLevel": -1,
            "originTopic": self.script.topic,
        }
        await self._ask(RequestCode.CONSUMER_SEND_MSG_BACK, fields)


def _entry(one, consumers: str) -> dict[str, object]:
    words = one.handle.split(" ")
    return {
        "c": consumers,
        "t": one.topic,
        "r": "0",
        "so": one.offset,
        "q": one.queue_id,
        "rq": int(words[3]),
        "pt": int(words[1]),
        "it": int(words[2]),
        "b": base64.b64encode(b"\x01").decode(),
    }
