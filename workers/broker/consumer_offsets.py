"""Hold the committed offsets of all groups (`consumerOffset.json`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.names import LIGHT_QUEUE_PREFIX
from workers.broker.logged_table import LoggedTable, LoggedTableFile

SEPARATOR: Final = "@"


class ConsumerOffsetFile(LoggedTableFile, frozen=True, kw_only=True):
    """The stock shape of the file; `groupTopicMap` is derived and not read."""

    offsets: dict[str, dict[int, int]] = msgspec.field(name="offsetTable", default_factory=dict)


@dataclass(frozen=True, slots=True)
class OffsetChanges:
    """Topics and groups whose offsets are forgotten, then offsets by `topic@group` and queue."""

    removed_topics: tuple[str, ...] = ()
    removed_groups: tuple[str, ...] = ()
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


class ConsumerOffsets(LoggedTable[tuple[str, int]]):
    """Queue offsets by topic and group; the last commit wins, also when it goes back.

    In a group they travel in the log: its master notes what changes, for its records, and the
    others take no commits (D14).
    """

    def __init__(self, stored: ConsumerOffsetFile | None = None) -> None:
        super().__init__(stored)
        self.data_version: DataVersion = stored.data_version if stored else DataVersion()
        offsets = stored.offsets if stored else {}
        self._offsets = {key: dict(queues) for key, queues in offsets.items()}
        self._removed_topics: dict[str, None] = {}
        self._removed_groups: dict[str, None] = {}

    @property
    def table(self) -> Mapping[str, Mapping[int, int]]:
        """Give every offset by `topic@group` and queue."""
        return self._offsets

    @property
    def has_changes(self) -> bool:
        """Tell whether anything changed since changes were taken last."""
        return bool(self._changed or self._removed_topics or self._removed_groups)

    def find(self, group: str, topic: str, queue_id: int) -> int | None:
        """Give a committed offset; None when the group never committed there."""
        return self._offsets.get(_key(group, topic), {}).get(queue_id)

    def commit(self, group: str, topic: str, *, queue_id: int, offset: int) -> None:
        """Record how far a group is in a queue; nothing while another broker is master."""
        if self.is_following:
            return
        key = _key(group, topic)
        queues = self._offsets.setdefault(key, {})
        if queues.get(queue_id) != offset:
            queues[queue_id] = offset
            self._note((key, queue_id))

    def lower(self, end_of: Callable[[str, int], int]) -> int:
        """Put each offset that is behind the end of its queue there; give how many were.

        Messages before such an offset are lost, or an older broker took a commit beyond the end. A
        group that stayed there would pass over as many messages that come. Where light queues end
        is not known here.
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
        """Take commits from now on, and note what changes."""
        super().lead()
        self._forget_removals()

    def follow(self) -> None:
        """Take no commits: another broker is master, or nobody is known to be."""
        super().follow()
        self._forget_removals()

    def take_changes(self) -> OffsetChanges:
        """Give what changed since the last call."""
        offsets: dict[str, dict[int, int]] = {}
        for key, queue_id in self._take():
            offset = self._offsets.get(key, {}).get(queue_id)
            if offset is not None:
                offsets.setdefault(key, {})[queue_id] = offset
        removed = tuple(self._removed_topics), tuple(self._removed_groups)
        self._forget_removals()
        return OffsetChanges(*removed, offsets)

    def apply(self, changes: OffsetChanges) -> None:
        """Take over what changed on a master."""
        for topic in changes.removed_topics:
            self._drop_topic(topic)
        for group in changes.removed_groups:
            self._drop_group(group)
        self._merge(changes.offsets)

    def replace(self, offsets: Mapping[str, Mapping[int, int]]) -> None:
        """Take over all that a master has, and forget all else."""
        self._offsets = {key: dict(queues) for key, queues in offsets.items()}
        self.change_count += 1

    def adopt(self, table: ConsumerOffsetFile) -> None:
        """Take over the offsets that a master of stock tells."""
        self._merge(table.offsets)

    def topics_of(self, group: str) -> list[str]:
        """Name the topics that a group has offsets for."""
        keys = (key.rpartition(SEPARATOR) for key in self._offsets)
        return [topic for topic, _, name in keys if name == group]

    def topics_by_group(self) -> dict[str, list[str]]:
        """Name the topics that each group has offsets for."""
        topics: dict[str, list[str]] = {}
        for key in self._offsets:
            topic, _, group = key.rpartition(SEPARATOR)
            topics.setdefault(group, []).append(topic)
        return topics

    def of_topic(self, group: str, topic: str) -> dict[int, int]:
        """Give a group's committed offsets in a topic, by queue."""
        return dict(sorted(self._offsets.get(_key(group, topic), {}).items()))

    def groups_of(self, topic: str) -> list[str]:
        """Name the groups that have offsets in a topic."""
        keys = (key.rpartition(SEPARATOR) for key in self._offsets)
        return [group for name, _, group in keys if name == topic]

    def remove_group(self, group: str) -> None:
        """Forget a group's offsets in every topic."""
        if self._drop_group(group) and self._changed is not None:
            self._removed_groups[group] = None

    def remove_topic(self, topic: str) -> None:
        """Forget every group's offsets of a topic."""
        if self._drop_topic(topic) and self._changed is not None:
            self._removed_topics[topic] = None

    def stamp(self, now_ms: int) -> None:
        """Give the table a new version before it is saved."""
        self.data_version = self.data_version.next(now_ms)

    def as_body(self) -> bytes:
        """Give the table as replicas read it that do not know of records (43)."""
        return java_json.encode(self._document())

    def _drop_topic(self, topic: str) -> bool:
        prefix = topic + SEPARATOR
        return self._drop([key for key in self._offsets if key.startswith(prefix)])

    def _drop_group(self, group: str) -> bool:
        return self._drop([key for key in self._offsets if key.rpartition(SEPARATOR)[2] == group])

    def _drop(self, keys: list[str]) -> bool:
        for key in keys:
            del self._offsets[key]
        self.change_count += len(keys)
        return bool(keys)

    def _forget_removals(self) -> None:
        self._removed_topics.clear()
        self._removed_groups.clear()

    def _merge(self, offsets: Mapping[str, Mapping[int, int]]) -> None:
        for key, queues in offsets.items():
            own = self._offsets.setdefault(key, {})
            if not queues.items() <= own.items():
                own.update(queues)
                self.change_count += 1

    def _document(self) -> dict[str, Any]:
        topics_by_group: dict[str, list[str]] = {}
        for key in self._offsets:
            topic, _, group = key.rpartition(SEPARATOR)
            topics_by_group.setdefault(group, []).append(topic)
        return {
            "dataVersion": self.data_version,
            "groupTopicMap": topics_by_group,
            "offsetTable": self._offsets,
        }


def _key(group: str, topic: str) -> str:
    return topic + SEPARATOR + group
