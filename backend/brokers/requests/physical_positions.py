"""Read the positions of all consumer groups in the physical queues of a topic."""

from collections.abc import Mapping
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
        table = java_json.decode(response.body, _PositionTable).offsets
        # A key is topic@group, and neither part contains the mark.
        named = ((key.rpartition("@"), offsets) for key, offsets in table.items())
        return {group: offsets for (topic, _, group), offsets in named if topic == self.topic}


class _PositionTable(Body, frozen=True, kw_only=True):
    offsets: dict[str, dict[int, int]] = msgspec.field(name="offsetTable", default_factory=dict)
