"""Members of a broker group in this process, whose share queues tests give away and take back."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.bodies import TopicConfig
from backend.remoting.bodies.topics import TopicConfigTable
from backend.remoting.request_code import RequestCode
from backend.rules.attributes import SHARE_MODE, SHARED_MODE
from tests.integration.broker.agent import write_config
from tests.integration.broker.client import Client
from tests.integration.broker.popping import pop_fields
from tests.integration.replication.conftest import Group, group_settings
from tests.waiting import eventually
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import load_settings
from workers.broker.server import BrokerServer, now_ms
from workers.broker.shares.member_shares import MemberShares, ShareName

TOPIC, CONSUMERS = "orders", "g"
QUEUE_COUNT = 2
NAMES = [ShareName(TOPIC, queue_id, CONSUMERS) for queue_id in range(QUEUE_COUNT)]
NOT_OWNED = 501


def topic_of(mode: str) -> TopicConfig:
    attributes = {SHARE_MODE: mode} if mode == SHARED_MODE else {}
    return TopicConfig(
        name=TOPIC,
        read_queue_count=QUEUE_COUNT,
        write_queue_count=QUEUE_COUNT,
        attributes=attributes,
    )


@dataclass
class Member:
    """One member, and a client that is connected to it."""

    server: BrokerServer
    client: Client

    @property
    def shares(self) -> MemberShares:
        return self.server.broker.member_shares

    def state(self, name: ShareName) -> tuple[int, bytes] | None:
        """Give the log position of the lane, and the state of a share queue there."""
        return self.server.broker.hot.share_state(*name)

    async def consume(self) -> Client:
        await self.client.heartbeat(CONSUMERS, TOPIC)
        return self.client


@dataclass
class Members:
    """The members of one group, by their ids."""

    group: Group
    stack: AsyncExitStack
    members: dict[int, Member] = field(default_factory=dict)
    epochs: dict[ShareName, int] = field(default_factory=dict)

    def __getitem__(self, broker_id: int) -> Member:
        return self.members[broker_id]

    async def start(
        self, broker_id: int, *, clock: Callable[[], int] = now_ms, is_led_by_test: bool = True
    ) -> Member:
        root = self.group.root / f"b{broker_id}"
        root.mkdir()
        settings = group_settings(self.group.name_server.port, self.group.lease_policy)
        given = settings | {"brokerName": self.group.name, "haListenPort": "0"}
        path = write_config(root, **given)
        loaded = load_settings(path)
        server = BrokerServer(
            loaded.settings, given=loaded.given, config_file=ConfigFile(path), clock=clock
        )
        self.stack.push_async_callback(server.close)
        if is_led_by_test:
            # The test gives leases, in place of the control plane.
            server.broker.use_leases = lambda _ask: None
        await server.start()
        client = await Client.connect(server.port)
        self.stack.push_async_callback(client.close)
        member = self.members[broker_id] = Member(server, client)
        await eventually(lambda: server.broker.membership.own_id == broker_id)
        return member

    async def begin(self, *, master: int, mode: str = SHARED_MODE) -> None:
        """Wait until all are in sync, and each knows the share queues of the topic."""
        await self.await_set(master, {1, *self.members})
        if master in self.members:
            self[master].server.broker.put_topic(topic_of(mode))
        if mode == SHARED_MODE:
            await self.name(master)

    async def name(self, master: int) -> None:
        """Have the master name the share queues, as it does for the first POP of a group."""
        await eventually(lambda: all(one.shares.is_shared(TOPIC) for one in self.members.values()))
        client = self[master].client if master in self.members else self.group.client(master)
        fields = pop_fields(TOPIC, CONSUMERS, shareFwd="1")
        refused = await client.call(RequestCode.POP_MESSAGE, fields)
        assert refused.code == NOT_OWNED, refused.remark
        await eventually(
            lambda: all(set(NAMES) <= set(one.shares.seen()) for one in self.members.values())
        )

    async def await_set(self, master: int, broker_ids: set[int]) -> None:
        async def is_reached() -> bool:
            state = await self.group.state()
            return state is not None and (state[0], state[2]) == (master, broker_ids)

        await eventually(is_reached)
        if master in self.members:
            await eventually(lambda: self[master].server.broker.shares.is_leading)

    async def own(self, broker_id: int, names: Iterable[ShareName] = NAMES) -> None:
        """Give a member the next lease of share queues, as the control plane does."""
        for name in names:
            epoch = self.epochs[name] = self.next_epoch(name)
            assert await self[broker_id].shares.own(name, epoch)

    def next_epoch(self, name: ShareName) -> int:
        seen = (one.shares.seen().get(name) for one in self.members.values())
        known = (one.known_epoch for one in seen if one is not None)
        return max(self.epochs.get(name, 0), *known) + 1

    async def send(self, master: int, count: int, start: int = 0) -> list[bytes]:
        """Send numbered messages, by turns to each queue."""
        client = self[master].client if master in self.members else self.group.client(master)
        bodies = [b"%04d" % number for number in range(start, start + count)]
        for number, body in enumerate(bodies):
            answer = await client.send(TOPIC, body, queue_id=number % QUEUE_COUNT)
            assert answer.code == 0, answer.remark
        return bodies

    async def await_equal_states(self) -> None:
        """OI-7: wait until all members are at one position of the lane, with one state."""

        def are_equal() -> bool:
            members = self.members.values()
            return all(len({one.state(name) for one in members}) == 1 for name in NAMES)

        await eventually(are_equal)


async def refused(client: Client, **fields: object) -> Command:
    """Give the refusal of a forwarded POP at a member that does not own the share queue."""
    asked = pop_fields(TOPIC, CONSUMERS, shareFwd="1", **fields)
    answer = await client.call(RequestCode.POP_MESSAGE, asked)
    assert answer.code == NOT_OWNED, (answer.code, answer.remark)
    return answer


async def call_all(calls: Iterable[asyncio.Future[Command]]) -> list[int]:
    return [one.code for one in await asyncio.gather(*calls)]


def store_with_topic(group: Group) -> Path:
    """Make a store whose broker begins with the SHARED topic."""
    root = group.root / "begun"
    (root / "config").mkdir(parents=True)
    table = TopicConfigTable(topics={TOPIC: topic_of(SHARED_MODE)})
    (root / "config" / "topics.json").write_bytes(java_json.encode(table))
    return root
