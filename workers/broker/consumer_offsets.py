"""Hold the committed offsets of all groups (`consumerOffset.json`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from workers.broker.logged_table import LoggedTable, LoggedTableFile

SEPARATOR: Final = "@"


class ConsumerOffsetFile(LoggedTableFile, frozen=True, kw_only=True):
    """The stock shape of the file; `groupTopicMap` is derived and not read."""

    offsets: dict[str, dict[int, int]] = msgspec.field(name="offsetTable", default_factory=dict)


@dataclass(frozen=True, slots=True)
class OffsetChanges:
    """Topics whose offsets are forgotten, and then offsets by `topic@group` and queue."""

    removed_topics: tuple[str, ...] = ()
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


class ConsumerOffsets(LoggedTable):
    """Queue offsets by topic and group; the last commit wins, also when it goes back.

    In a group they travel in the log: its master notes what changes, for its records, and the
    others take no commits (D14).
    """

    def __init__(self, stored: ConsumerOffsetFile | None = None) -> None:
        super().__init__(stored)
        offsets = stored.offsets if stored else {}
        self._offsets = {key: dict(queues) for key, queues in offsets.items()}
        self._takes_commits = True
        # By key and queue; None where nobody asks for changes.
        self._changed: set[tuple[str, int]] | None = None
        self._removed_topics: list[str] = []

    @property
    def table(self) -> Mapping[str, Mapping[int, int]]:
        """Give every offset by `topic@group` and queue."""
        return self._offsets

    @property
    def has_changes(self) -> bool:
        """Tell whether anything changed since changes were taken last."""
        return bool(self._changed or self._removed_topics)

    def find(self, group: str, topic: str, queue_id: int) -> int | None:
        """Give a committed offset; None when the group never committed there."""
        return self._offsets.get(_key(group, topic), {}).get(queue_id)

    def commit(self, group: str, topic: str, *, queue_id: int, offset: int) -> None:
        """Record how far a group is in a queue; nothing while another broker is master."""
        if not self._takes_commits:
            return
        key = _key(group, topic)
        queues = self._offsets.setdefault(key, {})
        if queues.get(queue_id) != offset:
            queues[queue_id] = offset
            self.change_count += 1
            if self._changed is not None:
                self._changed.add((key, queue_id))

    def lead(self) -> None:
        """Take commits from now on, and note what changes."""
        self._takes_commits = True
        self._changed = set()
        self._removed_topics = []

    def follow(self) -> None:
        """Take no commits: another broker is master, or nobody is known to be."""
        self._takes_commits = False
        self._changed = None
        self._removed_topics = []

    def take_changes(self) -> OffsetChanges:
        """Give what changed since the last call."""
        offsets: dict[str, dict[int, int]] = {}
        for key, queue_id in self._changed or ():
            offset = self._offsets.get(key, {}).get(queue_id)
            if offset is not None:
                offsets.setdefault(key, {})[queue_id] = offset
        changes = OffsetChanges(tuple(self._removed_topics), offsets)
        if self._changed is not None:
            self._changed.clear()
        self._removed_topics = []
        return changes

    def apply(self, changes: OffsetChanges) -> None:
        """Take over what changed on a master."""
        for topic in changes.removed_topics:
            self._drop(topic)
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

    def of_topic(self, group: str, topic: str) -> dict[int, int]:
        """Give a group's committed offsets in a topic, by queue."""
        return dict(sorted(self._offsets.get(_key(group, topic), {}).items()))

    def groups_of(self, topic: str) -> list[str]:
        """Name the groups that have offsets in a topic."""
        keys = (key.rpartition(SEPARATOR) for key in self._offsets)
        return [group for name, _, group in keys if name == topic]

    def remove_group(self, group: str) -> None:
        """Forget a group's offsets in every topic."""
        for key in [key for key in self._offsets if key.rpartition(SEPARATOR)[2] == group]:
            del self._offsets[key]
            self.change_count += 1

    def remove_topic(self, topic: str) -> None:
        """Forget every group's offsets of a topic."""
        if self._drop(topic) and self._changed is not None:
            self._removed_topics.append(topic)

    def _drop(self, topic: str) -> bool:
        prefix = topic + SEPARATOR
        dropped = [key for key in self._offsets if key.startswith(prefix)]
        for key in dropped:
            del self._offsets[key]
        self.change_count += len(dropped)
        return bool(dropped)

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
