"""Members of a broker group that share queues by lease: a lane, an arbiter, and a clock by hand."""

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from backend.domain.share_lease import (
    HeldLease,
    LeaseHeartbeat,
    Member,
    ShareLease,
    Standing,
    Wish,
    arbitrate,
)
from backend.domain.share_queue import ShareQueueName
from backend.remoting.bodies.share_leases import (
    LeaseDecisionsBody,
    ShareLeaseBody,
    ShareQueueBody,
)
from workers.broker.shares.lease_keeper import LeaseKeeper
from workers.broker.shares.member_shares import SeenShare, ShareName
from workers.broker.shares.share_incidents import ShareIncidents

SQ = ShareName("orders", 0, "billing")
SEQUENCER = 1


class Lane:
    """The lane as the sequencer has it: the epoch and the owner of each share queue."""

    def __init__(self):
        self.epochs, self.owners, self.with_messages = {}, {}, set()
        self.reset_epochs = {}
        self.records = []

    def name(self, name):
        """Append the record that names a share queue."""
        self.epochs[name], self.owners[name] = 0, None

    def own(self, name, epoch, owner):
        if epoch <= self.epochs.get(name, 0):
            return self.owners.get(name) == owner and epoch == self.epochs[name]
        self.epochs[name], self.owners[name] = epoch, owner
        self.records.append(("OWN", name, epoch, owner))
        return True

    def unown(self, name, epoch):
        if self.epochs.get(name, 0) == epoch and self.owners.get(name) is not None:
            self.owners[name] = None
            self.records.append(("UNOWN", name, epoch, None))

    def reset(self, name):
        """Append the snapshot of an operator's reset: its epoch ends the lease of the owner."""
        self.epochs[name] += 1
        self.owners[name], self.reset_epochs[name] = None, self.epochs[name]


class Shares:
    """The share queues of one member, as its keeper uses them; it reads the lane at once."""

    def __init__(self, lane, broker_id):
        self.lane, self.id = lane, broker_id
        self.serving, self.ends_at_s = {}, {}
        self.is_cut_off = False
        self.reads_lane = True
        self.gate = asyncio.Event()
        self.gate.set()
        self.shared_topics = self.topics_with_turns = {"orders"}

    def takes_turns(self, topic):
        return topic in self.topics_with_turns

    def is_shared(self, topic):
        return topic in self.shared_topics

    def seen(self):
        lane = self.lane
        return {
            name: SeenShare(epoch, lane.owners[name], name in lane.with_messages)
            for name, epoch in lane.epochs.items()
        }

    def seen_of(self, pairs):
        return {name: one for name, one in self.seen().items() if (name.topic, name.group) in pairs}

    @property
    def is_any_owned(self):
        return any(owner is not None for owner in self.lane.owners.values())

    def owned(self):
        lane = self.lane
        self.serving = {
            name: epoch
            for name, epoch in self.serving.items()
            if (lane.epochs[name], lane.owners[name]) == (epoch, self.id)
        }
        return self.serving

    def has_ended_by_order(self, name, epoch):
        return name not in self.lane.epochs or self.lane.reset_epochs.get(name, 0) > epoch

    async def own(self, name, epoch, *, ends_at_s=None):
        await self.gate.wait()
        await asyncio.sleep(0)
        if self.is_cut_off:
            raise ConnectionError("the sequencer does not answer")
        is_owned = self.lane.own(name, epoch, self.id)
        if is_owned:
            self.serving[name] = epoch
            self.ends_at_s[name] = ends_at_s
        return is_owned

    def prolong(self, name, ends_at_s):
        self.ends_at_s[name] = ends_at_s

    def hands_out(self, name):
        """Say what the engine does, without the clock of the keeper."""
        return name in self.owned()

    async def give_back(self, name, *, wants_again):
        del wants_again
        epoch = self.serving.pop(name, None)
        await asyncio.sleep(0)
        if self.is_cut_off:
            raise ConnectionError("the sequencer does not answer")
        if epoch is not None:
            self.lane.unown(name, epoch)

    def stop(self, name):
        self.serving.pop(name, None)

    async def own_as_sequencer(self, name):
        await asyncio.sleep(0)
        if self.id != SEQUENCER:
            return None
        epoch = self.lane.epochs.get(name, 0) + 1
        self.lane.own(name, epoch, self.id)
        self.serving[name] = epoch
        return epoch

    def owner_of(self, topic, queue_id, group):
        return self.lane.owners.get(ShareName(topic, queue_id, group))


