"""Keep what a broker without a controller knows besides messages in its log, as masters do (D29).

So a change of a topic, a group or an offset is one record, it is as safe as a message of the same
moment, and whatever moment the broker is killed at, the next start finds a state that was.
"""

import asyncio
from typing import Final

import structlog

from workers.broker.broker import Broker
from workers.broker.processors.maintenance import queues_without_topic

TICK_S: Final = 0.05
PAUSE_S: Final = 1.0
"""How long a store that took no record is left alone: it would be told all there is each time."""

log = structlog.get_logger()


class LoneState:
    """Loads the state of one broker and records its changes; belongs to the loop's thread."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def begin(self) -> None:
        """Load the state and take changes from now on; called before clients come.

        Files that were believed say at once that the log knows them, or the next start would
        believe them again.
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
        if broker.journal.has_believed_files:
            await broker.state.save_all()

    async def run(self) -> None:
        """Record what changed, until cancelled."""
        while True:
            await asyncio.sleep(PAUSE_S if self._broker.journal.is_refused else TICK_S)
            self.record()

    def record(self) -> None:
        """Record what changed and no request waits for."""
        self._broker.journal.write()
        self._broker.changes.tick()

    def _lower_offsets(self) -> bool:
        """Have groups go on where their queues end now; in a group of brokers the log sees to that.

        Offsets can be on the disk before what was just stored, and outlive a cut of a damaged log.
        """

        def end_of(topic: str, queue_id: int) -> int:
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
