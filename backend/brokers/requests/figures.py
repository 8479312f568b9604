"""Ask brokers for their figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from backend.brokers.asking import Request
from backend.brokers.errors import UnexpectedAnswer
from backend.domain.group_member import MemberReport
from backend.remoting import bodies, java_json
from backend.remoting.command import Command
from backend.remoting.request_code import RequestCode
from backend.remoting.sample import BrokerSample
from backend.rules.pre_online import PreOnlinePhase

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


@dataclass(frozen=True, slots=True)
class GetMemberReport(Request[MemberReport]):
    """Ask a broker what it does in a group of fixed roles; a page waits for the slowest one."""

    code = RequestCode.GET_BROKER_RUNTIME_INFO
    patience_s = 2.0

    def read(self, response: Command) -> MemberReport:
        table = java_json.decode(response.body, bodies.KeyValueTable).table
        phase, online = table.get("preOnlinePhase"), table.get("online")
        return MemberReport(
            is_online=None if online is None else online == "true",
            not_online_reason=table.get("notOnlineReason") or None,
            pre_online_phase=None if phase is None else PreOnlinePhase(phase),
            pre_online_peer=table.get("preOnlinePeer") or None,
            alive_count=_count(table, "aliveReplicas"),
            in_sync_count=_count(table, "inSyncReplicas"),
            acting_since_ms=_count(table, "actingSince") or None,
            offset_version=_count(table, "offsetVersion"),
            lock_count=_count(table, "lockCount"),
            acted_offset_count=_count(table, "actedOffsetCount"),
            kept_decision_count=_count(table, "keptDecisionCount"),
        )


def _count(table: Mapping[str, str], name: str) -> int | None:
    return int(table[name]) if name in table else None
