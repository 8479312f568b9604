"""Ask brokers under a controller about their logs, and have a master hand over."""

from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Brokers, Inquiry, Request
from backend.domain.epochs import EpochSpan, LogHistory
from backend.domain.replica_identity import Reporter
from backend.domain.replica_lag import LogPosition
from backend.remoting import java_json
from backend.remoting.bodies.controller import EpochsBody, HaStatusBody
from backend.remoting.command import Command
from backend.remoting.headers.replication import HandOverHeader
from backend.remoting.request_code import RequestCode

UNBOUNDED: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class GetLogHistory(Request[LogHistory]):
    """Ask a broker which epoch wrote which part of its log."""

    code = RequestCode.GET_BROKER_EPOCH_CACHE

    def read(self, response: Command) -> LogHistory:
        body = java_json.decode(response.body, EpochsBody)
        spans = tuple(
            EpochSpan(
                entry.epoch,
                entry.start_offset,
                None if entry.end_offset == UNBOUNDED else entry.end_offset,
            )
            for entry in body.epochs
        )
        reporter = Reporter(body.cluster_name, body.broker_name, body.broker_id)
        return LogHistory(spans, body.max_offset, reporter)


@dataclass(frozen=True, slots=True)
class _GetHaStatus(Request[HaStatusBody]):
    code = RequestCode.GET_BROKER_HA_STATUS

    def read(self, response: Command) -> HaStatusBody:
        return java_json.decode(response.body, HaStatusBody)


@dataclass(frozen=True, slots=True)
class GetLogPosition(Inquiry[LogPosition]):
    """Ask a broker for the end of its log, and how it follows its master.

    Its epochs identify the broker: another broker may use the address now.
    """

    async def put(self, brokers: Brokers, address: str) -> LogPosition:
        reporter = (await brokers.ask(address, GetLogHistory())).reported_by
        body = await brokers.ask(address, _GetHaStatus())
        if body.is_master:
            return LogPosition(
                body.max_position, is_following=False, bytes_per_second=0, reported_by=reporter
            )
        client = body.client
        # A replica that does not follow a master yet reports 0, regardless of its log.
        is_known = client.is_connected or client.max_offset > 0
        return LogPosition(
            client.max_offset if is_known else None,
            is_following=client.is_connected,
            bytes_per_second=client.bytes_per_second,
            obstacle=client.obstacle or None,
            reported_by=reporter,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver(Request[None]):
    """Have a master confirm all its messages, and accept no more for a short time.

    The epoch replaces a fencing number. A master that did not answer in time may still do it.
    """

    code = RequestCode.HAND_OVER
    header_type = HandOverHeader
    patience_s = 0.3

    master_epoch: int

    def read(self, _response: Command) -> None:
        return None
