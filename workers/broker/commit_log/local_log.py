"""Keep the second log of a master, with the messages of topics that are not replicated.

The rules are those of queue-ownership.md 4.8 (Q4). Topics, consumer groups, committed offsets and
the state of share queues are in the replicated log as those of other topics; only the messages are
not. So each master begins with the offsets of the one before. Where the messages are gone, it
raises them to the first offset of its own epoch, and reports the loss.
"""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import structlog
from regent_engine import StoreError

from backend.remoting.bodies import TopicConfig
from backend.remoting.response_code import ResponseCode
from backend.rules.attributes import REPLICATE, SHARE_MODE, SHARED_MODE, is_replicated
from workers.broker.errors import Refusal

if TYPE_CHECKING:
    from workers.broker.broker import Broker

log = structlog.get_logger()


class LocalLog:
    """The second log of one broker; all methods belong to the loop's thread."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        # The epoch of this master, 0 without a controller; None while another broker leads.
        self._epoch: int | None = None
        self._is_open = False
        self._failure: str | None = None
        self._opening = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None

    async def lead(self, epoch: int = 0) -> None:
        """Begin to serve its topics, if there are some, as the master of an epoch.

        The epoch is 0 without a controller. Messages that another master had are lost, and so are
        those of a damaged log. Groups then continue with the next message. If the log can't be
        opened, requests for these topics are refused, and all others are served.
        """
        self._epoch = epoch
        self._withdraw()
        if not self._topic_names:
            return
        try:
            await self._begin(epoch)
        except (OSError, StoreError) as error:
            self._failure = f"its log can't be opened, so restart the broker: {error}"
            log.error("local_log_not_opened", reason=str(error))  # noqa: TRY400 - complete

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

    def stand_down(self) -> None:
        """Serve its topics no more: another broker leads. Closing the log takes a moment."""
        self._epoch = self._failure = None
        if self._withdraw():
            self._closing = asyncio.get_running_loop().create_task(self._close(), name="close-log")

    def _withdraw(self) -> bool:
        """Refuse the requests for its topics; return whether they were served."""
        if not self._is_open:
            return False
        self._is_open = False
        for name in self._topic_names:
            self._broker.serve_topic(name)
        return True

    async def _begin(self, epoch: int) -> None:
        """Open the log, and serve its topics unless another broker is elected meanwhile."""
        broker = self._broker
        async with self._opening:
            if self._is_open:
                return
            # A master that is elected again begins its next epoch.
            await asyncio.to_thread(broker.store.end_local)
            is_kept = await asyncio.to_thread(broker.store.begin_local, epoch)
            if self._epoch != epoch:
                await asyncio.to_thread(broker.store.end_local)
                return
            self._is_open, self._failure = True, None
            for name in self._topic_names:
                self.topic_changed(name, broker.topics.find(name))
                if self._adjust_offsets(name) or not is_kept:
                    # Their positions may be beyond the end, where other messages will be.
                    broker.shares.remove(topic=name)
                if not is_kept:
                    self._report_loss(name, epoch)
                broker.serve_topic(name)

    async def _close(self) -> None:
        async with self._opening:
            if self._is_open:
                return
            try:
                await asyncio.to_thread(self._broker.store.end_local)
            except StoreError as error:
                log.warning("local_log_not_closed", reason=str(error))

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

    def has(self, topic_name: str) -> bool:
        """Return whether a topic exists that is not replicated."""
        topic = self._broker.topics.find(topic_name)
        return topic is not None and not is_replicated(topic.attributes)

    def check(self, topic_name: str) -> None:
        """Check that the messages of a topic are here, unless replicas have them as well.

        Raises:
            Refusal: only the master of the group has them, or its second log can't be opened.
        """
        topic = self._broker.topics.find(topic_name)
        if topic is None or self.serves(topic):
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
            reason="the topic is not replicated, and another broker was its master before",
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
    if is_static:
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
