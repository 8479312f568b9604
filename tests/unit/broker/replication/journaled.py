"""Brokers that keep their state in a log, over real stores, without sockets or a clock."""

import asyncio
from dataclasses import dataclass, field
from functools import partial

from regent_engine import Store, decode_records, encode_properties

from backend.domain.logical_queue.broker_copy import BrokerTopic, SealRecord
from backend.domain.logical_queue.commit import Seal
from backend.domain.logical_queue.mapping import BrokerMapping, MappingInfo
from backend.domain.logical_queue.segment import QueueSegment
from backend.remoting.bodies import SubscriptionGroupConfig
from backend.remoting.headers import FenceHeader
from backend.remoting.names import SCHEDULE_TOPIC, STATE_TOPIC
from workers.broker.commit_log.delay_delivery import DelayDelivery
from workers.broker.commit_log.delayed_message import deliver_delayed, read_delayed
from workers.broker.commit_log.timer_delivery import TimerDelivery
from workers.broker.configuration.settings import parse_settings
from workers.broker.replication.shared_state import SharedState
from workers.broker.replication.state_journal import StateJournal
from workers.broker.replication.state_record import decode_state
from workers.broker.tables.queue_locks import QueueLocks
from workers.broker.tables.state import BrokerState
from workers.broker.tables.topics import topic_of

LEVELS_MS = (1000, 5000)
SEGMENT_SIZE = 64 << 10


class WatchedStore:
    """A store that reports each append."""

    def __init__(self, path, *, segment_size=SEGMENT_SIZE):
        self.appended = []
        self._store = Store(
            str(path),
            segment_size_bytes=segment_size,
            queue_file_size_bytes=2000,
            delay_levels_ms=LEVELS_MS,
        )

    def append(self, *place, **fields):
        appended = self._store.append(*place, **fields)
        self.appended.append((place, fields, appended))
        return appended

    def drop(self):
        """Drop the store, which nothing closes."""
        self._store = None

    def __getattr__(self, name):
        return getattr(self._store, name)


