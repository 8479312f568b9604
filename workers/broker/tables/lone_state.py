"""Keep the state of a broker without a controller in its log, as masters do (D29).

So a change of a topic, a group or an offset is one record, as safe as a message of the same time.
After a kill at any time, the next start finds a state that existed.
"""

import asyncio
import sys
from typing import Final

import structlog

from workers.broker.broker import Broker
from workers.broker.processors.maintenance import queues_without_topic
from workers.broker.replication.state_journal import ALONE

TICK_S: Final = 0.05
PAUSE_S: Final = 1.0
"""Pause after the store refused a record: each retry would contain a snapshot."""

log = structlog.get_logger()


class LoneState:
    """Loads the state of one broker and records its changes; belongs to the loop's thread."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def begin(self) -> None:
        """Load the state and accept changes; called before clients connect.

        Files that were used are marked as contained in the log at once; otherwise the next start
        would use them again.
        """
        broker = self._broker
        broker.journal.load_alone()
        topics = broker.topics
        if not (topics.is_stored or broker.journal.has_read):
            topics.is_incomplete = bool(broker.store.queues())
        is_lowered = False
        if broker.damage is None:
            is_lowered = self._lower_offsets()
            if not topics.is_incomplete:
                broker.shared.deletions.note_former(queues_without_topic(broker))
        broker.journal.lead_alone(is_changed=is_lowered)
        if broker.damage is None:
            broker.shares.lead(ALONE)
            await asyncio.to_thread(broker.local_log.note_reign)
            await broker.local_log.lead()
        if broker.journal.has_believed_files:
            await broker.state.save_all()

    async def run(self) -> None:
        """Record changes, until cancelled."""
        while True:
            await asyncio.sleep(PAUSE_S if self._broker.journal.is_refused else TICK_S)
            self.record()

    def record(self) -> None:
        """Record changes that no request waits for."""
        self._broker.journal.write()
        self._broker.changes.tick()

    def _lower_offsets(self) -> bool:
        """Limit the groups' offsets to the ends of their queues; with a group, the log does that.

        Offsets can be on the disk before the newest messages, and survive a truncation of a damaged
        log.
        """

        def end_of(topic: str, queue_id: int) -> int:
            if self._broker.local_log.has(topic):
                # Its log is not open yet, and judges them when it is.
                return sys.maxsize
            _, end = self._broker.store.offsets(topic, queue_id) or (0, 0)
            return end

        if count := self._broker.offsets.lower(end_of):
            log.warning(
                "offsets_lowered",
                count=count,
                reason="these committed offsets were beyond the ends of their queues: the messages"
                " before them are lost, or a broker without this check took the commits",
            )
        return count > 0
