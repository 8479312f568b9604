"""Give a master that serves again what this replica did for it: decisions, and what it took late.

Between its last question and its registration clients still commit at the acting replica, and
acknowledge messages. Nothing that was committed or acknowledged may be forgotten (I9). Decisions of
transactions are given only so: a master of RocketMQ takes them as well.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from regent_engine import Command

from backend.remoting import java_json
from backend.remoting.address import split_address
from backend.remoting.bodies.shares import FinishedSharesBody
from backend.remoting.errors import RemotingError
from backend.remoting.headers import UpdateConsumerOffsetHeader, encode_header
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.requester import Requester, connect
from workers.broker.acting.decisions import ESCAPED_AS, Decisions, decision_path
from workers.broker.broker import Broker
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.replication.stock_metadata import ask_table
from workers.broker.shares.finished_shares import FinishedShares, name_of
from workers.broker.tables.consumer_offsets import SEPARATOR, decode_offset_file

RETRY_S: Final = 1.0
_LATER: Final = {ResponseCode.SERVICE_NOT_AVAILABLE, ResponseCode.SYSTEM_BUSY}
_NOT_PASSED: Final = (OSError, TimeoutError, RemotingError, InvalidJson)

log = structlog.get_logger()


Acted = dict[str, dict[int, int]]
"""Offsets by `topic@group` and queue that were committed at this replica while it acted."""


async def settle_own(broker: Broker, own_address: str) -> None:
    """End the transactions that this broker decided as a replica, before it was made the master."""
    decisions = Decisions(decision_path(broker.settings))
    await PassingBack({}, decisions).run(own_address)


class PassingBack:
    """What a master lacks, part by part: a part that it can't take holds back no other part."""

    def __init__(
        self,
        acted: Acted,
        decisions: Decisions,
        *,
        finished: FinishedShares | None = None,
        on_offsets: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Call back once the master has all offsets; decisions may wait for longer."""
        self._acted, self._decisions, self._finished = acted, decisions, finished
        self._on_offsets = on_offsets
        self._are_offsets_left = True

    async def run(self, master_address: str) -> None:
        """Give the master what it lacks; return once it has all of it."""
        reported = ""
        if not self._acted:
            await self._end_offsets()
        while self._are_offsets_left or self._decisions.kept or self._are_shares_left:
            reason = "; ".join(dict.fromkeys(await self._try(master_address)))
            if reason and reason != reported:
                log.warning("state_not_passed_back", master=master_address, reason=reason)
            reported = reason
            if reason:
                await asyncio.sleep(RETRY_S)

    @property
    def _are_shares_left(self) -> bool:
        return self._finished is not None and bool(self._finished.kept)

    async def _try(self, master_address: str) -> list[str]:
        """Pass each part once; return why parts are left."""
        reasons: list[str] = []
        try:
            requester = await connect(split_address(master_address), peer_name="master")
        except _NOT_PASSED as error:
            return [_reason_of(error)]
        try:
            # Committed offsets go back until the master has them, so they come first.
            for pass_part in (self._pass_offsets, self._pass_finished, self._pass_decisions):
                try:
                    await pass_part(requester)
                except _NOT_PASSED as error:
                    reasons.append(_reason_of(error))
        finally:
            requester.close()
        return reasons

    async def _pass_offsets(self, requester: Requester) -> None:
        if self._are_offsets_left:
            count = await _pass_offsets(self._acted, requester)
            log.info("offsets_passed_back", count=count)
            await self._end_offsets()

    async def _end_offsets(self) -> None:
        self._are_offsets_left = False
        if self._on_offsets is not None:
            await self._on_offsets()

    async def _pass_finished(self, requester: Requester) -> None:
        if self._finished is not None:
            await _pass_finished(self._finished, requester)

    async def _pass_decisions(self, requester: Requester) -> None:
        await _pass_decisions(self._decisions, requester)


def _reason_of(error: Exception) -> str:
    return str(error) or "there is no answer in time"


def _is_later(answer: Command) -> bool:
    """Return whether a master may take later what it refused."""
    return answer.code in _LATER or answer.remark == WriteBlock.TOO_FEW_REPLICAS


async def _pass_decisions(decisions: Decisions, requester: Requester) -> None:
    """End the transactions at the master; it answers the same however often it is asked.

    The master may refuse one transaction, whose topic has no queue there, and take the others.

    Raises:
        OSError: the connection is lost, or the master can't take all decisions now.
    """
    refused = ""
    refused_count = 0
    try:
        for position, fields in list(decisions.kept.items()):
            answer = await requester.call(RequestCode.END_TRANSACTION, ext=fields)
            if _is_later(answer):
                refused, refused_count = answer.remark or "", refused_count + 1
                continue
            if answer.code != ResponseCode.SUCCESS and ESCAPED_AS not in fields:
                # Its producer was asked meanwhile, or it was given up.
                log.warning("decision_not_taken", log_position=position, reason=answer.remark)
            decisions.forget(position)
    finally:
        # Once for all of them: each save writes the whole file, and waits for the disk.
        await decisions.save()
    if refused_count:
        raise ConnectionError(f"the master refused {refused_count} decisions: {refused}")


async def _pass_offsets(acted: Acted, requester: Requester) -> int:
    """Return how many offsets the master lacked; a higher one of the master stays.

    Raises:
        OSError: the connection is lost, or the master can't take an offset now.
    """
    theirs, _ = await ask_table(requester, RequestCode.GET_ALL_CONSUMER_OFFSET, decode_offset_file)
    count = 0
    for key, queues in acted.items():
        topic, _, group = key.rpartition(SEPARATOR)
        present = theirs.offsets.get(key, {})
        for queue_id, offset in queues.items():
            if offset <= present.get(queue_id, -1):
                continue
            header = UpdateConsumerOffsetHeader(
                consumer_group=group, topic=topic, queue_id=queue_id, commit_offset=offset
            )
            code = RequestCode.UPDATE_CONSUMER_OFFSET
            answer = await requester.call(code, ext=encode_header(header))
            if _is_later(answer):
                raise ConnectionError(f"the master refused an offset: {answer.remark}")
            if answer.code != ResponseCode.SUCCESS:
                # Its group or topic was deleted since, or is not known there.
                log.warning("offset_not_taken_back", key=key, reason=answer.remark)
                continue
            count += 1
    return count


async def _pass_finished(finished: FinishedShares, requester: Requester) -> None:
    """Finish messages at the master that consumers finished here; some it has already.

    Raises:
        OSError: the connection is lost, or the master can't finish them now.
    """
    after = "", -1, ""
    while page := finished.page(after):
        body = java_json.encode(FinishedSharesBody(shares=page))
        answer = await requester.call(RequestCode.TAKE_FINISHED_SHARES, ext={}, body=body)
        if answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            # RocketMQ has no share queues.
            log.warning("acknowledgements_not_taken", reason=answer.remark)
        elif answer.code != ResponseCode.SUCCESS:
            raise ConnectionError(f"the master refused acknowledgements: {answer.remark}")
        await finished.forget(page)
        after = name_of(page[-1])