@dataclass
class JournaledBroker:
    """One broker's store, tables and journal; its files are written where a test says so."""

    path: object
    settings: dict = field(default_factory=dict)
    segment_size: int = SEGMENT_SIZE
    now_ms: int = 7
    """The time for messages for a time."""
    closed_queues: set = field(default_factory=set)
    """Ids of queues that take no messages for a time."""

    def __post_init__(self):
        self.open()

    def open(self):
        """Begin as after a start: with the files there are, and what the log holds."""
        self.store = WatchedStore(self.path, segment_size=self.segment_size)
        given = {
            "mappedFileSizeCommitLog": str(self.segment_size),
            "storePathRootDir": str(self.path),
        }
        parsed = parse_settings(given | self.settings).settings
        self.reported = []
        self.state = BrokerState(
            parsed,
            topic_listener=lambda name, topic: self.reported.append((name, topic)),
            static_topic_listener=lambda _name, _topic: None,
            group_listener=lambda: None,
            build_delays=self._build_delays,
            flush_log=lambda: None,
            clock=lambda: 7,
        )
        self.offsets, self.delays = self.state.offsets, self.state.delays
        self.topics, self.groups = self.state.topics, self.state.groups
        self.fences = self.state.fences
        self.timers = TimerDelivery(
            self.store,
            precision_ms=1000,
            arrived=lambda _: None,
            find_target=self._find_target,
            find_block=lambda: None,
            clock=lambda: self.now_ms,
            escaped=self.state.escaped,
        )
        self.locks = QueueLocks(lambda: self.now_ms)
        shared = SharedState.of(self.state, self.store, self.timers, self.locks)
        self.deletions = shared.deletions
        self.journal = StateJournal(
            self.store,
            parsed,
            shared,
            arrived=lambda _: None,
        )
        self.journal.load()

    def kill(self):
        """End without a word; the page cache keeps what was appended."""
        self.store.drop()
        self.store = self.journal = None

    def save(self):
        """Write all files as they are due."""
        self.config.mkdir(exist_ok=True)
        for table, name in self._files():
            (self.config / name).write_bytes(table.as_file())

    @property
    def config(self):
        return self.path / "config"

    def _find_target(self, _topic, queue_id, _position):
        return None if queue_id in self.closed_queues else (queue_id, 0)

    def _files(self):
        return (
            (self.offsets, "consumerOffset.json"),
            (self.delays, "delayOffset.json"),
            (self.state.static_topics, "topicQueueMapping.json"),
            (self.topics, "topics.json"),
            (self.groups, "subscriptionGroup.json"),
            (self.fences, "regentFences.json"),
            (self.state.escaped, "regentEscaped.json"),
        )

    def _build_delays(self, stored, escaped):
        return DelayDelivery(
            self.store,
            levels_ms=LEVELS_MS,
            stored=stored,
            read=partial(read_delayed, self.store),
            on_thread=asyncio.to_thread,
            deliver=partial(deliver_delayed, self.store, lambda _: None),
            clock=lambda: 10**15,
            escaped=escaped,
        )

    def deliver_due(self, level):
        """Deliver a batch of what is due; None when nothing waits."""
        return self.delays.deliver(
            level, self.delays.read_due(level, self.delays.next_offset(level))
        )

    # What a broker does with orders.

    def put_topic(self, name, queue_count=1):
        """Make or change a topic, as soon as a deletion of it is over."""
        if not self.deletions.is_pending(name) and self.topics.put(topic_of(name, queue_count)):
            self.journal.write()

    def put_mapping(self, name, epoch=1_000):
        info = MappingInfo(name, "broker", epoch, 1, led={0: 0})
        segments = {0: (QueueSegment(0, "broker", 0),)}
        topic = BrokerTopic(BrokerMapping(info, segments), seals={0: SealRecord(epoch, 0, Seal(4))})
        self.state.static_topics.put(name, topic)
        return topic

    def delete_topic(self, name):
        self.topics.remove(name)
        self.state.static_topics.remove(name)
        self.offsets.remove_topic(name)
        self.journal.write()

    def put_group(self, name, retry_count_max=16):
        self.groups.put(SubscriptionGroupConfig(name=name, retry_count_max=retry_count_max))

    def delete_group(self, name):
        self.groups.remove(name)
        self.offsets.remove_group(name)

    async def change(self, target, step, fence, after=None):
        """Make a change as a step of an operation does, or only begin it."""
        header = FenceHeader(operation_id="o", step_key=step, fence=fence)
        change = await self.fences.admit(target, header, None)
        if after is not None:
            change = type(change)(before=change.before, after=after, is_made=True)
            await self.fences.conclude(target, header, change)
        return change

    def send(self, topic="t", body=b"body", queue_id=0):
        return self.store.append(topic, queue_id, body, b"")

    def send_delayed(self, level, body=b"later"):
        properties = {"DELAY": str(level), "REAL_TOPIC": "later", "REAL_QID": "0"}
        return self.store.append(SCHEDULE_TOPIC, level - 1, body, encode_properties(properties))

    def commit(self, offset, *, group="g", topic="t", queue_id=0):
        self.offsets.commit(group, topic, queue_id=queue_id, offset=offset)

    def find(self, *, group="g", topic="t", queue_id=0):
        return self.offsets.find(group, topic, queue_id)

    def confirm(self, position=None):
        self.store.set_confirmed_position(self.store.max_position if position is None else position)

    def copy_from(self, master, *, end=None):
        """Take what a master has appended beyond this log, up to a position."""
        for place, fields, appended in master.store.appended:
            at = appended.log_position
            if self.store.max_position <= at and (end is None or at < end):
                copied = self.store.append(*place, **fields)
                assert copied.log_position == at


def offsets_of(broker):
    return {key: dict(queues) for key, queues in broker.offsets.table.items() if queues}


def known_of(broker):
    """All that travels in the log, but for delays."""
    return {
        "offsets": offsets_of(broker),
        "topics": {name: one.read_queue_count for name, one in broker.topics.shared().items()},
        "mappings": dict(broker.state.static_topics.all),
        "groups": {name: one.retry_count_max for name, one in broker.groups.shared().items()},
        "fences": list(broker.fences.fences.items()),
        "changes": list(broker.fences.changes.items()),
    }


def records(broker):
    """Every record of the broker's own that its log holds."""
    low, end = broker.store.held_offsets(STATE_TOPIC, 0) or (0, 0)
    entries = broker.store.held_entries(STATE_TOPIC, 0, low, end - low)
    contents = [broker.store.held_record(position) for position, _, _ in entries]
    return [decode_state(decode_records(content)[0].body) for content in contents]