class Group:
    """Three members, each with a keeper; `clock` is the time of all of them in seconds."""

    def __init__(self, count=3):
        self.clock = 0.0
        self.lane, self.leases = Lane(), {}
        self.is_away = False
        self.heartbeats, self.forgotten = [], []
        self.credit, self.users = {}, set()
        self.in_sync = set(range(1, count + 1))
        self.shares = {one: self.make_shares(one) for one in range(1, count + 1)}
        self.incidents = {one: ShareIncidents(lambda: 7) for one in self.shares}
        self.keepers = {one: self._keeper(one) for one in self.shares}

    def make_shares(self, broker_id):
        return Shares(self.lane, broker_id)

    def _keeper(self, broker_id):
        async def ask(body):
            return self.arbitrate(broker_id, body)

        return LeaseKeeper(
            self.shares[broker_id],
            ask=ask,
            is_sequencer=lambda: broker_id == SEQUENCER,
            credit=SimpleNamespace(
                has=lambda name: self.credit.get((broker_id, name), True),
                was_used=lambda _name: broker_id in self.users,
                forget=self.forgotten.append,
            ),
            incidents=self.incidents[broker_id],
            now_s=lambda: self.clock,
        )

    def arbitrate(self, broker_id, body):
        if self.is_away:
            raise ConnectionError("the controller does not answer")
        self.heartbeats.append((broker_id, body))
        heartbeat = LeaseHeartbeat(
            Member(broker_id, 1),
            {_name(one): HeldLease(one.epoch, one.has_messages) for one in body.held},
            {_name(one): Wish(one.known_epoch, one.has_messages) for one in body.wanted},
            {_name(one): one.epoch for one in body.released},
        )
        standing = Standing(
            is_in_sync=broker_id in self.in_sync, is_sequencer=broker_id == SEQUENCER
        )
        decided = arbitrate(self.leases, heartbeat, standing, now=self.now)
        self.leases |= decided.changed
        return LeaseDecisionsBody(
            ttl_ms=10_000,
            granted=[
                ShareLeaseBody(**_fields(name), epoch=at) for name, at in decided.granted.items()
            ],
            revoked=[ShareQueueBody(**_fields(name)) for name in decided.revoked],
            awaited=[ShareQueueBody(**_fields(name)) for name in decided.awaited],
        )

    @property
    def now(self):
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.clock)

    @property
    def owner(self):
        return self.lane.owners.get(SQ)

    @property
    def serving(self):
        return [one for one, shares in self.shares.items() if SQ in shares.owned()]

    def lease(self, name=SQ):
        return self.leases.get(ShareQueueName(*name), ShareLease())

    async def beat(self, *broker_ids):
        for one in broker_ids:
            await self.keepers[one].beat()
            await settle()

    async def own(self, broker_id):
        """Let a member want the share queue, and get it."""
        self.keepers[broker_id].want([SQ])
        await self.beat(broker_id)
        assert self.serving == [broker_id]

    async def pass_time(self, seconds, *, step=0.02):
        """Let the members look as often as they do; those that are due, or are at it, beat."""
        ends_at, next_beat = self.clock + seconds, self.clock + 1.0
        while self.clock < ends_at:
            self.clock += step
            for one in self.keepers.values():
                one.look()
            await settle()
            for broker_id, one in self.keepers.items():
                if one.is_due or (self.clock >= next_beat and one.has_to_beat):
                    await self.beat(broker_id)
            if self.clock >= next_beat:
                next_beat = self.clock + 1.0


async def settle():
    """Let the tasks of the keepers come to an end."""
    for _ in range(8):
        await asyncio.sleep(0)


def _name(body):
    return ShareQueueName(body.topic, body.queue_id, body.consumer_group)


def _fields(name):
    return {
        "topic": name.topic,
        "queue_id": name.queue_id,
        "consumer_group": name.consumer_group_name,
    }
