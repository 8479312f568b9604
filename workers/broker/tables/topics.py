"""Hold the topics of a broker and their version (`topics.json`)."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

import msgspec
import structlog

from backend.remoting import names
from backend.remoting.bodies import DataVersion, TopicConfig, TopicConfigTable, sift_topics
from backend.remoting.bodies.topics import TOPIC_TABLES
from backend.remoting.response_code import ResponseCode
from backend.remoting.sifting import LeftOut, decode_items
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.errors import Refusal
from workers.broker.tables.logged_table import IN_LOG, LOG_POSITION, LoggedTable

READABLE: Final = 4
WRITABLE: Final = 2
INHERITED: Final = 1
SCHEDULE_QUEUE_COUNT: Final = 18
NOTED_CHANGE_COUNT_MAX: Final = 10_000
"""Number of topics whose last change is kept in order."""

IS_INCOMPLETE: Final = "isIncomplete"
"""Our field in `topics.json`: a former file was lost, and its topics may have queues."""

log = structlog.get_logger()

TopicListener = Callable[[str, TopicConfig | None], None]


class TopicFile(TopicConfigTable, frozen=True, kw_only=True):
    """The content of `topics.json`."""

    is_in_log: bool = msgspec.field(name=IN_LOG, default=False)
    log_position: int = msgspec.field(name=LOG_POSITION, default=0)
    is_incomplete: bool = msgspec.field(name=IS_INCOMPLETE, default=False)


def decode_topic_file(data: bytes) -> tuple[TopicFile, list[LeftOut]]:
    """Read the file; topics that can't be served are left out and named.

    Raises:
        InvalidJson: the document is malformed.
    """
    file, left_out = decode_items(data, TopicFile, *TOPIC_TABLES)
    topics, refused = sift_topics(file.topics)
    return msgspec.structs.replace(file, topics=topics), left_out + refused


class TopicTable(LoggedTable[str]):
    """All topics; every change raises the data version, or name servers would ignore it.

    In a group they are part of the log, except those that every broker creates (D14).
    """

    def __init__(
        self,
        stored: TopicFile | None,
        *,
        listener: TopicListener,
        permissions: int = READABLE | WRITABLE,
        own_names: Collection[str] = (),
        left_out: Iterable[LeftOut] = (),
        clock: Callable[[], int],
    ) -> None:
        """Start with the topics of the file; own names are topics that each broker creates."""
        super().__init__(stored, left_out)
        self.is_stored = stored is not None
        stored = stored or TopicFile()
        self.is_incomplete = stored.is_incomplete
        """Whether the file was lost: a missing topic may never have been deleted."""

        self._permissions, self._own_names = permissions, frozenset(own_names)
        self._topics = dict(stored.topics)
        self._listener, self._clock = listener, clock
        self.data_version: DataVersion = stored.data_version
        # The order of the last changes, the latest last; before the counter below, any topic may
        # have changed.
        self._changed_at: OrderedDict[str, int] = OrderedDict()
        self._whole_counter = self.data_version.counter
        for name, topic in self._topics.items():
            listener(name, topic)

    def __len__(self) -> int:
        return len(self._topics)

    def find(self, name: str) -> TopicConfig | None:
        """Return a topic; None when this broker has none of that name."""
        return self._topics.get(name)

    def find_left_out(self, name: str) -> LeftOut | None:
        """Return the topic of a name that this broker holds but can't serve."""
        return self._left_out.get((TOPIC_TABLES[0], name))

    def check_not_left_out(self, name: str) -> None:
        """Check that this broker does not hold an unservable topic of a name.

        Raises:
            Refusal: it holds such a topic, which must be changed or deleted first.
        """
        left_out = self.find_left_out(name)
        if left_out is not None:
            reason = f"the topic[{name}] is left out by this broker: {left_out.reason}; change it"
            raise Refusal(ResponseCode.TOPIC_NOT_EXIST, f"{reason} or delete it")

    def all(self) -> Iterable[TopicConfig]:
        """Give every topic."""
        return self._topics.values()

    def put(self, topic: TopicConfig) -> bool:
        """Add or replace a topic; False when nothing changed."""
        if self._topics.get(topic.name) == topic:
            return False
        self._change(topic.name, topic)
        return True

    def remove(self, name: str) -> bool:
        """Drop a topic, also one that can't be served; False when there was none."""
        if name not in self._topics:
            if self._left_out.pop((TOPIC_TABLES[0], name), None) is None:
                return False
            self._raise_version()
            self._note(name)
            return True
        self._change(name, None)
        return True

    def note_mapping(self, name: str) -> None:
        """Register a topic again, whose mapping has changed."""
        self._raise_version()
        self._note_changed(name)

    def note_gone(self, name: str) -> None:
        """Record the deletion of a topic for the group although only its queues exist here."""
        self._note(name)

    def changed_since(self, counter: int) -> list[str] | None:
        """Return the topics that changed since a version, the latest last; None if any may have."""
        if counter < self._whole_counter:
            return None
        names = []
        for name, changed_at in reversed(self._changed_at.items()):
            if changed_at <= counter:
                break
            names.append(name)
        return names[::-1]

    def permit(self, permissions: int) -> bool:
        """Limit the permissions of all topics for clients; False when nothing changed."""
        if permissions == self._permissions:
            return False
        self._permissions = permissions
        self._raise_version()
        self._note_all_changed()
        for name, topic in self._topics.items():
            self._listener(name, topic)
        return True

    def begin_epoch(self, epoch: int) -> None:
        """Set a version of a new master epoch, which is higher than all of older ones."""
        self._raise_version()
        self.data_version = msgspec.structs.replace(self.data_version, state_version=epoch)
        self._note_all_changed()

    def adopt(self, table: TopicConfigTable, left_out: Iterable[LeftOut] = ()) -> bool:
        """Take over the topics of a stock master and their version; False when it is the same.

        Other topics stay: absence is no deletion there.
        """
        if table.data_version == self.data_version:
            return False
        # A stock master may let clients create the topic of our records.
        self.apply(
            {name: one for name, one in table.topics.items() if not names.is_state_topic(name)}
        )
        self.keep_aside(left_out)
        self.data_version = table.data_version
        self.change_count += 1
        self._note_all_changed()
        return True

    def take_changes(self) -> dict[str, TopicConfig | None]:
        """Return the changes since the last call: the present topics, None for deleted ones."""
        return {
            name: self._topics.get(name) for name in self._take() if name not in self._own_names
        }

    def shared(self) -> dict[str, TopicConfig]:
        """Return the topics that a group shares."""
        return {name: one for name, one in self._topics.items() if name not in self._own_names}

    def apply(self, changes: Mapping[str, TopicConfig | None]) -> None:
        """Apply the changes of a master; topics that can't be served are kept aside and named."""
        changed = {name: topic for name, topic in changes.items() if topic is not None}
        kept, left_out = sift_topics(changed)
        for name in changes.keys() - changed.keys():
            self.remove(name)
        for topic in kept.values():
            self.put(topic)
        self.keep_aside(left_out)

    def keep_aside(self, left_out: Iterable[LeftOut]) -> None:
        """Keep topics of a master that can't be served, and name them once."""
        for one in left_out:
            if self._left_out.get(one.path) == one:
                continue
            if one.path[0] == TOPIC_TABLES[0] and self._topics.pop(one.name, None) is not None:
                self._listener(one.name, None)
            self._left_out[one.path] = one
            self._raise_version()
            log.warning("copied_topic_left_out", topic=one.name, reason=one.reason)

    def replace(self, topics: Mapping[str, TopicConfig]) -> None:
        """Replace the shared topics with a master's."""
        gone = self.shared().keys() - topics.keys()
        self.apply(dict.fromkeys(gone) | dict(topics))

    def as_body(self) -> TopicConfigTable:
        """Return the table for name servers and tools."""
        return TopicConfigTable(data_version=self.data_version, topics=self._topics)

    def as_registered(self) -> TopicConfigTable:
        """Return the table for clients: limited by the permission of the broker."""
        if self._permissions & READABLE and self._permissions & WRITABLE:
            return self.as_body()
        topics = {name: self._masked(topic) for name, topic in self._topics.items()}
        return TopicConfigTable(data_version=self.data_version, topics=topics)

    def find_registered(self, name: str) -> TopicConfig | None:
        """Return one topic for clients; None when this broker has none of that name."""
        topic = self._topics.get(name)
        return None if topic is None else self._masked(topic)

    def _masked(self, topic: TopicConfig) -> TopicConfig:
        if self._permissions & READABLE and self._permissions & WRITABLE:
            return topic
        return msgspec.structs.replace(topic, permissions=topic.permissions & self._permissions)

    def _document(self) -> dict[str, Any]:
        mark = {IS_INCOMPLETE: True} if self.is_incomplete else {}
        return {"dataVersion": self.data_version, "topicConfigTable": self._topics} | mark

    def _change(self, name: str, topic: TopicConfig | None) -> None:
        if topic is None:
            del self._topics[name]
        else:
            self._topics[name] = topic
            self._left_out.pop((TOPIC_TABLES[0], name), None)
        self._raise_version()
        self._note_changed(name)
        self._note(name)
        self._listener(name, topic)

    def _note_changed(self, name: str) -> None:
        self._changed_at[name] = self.data_version.counter
        self._changed_at.move_to_end(name)
        if len(self._changed_at) > NOTED_CHANGE_COUNT_MAX:
            _, self._whole_counter = self._changed_at.popitem(last=False)

    def _note_all_changed(self) -> None:
        self._changed_at.clear()
        self._whole_counter = self.data_version.counter

    def _raise_version(self) -> None:
        self.data_version = self.data_version.next(self._clock())
        self.change_count += 1


