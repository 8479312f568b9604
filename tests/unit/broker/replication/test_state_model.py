"""Random lives of a group, compared with the meaning of its log by a separate model (D14, I9, I13).

The model reads no records. For each record that a master appends it notes the master's state at
that time, so every beginning of the log has a meaning. A new master must know the meaning of its
own log.
"""

import asyncio
import copy
import os
import random
import shutil
from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from regent_engine import decode_records

from backend.remoting.names import SCHEDULE_TOPIC, STATE_TOPIC
from tests.unit.broker.replication.journaled import LEVELS_MS, JournaledBroker, known_of
from workers.broker.requests.fences import Overtaken

BROKER_COUNT = 3
LIVES = int(os.environ.get("REGENT_GROUP_LIVES", "10"))
TOPICS = "tu"
NOTHING = {
    "offsets": {},
    "topics": {},
    "mappings": {},
    "groups": {},
    "fences": [],
    "changes": [],
}


@dataclass
class Entry:
    """A record of the group's log, and what the log says up to its end."""

    place: tuple
    fields: dict
    position: int
    end: int
    known: dict
    progress: dict
    messages: dict
    """The log positions of what a topic holds, by queue."""

    queue_offset: int
    deleted_at: int
    """Where its topic was deleted last."""

    @property
    def origin(self):
        return self.fields.get("prepared_transaction_offset", 0)


@dataclass
class World:
    """A group of which every broker holds a beginning of one log; the master holds all of it."""

    brokers: list
    source: random.Random
    leader: JournaledBroker | None = None
    epoch: int = 0
    fence: int = 0
    log: list[Entry] = field(default_factory=list)

    @property
    def replicas(self):
        return [broker for broker in self.brokers if broker is not self.leader]

    def end(self, count):
        return self.log[count - 1].end if count else 0

    def meaning(self):
        last = self.log[-1] if self.log else None
        return (last.known, last.progress, last.messages) if last else (NOTHING, {}, {})

    def note(self):
        """Take what the master has appended into the log, with its meaning."""
        for place, fields, appended in self.leader.store.appended:
            known, progress, messages = copy.deepcopy(self.meaning())
            at = appended.log_position
            deleted_at = self.leader.deletions.positions.get(place[0], 0)
            reported = (appended.queue_offset, deleted_at)
            entry = Entry(
                place, fields, at, at + appended.size, known, progress, messages, *reported
            )
            if place[0] == STATE_TOPIC:
                entry.known = copy.deepcopy(known_of(self.leader))
                entry.progress = dict(self.leader.delays.progress)
                living = entry.known["topics"]
                entry.messages = {t: queues for t, queues in messages.items() if t in living}
            elif place[0] in TOPICS:
                queues = entry.messages.setdefault(place[0], {})
                queues.setdefault(place[1], []).append(at)
            if entry.origin:
                (delayed,) = decode_records(self.leader.store.held_record(entry.origin))
                entry.progress[delayed.queue_id + 1] = delayed.queue_offset + 1
            self.log.append(entry)
        self.leader.store.appended.clear()

    def copy(self, broker, count):
        """Let a replica have the log's first records."""
        for entry in self.log[:count]:
            if entry.position >= broker.store.max_position:
                _, end = broker.store.held_offsets(*entry.place[:2]) or (0, 0)
                if end > entry.queue_offset:
                    # The engine starts such a queue again when it copies; an append does not.
                    broker.store.delete_topic(entry.place[0], before=entry.deleted_at)
                appended = broker.store.append(*entry.place, **entry.fields)
                place = (appended.log_position, appended.queue_offset)
                assert place == (entry.position, entry.queue_offset)
        broker.store.appended.clear()

    def held_count(self, broker):
        return sum(entry.end <= broker.store.max_position for entry in self.log)

    def lead(self, broker):
        """Make a broker master with what it holds, and cut what others hold beyond that."""
        del self.log[self.held_count(broker) :]
        self.leader, self.epoch = broker, self.epoch + 1
        known, progress, _ = self.meaning()
        broker.journal.stand_down()
        broker.journal.lead(self.epoch)
        assert (known_of(broker), dict(broker.delays.progress)) == (known, progress)
        end = self.end(len(self.log))
        for replica in self.replicas:
            replica.journal.stand_down()
            replica.journal.follow(self.epoch)
            if replica.store.max_position > end:
                replica.store.truncate_to(end)
                replica.journal.cut()
                # What was not confirmed is undone at once.
                assert (known_of(replica), dict(replica.delays.progress)) == (known, progress)
            replica.store.appended.clear()
        self.note()

    def restart(self, broker):
        broker.kill()
        broker.open()
        broker.confirm(0)
        broker.journal.follow(self.epoch)

    # What happens, in no order.

    def do_commit(self):
        for _ in range(self.source.randrange(1, 4)):
            group, topic = self.source.choice("gh"), self.source.choice(TOPICS)
            offset, queue_id = self.source.randrange(100), self.source.randrange(2)
            self.leader.commit(offset, group=group, topic=topic, queue_id=queue_id)

    def do_put_topic(self):
        self.leader.put_topic(self.source.choice(TOPICS), self.source.randrange(1, 5))
        self.note()

    def do_delete_topic(self):
        self.leader.delete_topic(self.source.choice(TOPICS))
        self.note()

    def do_put_mapping(self):
        self.leader.put_mapping(self.source.choice(TOPICS), self.source.randrange(5))

    def do_forget_positions(self):
        self.leader.offsets.remove_queue(self.source.choice(TOPICS), self.source.randrange(2))

    def do_put_group(self):
        self.leader.put_group(self.source.choice("gh"), self.source.randrange(5))

    def do_delete_group(self):
        self.leader.delete_group(self.source.choice("gh"))

    def do_change_fenced(self):
        """Begin or make a change, or find that it is made, as steps of operations do."""
        target, number = self.source.choice("xyz"), self.source.randrange(20)
        after = self.source.choice([None, {"queues": number}])
        try:
            asyncio.run(self.leader.change(target, f"step {number}", self.fence, after))
        except Overtaken:
            raise AssertionError("fences only rise here") from None
        self.fence += 1

    def do_write(self):
        self.leader.journal.write()
        self.note()

    def do_send(self):
        topic, queue_id = self.source.choice(TOPICS), self.source.randrange(2)
        if self.leader.topics.find(topic) is None:
            self.leader.put_topic(topic)
        if self.leader.topics.find(topic) is not None:
            self.leader.send(topic, b"x" * self.source.randrange(6000), queue_id)
        self.note()

    def do_send_delayed(self):
        self.leader.send_delayed(self.source.randrange(len(LEVELS_MS)) + 1)
        self.note()

    def do_deliver(self):
        self.leader.deliver_due(self.source.randrange(len(LEVELS_MS)) + 1)
        self.note()

    def do_replicate(self):
        for replica in self.replicas:
            self.copy(replica, self.source.randint(self.held_count(replica), len(self.log)))

    def do_confirm(self):
        confirmed = min(broker.store.max_position for broker in self.brokers)
        for broker in self.brokers:
            broker.confirm(confirmed)
            broker.deletions.remove_confirmed()

    def do_catch_up(self):
        for replica in self.replicas:
            replica.journal.catch_up()
            replica.deletions.remove_confirmed()

    def do_save(self):
        self.source.choice(self.brokers).save()

    def do_restart_replica(self):
        self.restart(self.source.choice(self.replicas))

    def do_resume(self):
        """Kill the master, and have it elected again."""
        self.restart(self.leader)
        self.lead(self.leader)

    def do_fail_over(self):
        """Kill the master, or have it deposed while it still writes; a replica follows it."""
        old = self.leader
        if self.source.random() < 0.5:
            self.restart(old)
        else:
            old.journal.write()
        self.lead(self.source.choice(self.replicas))

    def come_to_rest(self):
        """Deliver all that is due, and let every broker have and know all."""
        for level in range(1, len(LEVELS_MS) + 1):
            while True:
                for replica in self.replicas:
                    self.copy(replica, len(self.log))
                self.do_confirm()
                if self.leader.deliver_due(level) is None:
                    break
                self.note()
        self.do_write()
        for replica in self.replicas:
            self.copy(replica, len(self.log))
        self.do_confirm()
        self.do_catch_up()

    def check_queues(self, broker):
        """Hold what can be read of a topic against its messages since it was made."""
        held = {
            topic: {
                queue_id: [position for position, _, _ in entries]
                for queue_id in range(2)
                if (entries := broker.store.held_entries(topic, queue_id, 0, 1000))
            }
            for topic in TOPICS
        }
        messages = self.meaning()[2]
        assert held == {topic: messages.get(topic, {}) for topic in TOPICS}


