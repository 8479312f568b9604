"""Brokers that keep their state in a log, over real stores, without sockets or a clock."""

from dataclasses import dataclass, field
from functools import partial

from regent_engine import Store, encode_properties

from backend.remoting import java_json
from backend.remoting.names import SCHEDULE_TOPIC
from workers.broker.consumer_offsets import ConsumerOffsetFile, ConsumerOffsets
from workers.broker.delay_delivery import DelayDelivery, DelayOffsetFile
from workers.broker.delayed_message import deliver_delayed
from workers.broker.replication.state_journal import StateJournal
from workers.broker.settings import parse_settings

LEVELS_MS = (1000, 5000)
SEGMENT_SIZE = 64 << 10


class WatchedStore:
    """A store that tells of what is appended to it."""

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

    def __getattr__(self, name):
        return getattr(self._store, name)


@dataclass
class JournaledBroker:
    """One broker's store, tables and journal; its files are kept where a test says so."""

    path: object
    settings: dict = field(default_factory=dict)
    segment_size: int = SEGMENT_SIZE
    files: dict = field(default_factory=dict)

    def __post_init__(self):
        self.open()

    def open(self):
        """Begin as after a start: with the files there are, and what the log holds."""
        self.store = WatchedStore(self.path, segment_size=self.segment_size)
        self.offsets = ConsumerOffsets(self._stored("offsets", ConsumerOffsetFile))
        self.delays = DelayDelivery(
            self.store,
            levels_ms=LEVELS_MS,
            stored=self._stored("delays", DelayOffsetFile),
            deliver=partial(deliver_delayed, self.store, lambda _: None, names_origin=True),
            clock=lambda: 10**15,
        )
        given = {"mappedFileSizeCommitLog": str(self.segment_size)} | self.settings
        self.journal = StateJournal(
            self.store,
            parse_settings(given).settings,
            offsets=self.offsets,
            delays=self.delays,
            arrived=lambda _: None,
        )
        self.journal.load()

    def kill(self):
        """End without a word; the page cache keeps what was appended."""
        self.store = self.journal = self.delays = None

    def save(self):
        self.files = {"offsets": self.offsets.as_file(), "delays": self.delays.as_file()}

    def _stored(self, name, kind):
        content = self.files.get(name)
        return None if content is None else java_json.decode(content, kind)

    def send(self, topic="t", body=b"body", queue_id=0):
        return self.store.append(topic, queue_id, body, b"")

    def send_delayed(self, level, body=b"later"):
        properties = {"DELAY": str(level), "REAL_TOPIC": "t", "REAL_QID": "0"}
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
