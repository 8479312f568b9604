"""Keep the second log of a master, with the messages of topics that are not replicated.

The rules are those of queue-ownership.md 4.8 (Q4). Topics, consumer groups, committed offsets and
the state of share queues are in the replicated log as those of other topics; only the messages are
not. So each master begins with the offsets of the one before. Where the messages are gone, it
raises them to the first offset of the new log, and reports the loss.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
from regent_engine import LOCAL_DIR, LOCAL_OFFSET_BITS, StoreError

from backend.remoting.bodies import TopicConfig
from backend.remoting.response_code import ResponseCode
from backend.rules.attributes import REPLICATE, SHARE_MODE, SHARED_MODE, is_replicated
from backend.rules.topic import DEAD_LETTER_PREFIX, RETRY_PREFIX
from workers.broker.errors import Refusal

if TYPE_CHECKING:
    from workers.broker.broker import Broker

SHARE_COUNT_MAX: Final = 1 << 20

log = structlog.get_logger()


class LocalLog:
    """The second log of one broker; all methods belong to the loop's thread."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        # The epoch of this master, 0 without a controller; None while another broker leads.
        self._epoch: int | None = None
        self._is_open = False
        self._failure: str | None = None
        self._note_error: StoreError | None = None
        self._opening = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None

    def note_reign(self, epoch: int = 0) -> None:
        """Note, on any thread, that this broker leads an epoch; before that epoch is in the log.

        The epoch is 0 without a controller. If another broker may have led since the log was used,
        the log is given up.
        """
        try:
            self._broker.store.note_reign(epoch)
        except StoreError as error:
            self._note_error = error
        else:
            self._note_error = None

    async def lead(self, epoch: int = 0) -> None:
        """Begin to serve its topics, if there are some, as the master of an epoch.

        Messages that another master had are lost, and groups continue with the next message. If the
        log can't be opened, requests for these topics are refused, and all others are served.
        """
        self._epoch = epoch
        self._withdraw()
        if not self._topic_names:
            return
        try:
            await self._begin(epoch)
        except (OSError, StoreError) as error:
            self._fail(error)

    def _fail(self, error: OSError | StoreError) -> None:
        self._failure = (
            f"its log can't be opened: {error}. Mend the cause, then restart the broker. To give"
            f" all messages of such topics up, move {self._directory} away before that"
        )
        log.error("local_log_not_opened", reason=self._failure)

    async def make_ready(self, attributes: Mapping[str, str]) -> None:
        """Open the log before the first topic whose messages it gets.

        Raises:
            Refusal: the log can't be opened.
        """
        if is_replicated(attributes) or self._epoch is None:
            return
        try:
            await self._begin(self._epoch)
        except (OSError, StoreError) as error:
            reason = f"the log of topics that are not replicated can't be opened: {error}"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason) from error
        if not self._is_open:
            reason = "another broker was elected meanwhile: ask for the route again"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)

    def stand_down(self) -> None:
        """Serve its topics no more: another broker leads. Closing the log takes a moment."""
        self._epoch = self._failure = None
        if self._withdraw():
            self._closing = asyncio.get_running_loop().create_task(self._close(), name="close-log")

    async def follow(self, epoch: int) -> None:
        """Give the log up: another broker leads a later epoch, so its messages are lost."""
        await self.wait_closed()
        try:
            async with self._opening:
                await asyncio.to_thread(self._broker.store.give_up_local, epoch)
        except StoreError as error:
            log.warning("local_log_not_given_up", reason=str(error))

    async def wait_closed(self) -> None:
        """Wait until the log is closed, after `stand_down`."""
        if self._closing is not None:
            await self._closing

    def _withdraw(self) -> bool:
        """Refuse the requests for its topics; return whether they were served."""
        if not self._is_open:
            return False
        self._is_open = False
        for name in self._topic_names:
            self._broker.serve_topic(name)
        return True

    async def _begin(self, epoch: int) -> None:
        """Open the log, and serve its topics unless another broker is elected meanwhile.

        Raises:
            StoreError, OSError: the log can't be opened, or the state of a topic can't be recorded.
        """
        store = self._broker.store
        if self._note_error is not None:
            raise self._note_error
        async with self._opening:
            if self._is_open:
                return
            # A master that is elected again begins its next epoch.
            await asyncio.to_thread(store.end_local)
            names, generation = self._topic_names, self._generation(epoch)
            is_kept = await asyncio.to_thread(store.begin_local, generation, epoch, names)
            if self._epoch != epoch:
                await asyncio.to_thread(store.end_local)
                return
            try:
                for name in names:
                    self._resume(name, epoch, is_kept=is_kept)
            except StoreError:
                await asyncio.to_thread(store.end_local)
                raise
            self._is_open, self._failure = True, None
            for name in self._topic_names:
                # One may have come meanwhile.
                self.topic_changed(name, self._broker.topics.find(name))
                self._broker.serve_topic(name)

    def _generation(self, epoch: int) -> int:
        """Return a number for a new log that no former log of this group has.

        Offsets begin with it, so that each one is higher than all that groups have committed.
        """
        offsets = self._broker.offsets
        committed = (
            offset
            for name in self._topic_names
            for group in offsets.groups_of(name)
            for offset in offsets.of_topic(group, name).values()
        )
        highest = max(committed, default=0)
        return max(epoch, (highest >> LOCAL_OFFSET_BITS) + 1 if highest else 0)

    def _resume(self, name: str, epoch: int, *, is_kept: bool) -> None:
        """Let groups continue where the log has messages, and report a loss."""
        has_moved = self._adjust_offsets(name)
        if has_moved or not is_kept or self._is_beyond_end(name):
            # Otherwise a group would wait where other messages will be.
            self._broker.shares.remove(topic=name)
        if has_moved or not is_kept:
            self._report_loss(name, epoch)

    def _is_beyond_end(self, name: str) -> bool:
        """Return whether a share queue has delivered what the log does not have any more."""
        broker = self._broker
        shares, _ = broker.hot.list_shares(broker.elapsed_ms(), SHARE_COUNT_MAX, topic=name)
        return any(
            one.end > (broker.store.held_offsets(name, one.queue_id) or (0, 0))[1] for one in shares
        )

    async def _close(self) -> None:
        async with self._opening:
            if self._is_open:
                return
            try:
                await asyncio.to_thread(self._broker.store.end_local)
            except StoreError as error:
                log.warning("local_log_not_closed", reason=str(error))

    @property
    def _directory(self) -> Path:
        return self._broker.settings.root_dir / LOCAL_DIR

    @property
    def _topic_names(self) -> list[str]:
        topics = self._broker.topics.all()
        return [one.name for one in topics if not is_replicated(one.attributes)]

    def topic_changed(self, name: str, topic: TopicConfig | None) -> None:
        """Store the messages of a topic here or not, from now on; those of a gone topic go too."""
        if self._is_open:
            is_local = topic is not None and not is_replicated(topic.attributes)
            try:
                self._broker.store.set_local(name, is_local)
            except StoreError as error:
                log.warning("local_queues_not_removed", topic_name=name, reason=str(error))

    def serves(self, topic: TopicConfig) -> bool:
        """Return whether this broker has the messages of a topic, and may take more."""
        return self._is_open or is_replicated(topic.attributes)

    def is_elsewhere(self, topic_name: str) -> bool:
        """Return whether the messages of a topic are not here: their offsets are not known."""
        topic = self._broker.topics.find(topic_name)
        return topic is not None and not self.serves(topic)

    def has(self, topic_name: str) -> bool:
        """Return whether a topic exists that is not replicated."""
        topic = self._broker.topics.find(topic_name)
        return topic is not None and not is_replicated(topic.attributes)

    def check(self, topic_name: str) -> None:
        """Check that the messages of a topic are here, unless replicas have them as well.

        Raises:
            Refusal: only the master of the group has them, or its second log can't be opened.
        """
        if not self.is_elsewhere(topic_name):
            return
        reason = (
            self._failure or "only the master of this broker group has its messages: read there"
        )
        raise Refusal(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            f"the topic[{topic_name}] is not replicated: {reason}",
        )

    def _adjust_offsets(self, topic_name: str) -> bool:
        """Move offsets without a message to the nearest message; return whether there were any."""
        broker = self._broker
        has_moved = False
        for group in broker.offsets.groups_of(topic_name):
            for queue_id, offset in broker.offsets.of_topic(group, topic_name).items():
                low, end = broker.store.held_offsets(topic_name, queue_id) or (0, 0)
                if not low <= offset <= end:
                    nearest = max(low, min(offset, end))
                    broker.offsets.commit(group, topic_name, queue_id=queue_id, offset=nearest)
                    has_moved = True
        return has_moved

    def _report_loss(self, topic_name: str, epoch: int) -> None:
        log.error(
            "messages_lost",
            topic_name=topic_name,
            epoch=epoch,
            reason="the topic is not replicated: another broker was its master before, or the"
            " machine went down before its last messages were on the disk",
        )
        self._broker.share_incidents.note_lost(topic_name, epoch)


def check_replicate(
    broker: "Broker", topic_name: str, attributes: Mapping[str, str], *, is_static: bool = False
) -> None:
    """Check that the messages of a topic may be left out of replication.

    Raises:
        Refusal: the topic is static or shared, or a member is of RocketMQ.
    """
    if is_replicated(attributes):
        return
    reason = None
    stock = broker.shares.stock_members.found
    if topic_name.startswith((RETRY_PREFIX, DEAD_LETTER_PREFIX)):
        reason = "it has messages of topics that are replicated"
    elif is_static:
        reason = "the queues of a static topic move between broker groups"
    elif attributes.get(SHARE_MODE) == SHARED_MODE:
        reason = f"members without its messages can't own its share queues: leave out {SHARE_MODE}"
    elif stock:
        broker_id, address = min(stock.items())
        reason = (
            f"broker {broker_id} of the group, {address}, is of RocketMQ, and would replicate it:"
            " replace that broker by one of Regent first"
        )
    if reason is not None:
        raise Refusal(
            ResponseCode.INVALID_PARAMETER, f"{REPLICATE} of {topic_name} can't be false: {reason}"
        )
