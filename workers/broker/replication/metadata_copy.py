"""Keep a replica's topics and groups like its master's (storage-and-ha.md 9.10).

What the master has is taken over; what only this broker has stays, for absence is no deletion.
Offsets and delays come in the log (D14), but not from a master of stock: those are asked for, so
that a failover may find what they were up to `COPY_INTERVAL_S` ago.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

import structlog

from backend.remoting import java_json
from backend.remoting.bodies import SubscriptionGroupTable, TopicConfigTable
from backend.remoting.errors import RemotingError
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.broker import Broker
from workers.broker.consumer_offsets import ConsumerOffsetFile
from workers.broker.delay_delivery import DelayOffsetFile
from workers.broker.replication.state_journal import StateJournal
from workers.broker.requester import Requester, connect, split_address

COPY_INTERVAL_S: Final = 1.0

T = TypeVar("T")

log = structlog.get_logger()


class MetadataCopy:
    """Asks one master again and again."""

    def __init__(self, broker: Broker, journal: StateJournal, master_address: str) -> None:
        self._broker, self._journal, self._address = broker, journal, master_address

    async def run(self) -> None:
        """Copy until cancelled."""
        reported = ""
        while True:
            try:
                await self._stay()
            except (OSError, TimeoutError, RemotingError, InvalidJson) as error:
                reason = str(error) or type(error).__name__
                if reason != reported:
                    log.warning("metadata_not_copied", master=self._address, reason=reason)
                reported = reason
            await asyncio.sleep(COPY_INTERVAL_S)

    async def _stay(self) -> None:
        host, port = split_address(self._address)
        requester = await connect(host, port, peer_name="master", on_close=_do_nothing)
        try:
            while True:
                await self.copy(requester)
                await asyncio.sleep(COPY_INTERVAL_S)
        finally:
            requester.close()

    async def copy(self, requester: Requester) -> None:
        """Take over what the master has.

        Raises:
            OSError: the master is gone or refused.
            TimeoutError: it does not answer.
            InvalidJson: its answer cannot be read.
        """
        topics, groups = (
            RequestCode.GET_ALL_TOPIC_CONFIG,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        )
        await self._take(requester, topics, TopicConfigTable, self._take_topics)
        await self._take(requester, groups, SubscriptionGroupTable, self._take_groups)
        if self._journal.has_word_of_master:
            return
        offsets, delays = RequestCode.GET_ALL_CONSUMER_OFFSET, RequestCode.GET_ALL_DELAY_OFFSET
        await self._take(requester, offsets, ConsumerOffsetFile, self._take_offsets)
        await self._take(requester, delays, DelayOffsetFile, self._take_delays)
        self._journal.overrule()

    async def _take(
        self, requester: Requester, code: int, kind: type[T], adopt: Callable[[T], None]
    ) -> None:
        answer = await requester.call(code, ext={})
        if answer.code != ResponseCode.SUCCESS:
            raise ConnectionError(f"the master refused {code}: {answer.remark}")
        adopt(java_json.decode(answer.body, kind))

    def _take_topics(self, table: TopicConfigTable) -> None:
        if self._broker.topics.adopt(table):
            self._broker.state.topic_saver.touch()
            if self._broker.name_servers is not None:
                self._broker.name_servers.poke()

    def _take_groups(self, table: SubscriptionGroupTable) -> None:
        if self._broker.groups.adopt(table):
            self._broker.hot.revoke_pulls()
            self._broker.state.group_saver.touch()

    def _take_offsets(self, table: ConsumerOffsetFile) -> None:
        self._broker.offsets.adopt(table)

    def _take_delays(self, table: DelayOffsetFile) -> None:
        self._broker.state.delays.adopt(table)


def _do_nothing() -> None:
    """Who asks finds out by itself that the connection is gone."""
