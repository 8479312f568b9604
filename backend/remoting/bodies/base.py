"""The form that all bodies share: structs spelled on the wire in camel case."""

from typing import TypeVar

import msgspec

from backend.remoting import java_json
from backend.remoting.integers import Int32
from backend.remoting.java_json import InvalidJson

BodyT = TypeVar("BodyT")


class Body(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """One JSON object of the protocol; unknown members are ignored on reading."""


class DataVersion(Body, frozen=True, kw_only=True):
    """A version of some broker state; two versions are equal when all three members are."""

    counter: int = 0
    state_version: int = 0
    timestamp_ms: int = msgspec.field(name="timestamp", default=0)

    def next(self, now_ms: int) -> "DataVersion":
        """Return the version of the state after one more change."""
        return DataVersion(
            counter=self.counter + 1, state_version=self.state_version, timestamp_ms=now_ms
        )


class MessageQueue(Body, frozen=True, kw_only=True):
    """One queue of a topic on one broker group."""

    broker_name: str = ""
    queue_id: Int32 = 0
    topic: str = ""


class KeyValueTable(Body, frozen=True, kw_only=True):
    """A flat table of strings (28, 103, 219)."""

    table: dict[str, str] = msgspec.field(default_factory=dict)


def decode_queue_table(data: bytes, kind: type[BodyT]) -> list[tuple[MessageQueue, BodyT]]:
    """Decode a table whose keys are queues (remoting.md 3.2), by topic and queue.

    Raises:
        InvalidJson: the document is malformed, or is not such a table.
    """
    content = java_json.loads(data)
    try:
        found = [
            (
                java_json.decode(key.encode(), MessageQueue),
                msgspec.convert(value, kind, strict=False),
            )
            for key, value in content["offsetTable"].items()
        ]
    except (msgspec.ValidationError, LookupError, TypeError, AttributeError) as error:
        raise InvalidJson(str(error)) from error
    return sorted(found, key=lambda one: (one[0].topic, one[0].queue_id))
