"""Ask brokers, by address, for what only they know or can do."""

import asyncio
from typing import Final

import msgspec

from backend.clients.broker_answers import BrokerRefused
from backend.clients.broker_changes import BrokerChanges
from backend.clients.client_requests import ClientRequests
from backend.clients.group_requests import GroupRequests
from backend.clients.message_requests import MessageRequests
from backend.clients.offset_requests import OffsetRequests
from backend.clients.property_requests import PropertyRequests
from backend.clients.queue_requests import QueueRequests
from backend.clients.remoting_client import BrokerUnreachable
from backend.clients.send_requests import SendRequests
from backend.domain.epochs import EpochSpan, LogHistory
from backend.domain.replica_identity import Teller
from backend.domain.replica_lag import LogPosition
from backend.remoting import java_json
from backend.remoting.bodies.controller import EpochsBody, HaStatusBody
from backend.remoting.headers import encode_header
from backend.remoting.headers.replication import HandOverHeader
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.remoting.sample import BrokerSample

__all__ = ["BrokerRefused", "BrokerSample", "BrokerUnreachable", "Brokers"]

UNBOUNDED: Final = 2**63 - 1
HAND_OVER_S_MAX: Final = 0.3


class Brokers(
    BrokerChanges,
    ClientRequests,
    GroupRequests,
    MessageRequests,
    OffsetRequests,
    PropertyRequests,
    QueueRequests,
    SendRequests,
):
    """Speak to brokers over remoting connections that are kept open."""

    async def sample(self, address: str) -> BrokerSample:
        """Ask an agent for its counters, positions and resources.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, as a stock broker's is, or no sample.
        """
        response = await self._client.request(address, RequestCode.GET_BROKER_SAMPLE)
        if response.code != ResponseCode.SUCCESS:
            raise BrokerRefused(address, f"code {response.code}, {response.remark}")
        try:
            return msgspec.json.decode(response.body, type=BrokerSample)
        except msgspec.DecodeError as error:
            raise BrokerRefused(address, f"unreadable sample: {error}") from error

    async def history(self, address: str) -> LogHistory:
        """Ask a broker under a controller which epoch wrote which part of its log (1007).

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the broker is under no controller, or its answer can't be read.
        """
        response = await self._client.request(address, RequestCode.GET_BROKER_EPOCH_CACHE)
        if response.code != ResponseCode.SUCCESS:
            raise BrokerRefused(address, f"code {response.code}, {response.remark}")
        try:
            body = java_json.decode(response.body, EpochsBody)
        except InvalidJson as error:
            raise BrokerRefused(address, f"unreadable epochs: {error}") from error
        spans = tuple(
            EpochSpan(
                entry.epoch,
                entry.start_offset,
                None if entry.end_offset == UNBOUNDED else entry.end_offset,
            )
            for entry in body.epochs
        )
        teller = Teller(body.cluster_name, body.broker_name, body.broker_id)
        return LogHistory(spans, body.max_offset, teller)

    async def log_position(self, address: str) -> LogPosition:
        """Ask a broker under a controller where its log ends and how it follows its master (907).

        Who it is it says elsewhere (1007): another broker may have the address by now.

        Raises:
            BrokerUnreachable: nobody answers there, or not in time.
            BrokerRefused: the answer is an error, or can't be read.
        """
        teller = (await self.history(address)).told_by
        response = await self._client.request(address, RequestCode.GET_BROKER_HA_STATUS)
        if response.code != ResponseCode.SUCCESS:
            raise BrokerRefused(address, f"code {response.code}, {response.remark}")
        try:
            body = java_json.decode(response.body, HaStatusBody)
        except InvalidJson as error:
            raise BrokerRefused(address, f"unreadable replication status: {error}") from error
        if body.is_master:
            return LogPosition(
                body.max_position, is_following=False, bytes_per_second=0, told_by=teller
            )
        client = body.client
        # One that follows nobody yet tells 0, whatever it holds.
        is_known = client.is_connected or client.max_offset > 0
        return LogPosition(
            client.max_offset if is_known else None,
            is_following=client.is_connected,
            bytes_per_second=client.bytes_per_second,
            obstacle=client.obstacle or None,
            told_by=teller,
        )

    async def hand_over(self, address: str, *, master_epoch: int) -> None:
        """Have a master confirm what it took and take no more for a moment (7002).

        Raises:
            BrokerUnreachable: it does not answer in time; it may do it nevertheless.
            BrokerRefused: it does not do it, as a stock broker, or goes on already.
        """
        ext = encode_header(HandOverHeader(master_epoch=master_epoch))
        try:
            async with asyncio.timeout(HAND_OVER_S_MAX):
                response = await self._client.request(address, RequestCode.HAND_OVER, ext=ext)
        except TimeoutError as error:
            reason = f"it did not hand over within {HAND_OVER_S_MAX:g} s"
            raise BrokerUnreachable(address, reason) from error
        if response.code != ResponseCode.SUCCESS:
            raise BrokerRefused(address, f"code {response.code}, {response.remark}")
