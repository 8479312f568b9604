"""Hold what this broker group keeps of its static topics (`topicQueueMapping.json`).

The file has stock's form, with the rest of the state beside the mappings (logical-queues.md 2.4).
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.errors import InvalidQueueMapping
from backend.domain.logical_queue.mapping import MappingInfo
from backend.domain.logical_queue.stock_json import encode_mapping, read_own_mapping
from backend.remoting import java_json
from backend.remoting.bodies import DataVersion
from backend.remoting.sifting import LeftOut, leave_out, left_out_of
from workers.broker.tables.logged_table import LoggedTable, LoggedTableFile

MAPPINGS: Final = "topicQueueMappingInfoMap"
REST: Final = "regentStaticTopics"
"""Our field: the state of each topic besides its mapping. Stock ignores and drops it."""

StaticTopicListener = Callable[[str, BrokerTopic | None], None]


class _Document(LoggedTableFile, frozen=True, kw_only=True):
    mappings: dict[str, Any] = msgspec.field(name=MAPPINGS, default_factory=dict)
    rest: dict[str, dict[str, Any]] = msgspec.field(name=REST, default_factory=dict)


@dataclass(frozen=True, slots=True)
class StaticTopicFile:
    """The content of `topicQueueMapping.json`."""

    topics: Mapping[str, BrokerTopic] = field(default_factory=dict)
    data_version: DataVersion = field(default_factory=DataVersion)
    is_in_log: bool = False
    log_position: int = 0


def decode_static_topic_file(
    data: bytes, *, broker_name: str
) -> tuple[StaticTopicFile, list[LeftOut]]:
    """Read the file; mappings of other broker groups and malformed ones are left out (L10, D32).

    Raises:
        InvalidJson: the document is malformed.
    """
    document = java_json.decode(data, _Document)
    topics: dict[str, BrokerTopic] = {}
    left_out: list[LeftOut] = []
    for name, value in document.mappings.items():
        try:
            mapping = msgspec.to_builtins(read_own_mapping(value, name, broker_name))
            topics[name] = msgspec.convert(
                document.rest.get(name, {}) | {"mapping": mapping}, BrokerTopic, strict=False
            )
        except (InvalidQueueMapping, msgspec.ValidationError) as error:
            leave_out(left_out, left_out_of((MAPPINGS, name), str(error), value))
    file = StaticTopicFile(topics, document.data_version, document.is_in_log, document.log_position)
    return file, left_out


class StaticTopics(LoggedTable[str]):
    """The static topics of a broker group; each change of one is a whole new value."""

    def __init__(
        self,
        stored: StaticTopicFile | None = None,
        left_out: Iterable[LeftOut] = (),
        *,
        listener: StaticTopicListener,
        clock: Callable[[], int],
    ) -> None:
        """Start with the topics of the file, without a call of the listener."""
        super().__init__(stored, left_out)
        stored = stored or StaticTopicFile()
        self._topics = dict(stored.topics)
        self._listener, self._clock = listener, clock
        self._next_change = asyncio.Event()
        self.data_version = stored.data_version

    def find(self, name: str) -> BrokerTopic | None:
        """Return a static topic; None if there is none of that name."""
        return self._topics.get(name)

    @property
    def all(self) -> Mapping[str, BrokerTopic]:
        """Return the static topics by name."""
        return self._topics

    def find_info(self, name: str) -> MappingInfo | None:
        """Return what is registered of a topic; None if it is not static."""
        topic = self._topics.get(name)
        return None if topic is None else topic.mapping.registered

    async def await_change(self) -> None:
        """Wait until any topic changes."""
        await self._next_change.wait()

    def put(self, name: str, topic: BrokerTopic) -> bool:
        """Add or replace a topic; False when nothing changed."""
        if self._topics.get(name) == topic:
            return False
        self._topics[name] = topic
        self._left_out.pop((MAPPINGS, name), None)
        self._change(name)
        return True

    def remove(self, name: str) -> bool:
        """Drop a topic; False when there was none."""
        is_held = self._topics.pop(name, None) is not None
        if is_held or self._left_out.pop((MAPPINGS, name), None) is not None:
            self._change(name)
            return True
        return False

    def take_changes(self) -> dict[str, BrokerTopic | None]:
        """Return the changes since the last call: the present topics, None for deleted ones."""
        return {name: self._topics.get(name) for name in self._take()}

    def apply(self, changes: Mapping[str, BrokerTopic | None]) -> None:
        """Apply the changes of a master."""
        for name, topic in changes.items():
            if topic is None:
                self.remove(name)
            else:
                self.put(name, topic)

    def replace(self, topics: Mapping[str, BrokerTopic]) -> None:
        """Replace the content with a master's."""
        gone = self._topics.keys() - topics.keys()
        self.apply(dict.fromkeys(gone) | dict(topics))

    def _document(self) -> dict[str, Any]:
        return {
            "dataVersion": self.data_version,
            MAPPINGS: {
                name: msgspec.Raw(encode_mapping(topic.mapping).encode())
                for name, topic in sorted(self._topics.items())
            },
            REST: {name: _rest_of(topic) for name, topic in sorted(self._topics.items())},
        }

    def _change(self, name: str) -> None:
        self.data_version = self.data_version.next(self._clock())
        self._note(name)
        self._next_change.set()
        self._next_change = asyncio.Event()
        self._listener(name, self._topics.get(name))


def _rest_of(topic: BrokerTopic) -> dict[str, Any]:
    rest: dict[str, Any] = msgspec.to_builtins(topic)
    del rest["mapping"]
    return rest