WEIGHTS = {
    World.do_commit: 6,
    World.do_write: 6,
    World.do_send: 3,
    World.do_send_delayed: 3,
    World.do_deliver: 4,
    World.do_replicate: 6,
    World.do_confirm: 4,
    World.do_catch_up: 4,
    World.do_save: 1,
    World.do_restart_replica: 1,
    World.do_put_topic: 1,
    World.do_delete_topic: 1,
    World.do_put_mapping: 2,
    World.do_forget_positions: 1,
    World.do_put_group: 1,
    World.do_delete_group: 1,
    World.do_change_fenced: 2,
    World.do_fail_over: 2,
    World.do_resume: 1,
}


@settings(max_examples=LIVES, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(10, 150))
def test_every_master_knows_what_its_log_says(tmp_path_factory, seed, count):
    root = tmp_path_factory.mktemp("group")
    source = random.Random(seed)
    paths = [root / f"b{number}" for number in range(BROKER_COUNT)]
    world = World([JournaledBroker(path) for path in paths], source)
    world.lead(world.brokers[0])
    for replica in world.replicas:
        # A log without a snapshot says nothing; no group has one for longer than its first moment.
        world.copy(replica, 1)

    for action in source.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count):
        action(world)
    world.come_to_rest()

    known = [(known_of(broker), broker.delays.progress) for broker in world.brokers]
    assert known[1:] == known[:-1]
    for broker in world.brokers:
        world.check_queues(broker)
    delayed = [entry.position for entry in world.log if entry.place[0] == SCHEDULE_TOPIC]
    delivered = Counter(entry.origin for entry in world.log if entry.origin)
    assert delivered == Counter(delayed)
    # A broker without a past, which makes its queues from the whole log.
    world.brokers.append(late := JournaledBroker(root / "late"))
    late.journal.follow(world.epoch)
    world.copy(late, len(world.log))
    world.do_confirm()
    world.do_catch_up()
    assert known_of(late) == known[0][0]
    world.check_queues(late)
    for broker in world.brokers:
        broker.kill()
    shutil.rmtree(root)
