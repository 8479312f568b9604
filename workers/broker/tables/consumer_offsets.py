"""Hold the committed offsets of all groups (`consumerOffset.json`)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.integers import Int32, Int64
from backend.remoting.sifting import LeftOut, decode_items
from backend.rules.topic import LIGHT_QUEUE_PREFIX
from workers.broker.tables.logged_table import LoggedTable, LoggedTableFile

SEPARATOR: Final = "@"
OFFSET_TABLE: Final = "offsetTable"


class ConsumerOffsetFile(LoggedTableFile, frozen=True, kw_only=True):
    """The stock form of the file; `groupTopicMap` is derived and not read."""

    offsets: dict[str, dict[Int32, Int64]] = msgspec.field(name="offsetTable", default_factory=dict)
    acted: dict[str, tuple[Int32, ...]] = msgspec.field(name="regentActed", default_factory=dict)
    """Ours: the queues, by key, whose offsets a replica took while it acted for its master."""


def decode_offset_file(data: bytes) -> tuple[ConsumerOffsetFile, list[LeftOut]]:
    """Read the file; unreadable offsets are left out and named.

    Raises:
        InvalidJson: the document is malformed.
    """
    return decode_items(data, ConsumerOffsetFile, OFFSET_TABLE)


@dataclass(frozen=True, slots=True)
class OffsetChanges:
    """Topics, groups and queues whose offsets are dropped, then offsets as in a table."""

    removed_topics: tuple[str, ...] = ()
    removed_groups: tuple[str, ...] = ()
    removed_queues: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


class ConsumerOffsets(LoggedTable[tuple[str, int]]):
    """Queue offsets by topic and group; the last commit wins, also if it is lower.

    In a group they are part of the log: the master collects changes for its records, and the others
    accept no commits (D14).
    """

    def __init__(
        self, stored: ConsumerOffsetFile | None = None, left_out: Iterable[LeftOut] = ()
    ) -> None:
        super().__init__(stored, left_out)
        self.data_version: DataVersion = stored.data_version if stored else DataVersion()
        self._offsets: dict[str, dict[int, int]] = {}
        # The keys of each topic and each group, as an index.
        self._by_topic: dict[str, dict[str, None]] = {}
        self._by_group: dict[str, dict[str, None]] = {}
        self._fill(stored.offsets if stored else {})
        # What an acting master took, by key and queue; its master must take it over.
        self._acted: dict[str, dict[int, None]] = {
            key: dict.fromkeys(queues) for key, queues in (stored.acted if stored else {}).items()
        }
        self._is_acting = self._is_held = False
        self._removed_topics: dict[str, None] = {}
        self._removed_groups: dict[str, None] = {}
        self._removed_queues: dict[str, dict[int, None]] = {}

    @property
    def table(self) -> Mapping[str, Mapping[int, int]]:
        """Return every offset by `topic@group` and queue."""
        return self._offsets

    @property
    def has_changes(self) -> bool:
        """Return whether there are changes since the last call that took them."""
        removed = self._removed_topics or self._removed_groups or self._removed_queues
        return bool(self._changed or removed)

    def find(self, group: str, topic: str, queue_id: int) -> int | None:
        """Return a committed offset; None when the group never committed there."""
        return self._offsets.get(_key(group, topic), {}).get(queue_id)

    def commit(self, group: str, topic: str, *, queue_id: int, offset: int) -> None:
        """Record the committed offset of a group in a queue, unless another broker is master.

        Nor is it recorded while another broker takes the offsets over, to be the next that serves.
        """
        if self.is_following or self._is_held:
            return
        key = _key(group, topic)
        queues = self._queues_of(key)
        if queues.get(queue_id) != offset:
            queues[queue_id] = offset
            self._note((key, queue_id))
            if self._is_acting:
                self._acted.setdefault(key, {})[queue_id] = None

    def hold(self, *, is_held: bool) -> None:
        """Accept no commits while another broker takes the offsets over, or accept them again."""
        self._is_held = is_held

    def act(self, state_version: int) -> None:
        """Accept commits for an absent master, with a version that is newer than the master's.

        The log does not have them: they are in the file until the master takes them over.
        """
        self.lead()
        self.is_in_log = False
        self._is_acting = True
        self.data_version = msgspec.structs.replace(self.data_version, state_version=state_version)

    @property
    def acted(self) -> dict[str, dict[int, int]]:
        """Return the offsets that were committed here for an absent master."""
        found: dict[str, dict[int, int]] = {}
        for key, queue_ids in self._acted.items():
            own = self._offsets.get(key, {})
            found[key] = {one: own[one] for one in queue_ids if one in own}
        return found

    def forget_acted(self) -> None:
        """Note that the master has what was committed here for it."""
        if self._acted:
            self._acted.clear()
            self.change_count += 1

    def take_over(self, theirs: ConsumerOffsetFile) -> int:
        """Take over what a replica has; return the number of changed offsets (S113, S114).

        Its version says whether it acted since. An offset that it took then replaces the own one,
        any other one only if it is higher: committed offsets never go back (I9). On another replica
        they count as its own ones, so that the master gets them.
        """
        own, version = self.data_version, theirs.data_version
        has_acted_since = version.state_version > own.state_version
        is_outdated = own.state_version > version.state_version
        if is_outdated or not (self.is_following or _order_of(own) <= _order_of(version)):
            return 0
        if self.is_following:
            for key, queue_ids in theirs.acted.items():
                self._acted.setdefault(key, {}).update(dict.fromkeys(queue_ids))
        count = 0
        for key, queues in theirs.offsets.items():
            acted = theirs.acted.get(key, ())
            present = self._queues_of(key)
            for queue_id, offset in queues.items():
                former = present.get(queue_id)
                is_newer = former is None or offset > former
                if offset != former and (is_newer or (has_acted_since and queue_id in acted)):
                    present[queue_id] = offset
                    self._note((key, queue_id))
                    count += 1
        self.note_version(version.state_version)
        self.is_in_log = self.is_in_log and not (self.is_following and count)
        return count

    def note_version(self, state_version: int) -> None:
        """Note the state version of another member: a replica that acts exceeds all of them."""
        if state_version > self.data_version.state_version:
            self.data_version = msgspec.structs.replace(
                self.data_version, state_version=state_version
            )
            self.change_count += 1

    def lower(self, end_of: Callable[[str, int], int]) -> int:
        """Move each offset beyond the end of its queue to the end; return the number of moved ones.

        Messages before such an offset are lost, or an older broker accepted a commit beyond the
        end. Otherwise the group would skip as many future messages. The ends of light queues are
        not known here.
        """
        count = 0
        for key, queues in self._offsets.items():
            topic = key.rpartition(SEPARATOR)[0]
            if topic.startswith(LIGHT_QUEUE_PREFIX):
                continue
            for queue_id, offset in queues.items():
                end = end_of(topic, queue_id)
                if offset > end:
                    queues[queue_id] = end
                    self._note((key, queue_id))
                    count += 1
        return count

    def lead(self) -> None:
        """Accept commits, and collect the changes."""
        super().lead()
        self._forget_removals()

    def follow(self) -> None:
        """Accept no commits: another broker is master, or none is known."""
        super().follow()
        self._is_acting = False
        self._forget_removals()

    def take_changes(self) -> OffsetChanges:
        """Return the changes since the last call."""
        offsets: dict[str, dict[int, int]] = {}
        for key, queue_id in self._take():
            offset = self._offsets.get(key, {}).get(queue_id)
            if offset is not None:
                offsets.setdefault(key, {})[queue_id] = offset
        removed = tuple(self._removed_topics), tuple(self._removed_groups)
        queues = {topic: tuple(ids) for topic, ids in self._removed_queues.items()}
        self._forget_removals()
        return OffsetChanges(*removed, queues, offsets)

    def apply(self, changes: OffsetChanges) -> None:
        """Apply the changes of a master."""
        for topic in changes.removed_topics:
            self._drop_topic(topic)
        for group in changes.removed_groups:
            self._drop_group(group)
        for topic, queue_ids in changes.removed_queues.items():
            for queue_id in queue_ids:
                self._drop_queue(topic, queue_id)
        self._merge(changes.offsets)

    def replace(self, offsets: Mapping[str, Mapping[int, int]]) -> None:
        """Replace the content with a master's."""
        self._fill(offsets)
        self.change_count += 1

    def adopt(self, table: ConsumerOffsetFile) -> None:
        """Take over the offsets of a stock master, with their version."""
        self._merge(table.offsets)
        self.data_version = table.data_version

    def topics_of(self, group: str) -> list[str]:
        """Return the topics for which a group has offsets."""
        return [key.rpartition(SEPARATOR)[0] for key in self._by_group.get(group, ())]

    def topics_by_group(self) -> dict[str, list[str]]:
        """Return the topics for which each group has offsets."""
        return {group: self.topics_of(group) for group in self._by_group}

    def of_topic(self, group: str, topic: str) -> dict[int, int]:
        """Return a group's committed offsets in a topic, by queue."""
        return dict(sorted(self._offsets.get(_key(group, topic), {}).items()))

    def groups_of(self, topic: str) -> list[str]:
        """Return the groups that have offsets in a topic."""
        return [key.rpartition(SEPARATOR)[2] for key in self._by_topic.get(topic, ())]

    def remove_group(self, group: str) -> None:
        """Drop a group's offsets in every topic."""
        if self._drop_group(group) and self._changed is not None:
            self._removed_groups[group] = None

    def remove_topic(self, topic: str) -> None:
        """Drop every group's offsets of a topic."""
        if self._drop_topic(topic) and self._changed is not None:
            self._removed_topics[topic] = None

    def remove_queue(self, topic: str, queue_id: int) -> None:
        """Drop every group's offset in one queue, which is about to be used again (H-16)."""
        if self._drop_queue(topic, queue_id) and self._changed is not None:
            self._removed_queues.setdefault(topic, {})[queue_id] = None

    def stamp(self, now_ms: int) -> None:
        """Raise the version of the table before it is saved; a replica keeps its master's."""
        if not self.is_following:
            self.data_version = self.data_version.next(now_ms)

    def as_body(self) -> bytes:
        """Return the table for replicas that do not support records (43)."""
        return java_json.encode(self._document())

    def _fill(self, offsets: Mapping[str, Mapping[int, int]]) -> None:
        for table in (self._offsets, self._by_topic, self._by_group):
            table.clear()
        for key, queues in offsets.items():
            self._queues_of(key).update(queues)

    def _queues_of(self, key: str) -> dict[int, int]:
        """Return the offsets of a topic and group by queue, which may be empty."""
        queues = self._offsets.get(key)
        if queues is None:
            queues = self._offsets[key] = {}
            topic, _, group = key.rpartition(SEPARATOR)
            self._by_topic.setdefault(topic, {})[key] = None
            self._by_group.setdefault(group, {})[key] = None
        return queues

    def _drop_topic(self, topic: str) -> bool:
        return self._drop(list(self._by_topic.get(topic, ())))

    def _drop_group(self, group: str) -> bool:
        return self._drop(list(self._by_group.get(group, ())))

    def _drop(self, keys: list[str]) -> bool:
        for key in keys:
            del self._offsets[key]
            topic, _, group = key.rpartition(SEPARATOR)
            for index, name in ((self._by_topic, topic), (self._by_group, group)):
                del index[name][key]
                if not index[name]:
                    del index[name]
        self.change_count += len(keys)
        return bool(keys)

    def _drop_queue(self, topic: str, queue_id: int) -> bool:
        tables = [self._offsets[key] for key in self._by_topic.get(topic, ())]
        count = sum(queues.pop(queue_id, None) is not None for queues in tables)
        self.change_count += count
        return count > 0

    def _forget_removals(self) -> None:
        self._removed_topics.clear()
        self._removed_groups.clear()
        self._removed_queues.clear()

    def _merge(self, offsets: Mapping[str, Mapping[int, int]]) -> None:
        for key, queues in offsets.items():
            own = self._queues_of(key)
            if not queues.items() <= own.items():
                own.update(queues)
                self.change_count += 1

    def _document(self) -> dict[str, Any]:
        acted = {key: list(queues) for key, queues in self._acted.items()}
        return ({"regentActed": acted} if acted else {}) | {
            "dataVersion": self.data_version,
            "groupTopicMap": self.topics_by_group(),
            "offsetTable": self._offsets,
        }


def _order_of(version: DataVersion) -> tuple[int, int, int]:
    """Return what versions are compared by, as in RocketMQ (control-plane.md 0.4)."""
    return version.state_version, version.counter, version.timestamp_ms


def _key(group: str, topic: str) -> str:
    return topic + SEPARATOR + group
