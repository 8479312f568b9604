"""Hold the committed offsets of all groups (`consumerOffset.json`)."""

from typing import Any

import msgspec

from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.bodies.base import Body

SEPARATOR = "@"


class ConsumerOffsetFile(Body, frozen=True, kw_only=True):
    """The stock shape of the file; `groupTopicMap` is derived and not read."""

    data_version: DataVersion = DataVersion()
    offsets: dict[str, dict[int, int]] = msgspec.field(name="offsetTable", default_factory=dict)


class ConsumerOffsets:
    """Queue offsets by topic and group; the last commit wins, also when it goes back."""

    def __init__(self, stored: ConsumerOffsetFile | None = None) -> None:
        stored = stored or ConsumerOffsetFile()
        self._offsets = {key: dict(queues) for key, queues in stored.offsets.items()}
        self.data_version: DataVersion = stored.data_version
        self.change_count = 0

    def find(self, group: str, topic: str, queue_id: int) -> int | None:
        """Give a committed offset; None when the group never committed there."""
        return self._offsets.get(_key(group, topic), {}).get(queue_id)

    def commit(self, group: str, topic: str, *, queue_id: int, offset: int) -> None:
        """Record how far a group is in a queue."""
        queues = self._offsets.setdefault(_key(group, topic), {})
        if queues.get(queue_id) != offset:
            queues[queue_id] = offset
            self.change_count += 1

    def adopt(self, table: ConsumerOffsetFile) -> None:
        """Take over the offsets that a master knows."""
        for key, queues in table.offsets.items():
            own = self._offsets.setdefault(key, {})
            if own != own | queues:
                own.update(queues)
                self.change_count += 1

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
        prefix = topic + SEPARATOR
        for key in [key for key in self._offsets if key.startswith(prefix)]:
            del self._offsets[key]
            self.change_count += 1

    def stamp(self, now_ms: int) -> None:
        """Give the table a new version before it is saved."""
        self.data_version = self.data_version.next(now_ms)

    def as_file(self) -> bytes:
        """Give the content of `consumerOffset.json`."""
        topics_by_group: dict[str, list[str]] = {}
        for key in self._offsets:
            topic, _, group = key.rpartition(SEPARATOR)
            topics_by_group.setdefault(group, []).append(topic)
        document: dict[str, Any] = {
            "dataVersion": self.data_version,
            "groupTopicMap": topics_by_group,
            "offsetTable": self._offsets,
        }
        return java_json.encode(document)


def _key(group: str, topic: str) -> str:
    return topic + SEPARATOR + group
