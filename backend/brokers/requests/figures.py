"""Ask brokers for their figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from backend.brokers.asking import Request
from backend.brokers.errors import UnexpectedAnswer
from backend.remoting import bodies, java_json
from backend.remoting.command import Command
from backend.remoting.request_code import RequestCode
from backend.remoting.sample import BrokerSample

DELAY_PROGRESS: Final = "scheduleMessageOffset_"


@dataclass(frozen=True, slots=True)
class GetBrokerSample(Request[BrokerSample]):
    """Ask an agent for its counters, positions and resources."""

    code = RequestCode.GET_BROKER_SAMPLE

    def read(self, response: Command) -> BrokerSample:
        return msgspec.json.decode(response.body, type=BrokerSample)


@dataclass(frozen=True, slots=True)
class GetRuntimeInfo(Request[Mapping[str, str]]):
    """Ask a broker for its figures, with stock's names."""

    code = RequestCode.GET_BROKER_RUNTIME_INFO

    def read(self, response: Command) -> Mapping[str, str]:
        return java_json.decode(response.body, bodies.KeyValueTable).table


@dataclass(frozen=True, slots=True)
class GetDelayedCount(Request[int]):
    """Ask a broker for the number of waiting messages in its delay levels."""

    code = RequestCode.GET_BROKER_RUNTIME_INFO

    def read(self, response: Command) -> int:
        table = java_json.decode(response.body, bodies.KeyValueTable).table
        delays = [value for key, value in table.items() if key.startswith(DELAY_PROGRESS)]
        try:
            pairs = [tuple(map(int, value.split(","))) for value in delays]
            return sum(max(0, end - delivered) for delivered, end in pairs)
        except ValueError as error:
            raise UnexpectedAnswer(f"its delay levels can't be read: {error}") from error