def permitted(topic: TopicConfig, permissions: int) -> int:
    """Return the permissions of a topic for clients under the permission of the broker.

    Routes send producers elsewhere once the broker may not be written. Remaining sends are served,
    as in stock, except to an ordered topic, whose next messages may already be on another broker.
    """
    if topic.is_ordered and not permissions & WRITABLE:
        return topic.permissions & ~WRITABLE
    return topic.permissions


def system_topics(settings: BrokerSettings) -> list[TopicConfig]:
    """Return the topics that a broker has from its start (remoting.md 8)."""
    template_permissions = READABLE | WRITABLE
    if settings.auto_create_topics:
        template_permissions |= INHERITED
    schedule_queue_count = max(SCHEDULE_QUEUE_COUNT, len(settings.delay_levels_ms))
    timers = [topic_of(names.TIMER_TOPIC, 1)] if settings.timer_enabled else []
    # Members of RocketMQ read the other members from its route (control-plane.md 5.9).
    members = [topic_of(names.sync_member_topic(settings.broker_name), 1, INHERITED)]
    return [
        *(members if settings.lets_replicas_act else []),
        topic_of(names.TEMPLATE_TOPIC, settings.template_queue_count, template_permissions),
        topic_of(names.reply_topic(settings.cluster_name), 1),
        topic_of(names.SELF_TEST_TOPIC, 1),
        topic_of(settings.cluster_name, 16, READABLE | WRITABLE | INHERITED),
        topic_of(settings.broker_name, 1, READABLE | WRITABLE | INHERITED),
        topic_of(names.BENCHMARK_TOPIC, 1024),
        topic_of(names.SCHEDULE_TOPIC, schedule_queue_count),
        topic_of(names.OFFSET_MOVED_TOPIC, 1),
        *timers,
    ]


def check_visible(name: str) -> None:
    """Check that clients may know a topic.

    Raises:
        Refusal: the topic is internal to brokers (D14).
    """
    if names.is_state_topic(name):
        raise Refusal(ResponseCode.NO_PERMISSION, f"the topic[{name}] is not readable")


def topic_of(
    name: str, queue_count: int, permissions: int = READABLE | WRITABLE, *, topic_sys_flag: int = 0
) -> TopicConfig:
    """Describe a topic with as many queues for reading as for writing."""
    return TopicConfig(
        name=name,
        read_queue_count=queue_count,
        write_queue_count=queue_count,
        permissions=permissions,
        topic_sys_flag=topic_sys_flag,
    )


def topic_from_template(
    name: str, template: TopicConfig, wished_queue_count: int
) -> TopicConfig | None:
    """Derive the topic that a first send creates; None when the template does not allow it."""
    if not template.permissions & INHERITED:
        return None
    queue_count = max(0, min(wished_queue_count, template.write_queue_count))
    permissions = template.permissions & ~INHERITED
    return msgspec.structs.replace(
        topic_of(name, queue_count, permissions),
        topic_sys_flag=template.topic_sys_flag,
        filter_type=template.filter_type,
    )
