"""Copy the metadata of a stock master, which writes no records.

The requests are those of a stock replica (storage-and-ha.md 9.10).

The data of such a master is added; items that only this broker has stay, since absence is no
deletion. After a failover, topics, groups, offsets and delays are up to `COPY_INTERVAL_S` old. A
master of ours writes all of them to the log (D14), and is not asked.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeVar

import structlog

from backend.remoting.address import split_address
from backend.remoting.bodies import decode_group_table, decode_topic_table
from backend.remoting.errors import RemotingError
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.remoting.sifting import LeftOut
from backend.requester import Requester, connect
from workers.broker.broker import Broker
from workers.broker.commit_log.delay_delivery import decode_delay_file
from workers.broker.replication.master_inquiry import ask_master
from workers.broker.replication.state_journal import StateJournal
from workers.broker.tables.consumer_offsets import decode_offset_file

COPY_INTERVAL_S: Final = 1.0

T = TypeVar("T")

log = structlog.get_logger()


class StockMetadata:
    """Asks one master periodically, unless it is one of ours."""

    def __init__(self, broker: Broker, journal: StateJournal, master_address: str) -> None:
        self._broker, self._journal, self._address = broker, journal, master_address

    async def run(self) -> None:
        """Copy until cancelled, or until it is known that the log contains everything."""
        reported = ""
        while True:
            try:
                if (await ask_master(self._address)).is_ours:
                    return
                await self._stay()
            except (OSError, TimeoutError, RemotingError, InvalidJson) as error:
                reason = str(error) or type(error).__name__
                if reason != reported:
                    log.warning("metadata_not_copied", master=self._address, reason=reason)
                reported = reason
            await asyncio.sleep(COPY_INTERVAL_S)

    async def _stay(self) -> None:
        requester = await connect(split_address(self._address), peer_name="master")
        try:
            while True:
                await self.copy(requester)
                await asyncio.sleep(COPY_INTERVAL_S)
        finally:
            requester.close()

    async def copy(self, requester: Requester) -> None:
        """Take over the master's data.

        Raises:
            OSError: the connection is lost, or the master refused.
            TimeoutError: it does not answer.
            InvalidJson: its answer cannot be read.
        """
        broker = self._broker
        ask = partial(ask_table, requester)
        topics, topics_left_out = await ask(RequestCode.GET_ALL_TOPIC_CONFIG, decode_topic_table)
        groups, groups_left_out = await ask(
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, decode_group_table
        )
        offsets, offsets_left_out = await ask(
            RequestCode.GET_ALL_CONSUMER_OFFSET, decode_offset_file
        )
        delays, delays_left_out = await ask(RequestCode.GET_ALL_DELAY_OFFSET, decode_delay_file)
        broker.topics.adopt(topics, topics_left_out)
        broker.groups.adopt(groups, groups_left_out)
        broker.offsets.adopt(offsets)
        broker.offsets.keep_aside(offsets_left_out)
        broker.state.delays.adopt(delays)
        broker.state.delays.keep_aside(delays_left_out)
        self._journal.overrule()
        # Refused by a broker without timers.
        timers = await requester.call(RequestCode.GET_TIMER_CHECK_POINT, ext={})
        if timers.code == ResponseCode.SUCCESS:
            broker.timers.adopt(timers.body)


async def ask_table(
    requester: Requester,
    code: int,
    decode: Callable[[bytes], tuple[T, list[LeftOut]]],
    *,
    ext: Mapping[str, str] | None = None,
) -> tuple[T, list[LeftOut]]:
    """Return a table of another member of the group, and what can't be served of it.

    Raises:
        OSError: the connection is lost, or the broker refused.
        TimeoutError: it does not answer.
        InvalidJson: its answer cannot be read.
    """
    answer = await requester.call(code, ext=ext or {})
    if answer.code != ResponseCode.SUCCESS:
        raise ConnectionError(f"the broker refused {code}: {answer.remark}")
    return decode(answer.body)
