"""Have the control plane confirm mappings before queues take messages (INV-34, L47, L50).

A broker group that was away, or that the control plane could not reach, may have lost queues. So it
asks for newer mappings after each start, each election, and each end of its lease. Until the answer
its logical queues take no messages; sends wait for a moment, as at a sealed queue.
"""

import asyncio
from typing import TYPE_CHECKING, Final

import structlog
from regent_engine import Command, StoreError

from backend.domain.logical_queue import broker_copy
from backend.domain.logical_queue.errors import (
    InvalidQueueMapping,
    QueueChangeRefused,
    QueueEpochFenced,
)
from backend.domain.logical_queue.mapping import QueueCounts
from backend.domain.logical_queue.stock_json import decode_mapping
from backend.remoting import java_json
from backend.remoting.bodies.logical_queues import HeldEpochs, NewerMapping, NewerMappings
from backend.remoting.errors import RemotingError
from backend.remoting.headers import BrokerMemberGroupHeader, encode_header
from backend.remoting.java_json import InvalidJson
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from workers.broker.errors import Refusal
from workers.broker.group.required_role import RequiredRole
from workers.broker.logical.copies import find_copy, put_copy

if TYPE_CHECKING:
    from workers.broker.broker import Broker

RETRY_S: Final = 0.1

log = structlog.get_logger()


class Confirmation:
    """The confirmation of this broker group's mappings; belongs to the loop's thread."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._is_due = asyncio.Event()
        self._may_lead = False
        self._reported = ""

    def follow(self, *, may_lead: bool) -> None:
        """Note whether this broker is master with a lease: each time it becomes so, ask."""
        if may_lead == self._may_lead:
            return
        self._may_lead = may_lead
        if may_lead:
            self._is_due.set()
        else:
            self._is_due.clear()
            self._broker.withdraw_queues()

    def refresh(self) -> None:
        """Ask again: a name server knows a newer mapping. Queues take messages meanwhile."""
        if self._may_lead:
            self._is_due.set()

    async def run(self) -> None:
        """Ask whenever that is due, until cancelled."""
        while True:
            await self._is_due.wait()
            self._is_due.clear()
            try:
                self._take(await self._ask())
            except (OSError, RemotingError, InvalidJson, StoreError, Refusal) as error:
                self._report(str(error) or "there is no answer in time")
                await asyncio.sleep(RETRY_S)
                if self._may_lead:
                    self._is_due.set()

    async def _ask(self) -> NewerMappings:
        """Return the newer mappings that the control plane has.

        Raises:
            OSError: no name server answers, or Postgres does not. InvalidJson: the answer is
            malformed.
        """
        broker, source = self._broker, self._broker.name_servers
        held = {name: one.info.epoch for name, one in broker.static_topics.all.items()}
        if not held or source is None or source.is_none:
            return NewerMappings()
        header = BrokerMemberGroupHeader(
            cluster_name=broker.settings.cluster_name, broker_name=broker.settings.broker_name
        )
        body = java_json.encode(HeldEpochs(epochs=held))
        reply = await source.ask(RequestCode.GET_NEWER_MAPPINGS, encode_header(header), body)
        return _decode(reply)

    def _take(self, found: NewerMappings) -> None:
        """Store newer mappings, and let queues take messages.

        Topics whose mapping can't be stored wait for another one. Such a topic holds up no other
        one, also if its layout is missing or can't be served.

        Raises:
            Refusal: this broker is not master any more. StoreError: the log takes no record.
        """
        if not self._may_lead or self._is_due.is_set():
            # The lease ended, and perhaps began again, while the answer was on its way.
            return
        self._broker.membership.check(RequiredRole.MASTER_CHANGES)
        outdated = set()
        for name, newer in found.topics.items():
            try:
                self._store(name, newer)
            except (InvalidQueueMapping, QueueChangeRefused, QueueEpochFenced, Refusal) as error:
                log.error(  # noqa: TRY400 - the reason is complete
                    "static_topic_outdated", topic_name=name, reason=str(error)
                )
                outdated.add(name)
        self._broker.confirm_queues(frozenset(outdated))
        self._report("")

    def _store(self, name: str, newer: NewerMapping) -> None:
        held = find_copy(self._broker, name)
        static = broker_copy.store(
            held,
            decode_mapping(bytes(newer.mapping).decode()),
            QueueCounts(newer.read_queue_count, newer.write_queue_count),
            is_final=newer.is_final,
        )
        put_copy(self._broker, self._broker.find_topic(name), static)
        log.info("static_topic_updated", topic_name=name, epoch=static.info.epoch)

    def _report(self, reason: str) -> None:
        """Log why no queue takes messages, when that has changed."""
        if reason and reason != self._reported:
            log.warning("static_topics_unconfirmed", reason=reason)
        self._reported = reason


def _decode(reply: Command) -> NewerMappings:
    if reply.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
        # A name server of RocketMQ moves no queues.
        return NewerMappings()
    if reply.code != ResponseCode.SUCCESS:
        raise ConnectionError(f"a name server answers code {reply.code}: {reply.remark}")
    return java_json.decode(reply.body or b"{}", NewerMappings)
