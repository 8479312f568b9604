"""Read the positions of all consumer groups in the physical queues of a topic."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import msgspec

from backend.brokers.asking import Request
from backend.remoting import java_json
from backend.remoting.bodies.base import Body
from backend.remoting.command import Command
from backend.remoting.request_code import RequestCode

Positions = Mapping[str, Mapping[int, int]]
"""Physical offsets by consumer group and queue id."""


@dataclass(frozen=True, slots=True)
class GetPhysicalPositions(Request[Positions]):
    """Ask a broker for the positions of all consumer groups in its queues of a topic."""

    code = RequestCode.GET_ALL_CONSUMER_OFFSET

    topic: str

    def read(self, response: Command) -> Positions:
        return _read(response, {self.topic})[self.topic]


@dataclass(frozen=True, slots=True)
class GetPositionsInTopics(Request[Mapping[str, Positions]]):
    """Ask a broker for the positions of all consumer groups in its queues of some topics."""

    code = RequestCode.GET_ALL_CONSUMER_OFFSET

    topics: Collection[str]

    def read(self, response: Command) -> Mapping[str, Positions]:
        return _read(response, self.topics)


def _read(response: Command, topics: Collection[str]) -> dict[str, dict[str, dict[int, int]]]:
    found: dict[str, dict[str, dict[int, int]]] = {topic: {} for topic in topics}
    for key, offsets in java_json.decode(response.body, _PositionTable).offsets.items():
        # A key is topic@group, and neither part contains the mark.
        topic, _, group = key.rpartition("@")
        if topic in found:
            found[topic][group] = offsets
    return found


class _PositionTable(Body, frozen=True, kw_only=True):
    offsets: dict[str, dict[int, int]] = msgspec.field(name="offsetTable", default_factory=dict)
