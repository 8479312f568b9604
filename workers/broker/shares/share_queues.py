"""Own the share queues of a broker group while this broker is its master (queue-ownership.md 4.2).

The engine decides which consumer gets a message. This module begins and ends its work with the role
of this broker. It names share queues on first use and writes snapshots. It also gives up messages
that were delivered too often.

A replica that acts for its absent master owns them as well, without a record of the log (S130). It
serves the share queues that its log names. It finishes messages in a file (`FinishedShares`). It
gives up no message: a dead letter, and the move to a retry topic, would be another message.
"""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

import structlog
from regent_engine import Finished, Record, StoreError

from backend.remoting.bodies import SubscriptionGroupConfig
from backend.remoting.bodies.shares import FinishedShareBody
from backend.remoting.names import (
    dead_letter_topic,
    pop_retry_topic,
    share_state_topic,
)
from backend.remoting.response_code import ResponseCode
from backend.rules.topic import DEAD_LETTER_PREFIX, RETRY_PREFIX
from workers.broker.commit_log.message import CRC, Message
from workers.broker.commit_log.timed_message import WAIT_PROPERTIES
from workers.broker.errors import Refusal
from workers.broker.shares.copied_properties import copied_properties
from workers.broker.shares.departed_clients import DepartedClients
from workers.broker.shares.exhausted_messages import ExhaustedMessages
from workers.broker.shares.finished_shares import FinishedShares, finished_path, united
from workers.broker.shares.given_up import (
    DISCARD,
    REJECT_POLICY,
    CopyKey,
    copy_places,
    dead_letter,
    read_at,
    retried,
    torn_copies,
)
from workers.broker.shares.stock_members import StockMembers
from workers.broker.tables.topics import topic_of

if TYPE_CHECKING:
    from workers.broker.broker import Broker

Disposition = Literal["RETRY", "DLQ", "DISCARD"]
_NEVER_COPIED: Final = frozenset({CRC})
"""The checksum of another record would be wrong."""

TICK_S: Final = 0.5
ATTEMPT_COUNT_MAX: Final = 65_535
RELEASE_ON_DISCONNECT: Final = "releaseOnDisconnect"
"""The attribute of a group whose messages are delivered again when their client leaves."""

CLIENT_GRACE_S: Final = 3.0
FROM_END: Final = 1
"""The initial mode of a group that skips the messages which are there already."""

log = structlog.get_logger()


class ShareQueues:
    """The share queues of one broker; all methods belong to the loop's thread.

    A message stays in the log until its consumer group has finished it (Q29).
    """

    def __init__(self, broker: "Broker") -> None:
        """Take the broker; nothing is owned before `lead` or `stand_in`.

        Raises:
            StateFileUnreadable: the content of the file of finished messages is invalid.
        """
        self._broker = broker
        self._leads = asyncio.Event()
        self.is_acting = False
        """Whether this broker is a replica, and owns them for its absent master."""

        self._is_held = False
        self.finished = FinishedShares(finished_path(broker.settings))
        self.stock_members = StockMembers(broker)
        self._exhausted = ExhaustedMessages(broker)
        self._led_at_ms = 0
        self._later_version: int | None = None
        self._compacted_at_ms = 0
        self.departed = DepartedClients()

    @property
    def is_leading(self) -> bool:
        """Return whether this broker owns the share queues of its group."""
        return self._leads.is_set()

    @property
    def led_ms(self) -> int:
        """Return the time since this broker began to lead, in ms; 0 if it does not lead."""
        return self._broker.elapsed_ms() - self._led_at_ms if self.is_leading else 0

    def lead(self, epoch: int) -> None:
        """Begin to decide, with the state that the log holds.

        Raises:
            StoreError: the log is damaged there.
        """
        if not self._begin(epoch, is_acting=False):
            return
        # A torn copy lies behind all records of the lane: the search comes before the next record.
        self._end_torn_units()
        self._finish_kept()
        for topic_name in self._broker.static_topics.all:
            self.give_away_unled(topic_name)

    def stand_in(self) -> None:
        """Begin to decide for an absent master, with the state that the log and the file hold.

        All messages that are not finished are handed out again. Former handles still finish them.

        Raises:
            StoreError: the log is damaged there.
        """
        if self._begin(0, is_acting=True):
            self._finish_kept()

    def _begin(self, epoch: int, *, is_acting: bool) -> bool:
        """Own the share queues; False if the lane has records of a later version (O45)."""
        broker = self._broker
        version_max = broker.settings.protocol_version_max
        version = broker.hot.lead_shares(
            share_state_topic(broker.settings.cluster_name),
            epoch=max(0, epoch),
            member=max(0, broker.membership.own_id),
            segment_size_bytes=broker.settings.commit_log_file_size_bytes,
            is_acting=is_acting,
            life=broker.member_shares.life,
            shared_topics=broker.member_shares.topics,
            version_max=version_max,
        )
        self._later_version = version if version > version_max else None
        if self._later_version is not None:
            log.error("share_queues_of_later_version", version=version, version_max=version_max)
            return False
        self.is_acting, self._is_held = is_acting, False
        self._led_at_ms = broker.elapsed_ms()
        self._leads.set()
        if not is_acting:
            broker.member_shares.began_to_lead()
        return True

    def use_version(self, version: int, *, asked_at_ms: int) -> None:
        """Write records of this version from now on: each member of the group reads them (Q79).

        The version was that of the group at a time of `elapsed_ms`. One of before a compaction has
        no effect.

        Raises:
            StoreError: the store refused the record.
        """
        is_outdated = asked_at_ms < self._compacted_at_ms
        if is_outdated or not self.is_leading or self.is_acting:
            return
        if self._broker.hot.raise_shares_version(version):
            log.info("share_version_raised", version=version)
            self._broker.membership.appended()

    def compact(self, version: int) -> bool:
        """Write the lane again in records of a former version; False if nothing is owned (O45).

        Raises:
            StoreError: the store refused the records.
        """
        if not self._broker.hot.compact_shares(version):
            return False
        self._compacted_at_ms = self._broker.elapsed_ms()
        log.info("share_version_lowered", version=version)
        self._broker.membership.appended()
        return True

    def _finish_kept(self) -> None:
        for share in self.finished.kept.values():
            self._finish(share)

    def _end_torn_units(self) -> None:
        """End the messages whose copy is all that a crash has left of a unit (O9)."""
        broker = self._broker
        places = copy_places(
            [one.name for one in broker.topics.all()], len(broker.settings.delay_levels_ms)
        )
        copies = torn_copies(broker.store, places, broker.hot.shares_end)
        for key, topic in list(copies):
            is_dead = topic.startswith(DEAD_LETTER_PREFIX)
            disposition: Disposition = "DLQ" if is_dead else "RETRY"
            log.warning("torn_copy_found", topic_name=topic, message=key.text)
            broker.hot.reject_share(
                key.topic, key.queue_id, key.group, key.offset, disposition=disposition
            )

    def give_away_unled(self, topic_name: str) -> None:
        """Finish no message of logical queues that are led elsewhere (queue-ownership.md 4.19).

        Raises:
            StoreError: the store refused the records.
        """
        broker = self._broker
        topic = broker.static_topics.find(topic_name)
        if topic is None:
            return
        ids = [one for one in range(topic.info.queue_count) if not topic.mapping.leads(one)]
        if broker.hot.give_shares_away(topic_name, ids):
            broker.membership.appended()

    def stand_down(self) -> None:
        """Decide nothing any more: another broker does."""
        self._leads.clear()
        self.is_acting = self._is_held = False
        self._later_version = None
        self._broker.hot.stand_down_shares()

    def hold(self) -> None:
        """Hand out no message until this broker begins again: another one is about to decide.

        Acknowledgements are taken as before.
        """
        self._is_held = True
        self._broker.hot.facts_changed()

    def check(self) -> None:
        """Check that messages are handed out.

        Raises:
            Refusal: another broker is about to do so, a member of the group forbids it, or this
                broker does not read all records.
        """
        if not self.is_leading and self._broker.share_incidents.is_disabled:
            reason = "this broker can't store or apply records: another one of its group will lead"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)
        if self._later_version is not None:
            raise Refusal(
                ResponseCode.SERVICE_NOT_AVAILABLE,
                f"the share queues of this group are of protocol version {self._later_version}, and"
                f" this broker reads {self._broker.settings.protocol_version_max}: start it with a"
                " later release, or elect a broker of a later one",
            )
        if self._is_held:
            reason = "the master of this group is about to serve: ask for the route again"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)
        self.stock_members.check()

    def serves(self, topic: str, group: str, queue_ids: Iterable[int]) -> bool:
        """Return whether this broker may own share queues: a master names each that is missing."""
        find = self._broker.hot.finished_share
        is_master = self.is_leading and not self.is_acting
        return is_master or all(find(topic, one, group) is not None for one in queue_ids)

    def begin(
        self,
        topic: str,
        group: SubscriptionGroupConfig,
        queue_count: int,
        *,
        init_mode: int,
        is_ordered: bool = False,
    ) -> None:
        """Name the share queues of a group that are missing or have former settings, and own them.

        A group continues at its committed offset. A group without one begins as it asks.

        Raises:
            Refusal: only the master names share queues, and this broker acts for it.
            StoreError: the store refused the records.
        """
        broker = self._broker
        attempts, discards = policy_of(group)
        missing = broker.hot.missing_shares(
            topic, group.name, queue_count, attempts=attempts, discards=discards
        )
        if not missing:
            return
        if not self.serves(topic, group.name, missing):
            raise Refusal(
                ResponseCode.SERVICE_NOT_AVAILABLE,
                f"the consumer group {group.name} has not received the topic {topic} by POP yet:"
                " it begins once the master of this broker group is back",
            )
        starts = [(one, self._start(topic, group.name, one, init_mode)) for one in missing]
        broker.hot.begin_shares(
            topic,
            group.name,
            starts,
            attempts=attempts,
            discards=discards,
            is_ordered=is_ordered,
        )
        broker.membership.appended()

    def _start(self, topic: str, group: str, queue_id: int, init_mode: int) -> int:
        committed = self._broker.offsets.find(group, topic, queue_id)
        low, end = self._broker.store.offsets(topic, queue_id) or (0, 0)
        if committed is not None and committed >= 0:
            # A replica may have got the offset and not the messages before it.
            _, held_end = self._broker.store.held_offsets(topic, queue_id) or (0, 0)
            return max(min(committed, held_end), low)
        return end if init_mode == FROM_END else low

    def reset(self, topic: str, group: str, queue_id: int, offset: int) -> bool:
        """Move a group to an offset, as an operator orders (222); False without a share queue.

        What consumers have of the queue is void.

        Raises:
            StoreError: the store refused the record, and nothing changes.
        """
        return self._broker.hot.reset_share(topic, queue_id, group, offset)

    async def run(self) -> None:
        """Do the periodic work, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._tick())
            tasks.create_task(self._watch_members())
            tasks.create_task(self._broker.member_shares.run())

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            if self.is_leading and not self.is_acting:
                await self._try_to_tick()

    async def _watch_members(self) -> None:
        pause_s = self._broker.settings.member_poll_interval_ms / 1000
        while True:
            await self._leads.wait()
            await self.stock_members.look()
            await asyncio.sleep(pause_s)

    async def _try_to_tick(self) -> None:
        for work in (self._keep_snapshot, self._exhausted.give_up_some, self._forget_finished):
            # What fails must not hold up the rest.
            try:
                await work()
            except (OSError, StoreError) as error:
                log.warning("share_queues_not_kept", work=work.__name__, reason=str(error))

    async def _keep_snapshot(self) -> None:
        if self._broker.hot.keep_shares():
            self._broker.membership.appended()

    async def _forget_finished(self) -> None:
        if kept := list(self.finished.kept.values()):
            # The log has it since this broker leads, and is about to be on the disk.
            await asyncio.to_thread(self._broker.store.flush)
            await self.finished.forget(kept)

    async def give_up(
        self,
        topic: str,
        queue_id: int,
        group_name: str,
        offset: int,
        *,
        count: int,
        is_free: bool = False,
        given_back: tuple[int, int] | None = None,
    ) -> Finished | None:
        """Finish a message that its group can't process, with a dead letter if it wants one (Q11).

        The copy and the end of the message are one unit of the log. Without success the message is
        finished already. None if its share queue is unknown. With `is_free` nothing happens if a
        consumer has got the message since, and with `given_back` since that delivery.

        Raises:
            StoreError, Refusal: the store refused, or the message can't be copied now.
        """
        broker = self._broker
        group = self._group(group_name)
        place = CopyKey(topic, queue_id, group_name, offset)
        record: Record | None = None
        if group.attributes.get(REJECT_POLICY) != DISCARD:
            record = await read_at(broker, topic, queue_id, group_name, offset)
        end = partial(self._end, count=count if is_free else None, given_back=given_back)
        if record is None:
            return end(place, "DISCARD")
        broker.put_topic_if_missing(topic_of(dead_letter_topic(group_name), 1))
        letter = dead_letter(group_name, record, count=count)
        properties, missing_count = copied_properties(
            record.property_string, letter.properties, _NEVER_COPIED
        )
        if missing_count:
            log.warning("dead_letter_shortened", message=place.text, missing_count=missing_count)
        return end(place, "DLQ", (letter, properties))

    def _group(self, name: str) -> SubscriptionGroupConfig:
        return self._broker.groups.find(name) or SubscriptionGroupConfig(name=name)

    def _end(
        self,
        place: CopyKey,
        disposition: Disposition,
        copy: tuple[Message, bytes] | None = None,
        *,
        count: int | None = None,
        given_back: tuple[int, int] | None = None,
    ) -> Finished | None:
        """End a message, in one unit of the log with its copy and the properties of that.

        With `count` or `given_back` it ends only if that is still its last delivery.

        Raises:
            StoreError: the store refused.
        """
        broker = self._broker
        was_full = broker.hot.is_share_full(*place.share)
        finished = broker.hot.reject_share(
            place.topic,
            place.queue_id,
            place.group,
            place.offset,
            disposition=disposition,
            copy=copy,
            count=count,
            given_back=given_back,
        )
        if finished is None or not all(finished.successes):
            return finished
        if copy is None:
            broker.membership.appended()
        else:
            message, _ = copy
            _, end = broker.store.held_offsets(message.topic, message.queue_id) or (0, 0)
            broker.arrived([(message.topic, message.queue_id, end)])
        if was_full:
            # Messages behind the window waited for its front.
            self.wake(place.topic, place.queue_id)
        self.note_progress(finished)
        return finished

    async def move(
        self,
        topic: str,
        queue_id: int,
        group: str,
        offset: int,
        delay_ms: int,
        *,
        given_back: tuple[int, int],
    ) -> Finished | None:
        """Move a message to the retry topic, which delivers it after a delay.

        The copy and the end of the message are one unit of the log. A message that was delivered
        as often as it may be is given up. None if the message is gone, or if another consumer got
        it since the delivery that was given back. None as well if it can't wait elsewhere: then it
        stays in its place.

        Raises:
            StoreError: the store refused.
        """
        broker = self._broker
        place = CopyKey(topic, queue_id, group, offset)
        try:
            record = await read_at(broker, topic, queue_id, group, offset)
            if record is None:
                return None
            is_retry, count = topic.startswith(RETRY_PREFIX), self._delivery_count(place)
            if is_retry and record.reconsume_times + count >= attempts_of(self._group(group)):
                # Each move begins a new number of deliveries, so the copies are counted too.
                ended = await self.give_up(
                    topic, queue_id, group, offset, count=count, given_back=given_back
                )
                return _succeeded(ended)
            name = topic if is_retry else pop_retry_topic(group, topic)
            due_ms = broker.clock() + delay_ms
            copy = retried(name, group, record, count=count, deliver_at_ms=due_ms)
            copy = broker.turn_aside(copy)
            properties, missing_count = copied_properties(
                record.property_string, copy.properties, WAIT_PROPERTIES | _NEVER_COPIED
            )
        except (Refusal, ValueError) as error:
            log.warning("message_not_moved", message=place.text, reason=str(error))
            return None
        if missing_count:
            log.warning("message_not_moved", message=place.text, reason="its properties don't fit")
            return None
        broker.put_topic_if_missing(topic_of(name, 1))
        if broker.member_shares.is_shared(name):
            # Its owner may be a replica, which names no share queue.
            self.begin(name, self._group(group), 1, init_mode=0)
        return _succeeded(self._end(place, "RETRY", (copy, properties), given_back=given_back))

    def _delivery_count(self, place: CopyKey) -> int:
        """Return how often a message was delivered from its place."""
        held = self._broker.hot.share_messages(*place.share, self._broker.elapsed_ms())
        return next((one.count for one in held if one.offset == place.offset), 1)

    async def keep(self, finished: Iterable[Finished]) -> None:
        """Keep what is finished until the master has it; it is on the disk when this returns.

        Raises:
            OSError: the disk refused.
        """
        for one in finished:
            for group, topic, queue_id, _ in one.commits:
                found = self._broker.hot.finished_share(topic, queue_id, group)
                if found is None:
                    continue
                number, reset_epoch, ranges = found
                self.finished.keep(
                    FinishedShareBody(
                        topic=topic,
                        queue_id=queue_id,
                        consumer_group=group,
                        number=number,
                        reset_epoch=reset_epoch,
                        ranges=ranges,
                    )
                )
        await self.finished.save()

    async def take_over(self, shares: Iterable[FinishedShareBody]) -> int:
        """Finish what consumers finished at another member; return how many share queues changed.

        A broker that does not lead keeps it in its file, until it leads or its master has it.

        Raises:
            StoreError: the store refused a record. OSError: the disk refused the file.
        """
        if self.is_leading and not self.is_acting:
            return sum(self._finish(share) for share in shares)
        for share in shares:
            self.finished.keep(share)
        await self.finished.save()
        return 0

    def _finish(self, share: FinishedShareBody) -> bool:
        """Finish what is finished of a share queue, and return whether anything was news."""
        finished = self._broker.hot.take_over_share(
            share.topic,
            share.queue_id,
            share.consumer_group,
            number=share.number,
            reset_epoch=share.reset_epoch,
            ranges=united(share.ranges, ()),
        )
        if finished is None:
            log.warning(
                "finished_share_not_known",
                topic_name=share.topic,
                queue_id=share.queue_id,
                consumer_group_name=share.consumer_group,
                reason="its topic or group was deleted, or its offset was reset since",
            )
            return False
        self.note_progress(finished)
        return bool(finished.commits)

    def client_lost(self, connection_id: int, group_name: str, client_id: str | None) -> None:
        """Deliver again what a client has whose connection is lost, after a moment (Q12).

        A client that returns in time finishes its messages by its new connection.
        """
        self.departed.note(connection_id, group_name, client_id)
        group = self._broker.groups.find(group_name)
        knows = self.is_leading or self._broker.member_shares.follows
        if not knows or group is None or not _releases(group):
            return

        asyncio.get_running_loop().call_later(
            CLIENT_GRACE_S, self.release_unless_back, connection_id, group_name, client_id
        )

    def release_unless_back(
        self, connection_id: int, group_name: str, client_id: str | None
    ) -> None:
        """Deliver again what a client had by a lost connection, unless it has another one now."""
        present = self._broker.consumers.find(group_name)
        members = {} if present is None else present.members
        if all(member.client_id != client_id for member in members.values()):
            self.client_gone(connection_id, group_name)

    def client_gone(self, connection_id: int, group_name: str) -> None:
        """Deliver again what a client had that has left, if its group wants that (Q12)."""
        broker = self._broker
        group = broker.groups.find(group_name)
        if group is None or not _releases(group):
            return
        try:
            queues = broker.hot.client_left_shares(connection_id, group_name)
        except StoreError as error:
            log.warning("messages_not_released", reason=str(error))
            return
        self._returned(queues)

    def undo(self, deliveries: list[tuple[int, int, int]]) -> None:
        """Undo deliveries whose answer was never given: they do not count."""
        try:
            queues = self._broker.hot.undo_deliveries(deliveries)
        except StoreError as error:
            log.warning("deliveries_not_undone", reason=str(error))
            return
        self._returned(queues)

    def _returned(self, queues: list[tuple[str, int]]) -> None:
        """Send the records of it, if there are any, and have consumers look at some queues."""
        self._broker.member_shares.send_drafts()
        if any(self._broker.member_shares.is_shared(topic) for topic, _ in queues):
            self._broker.membership.appended()
        for topic, queue_id in queues:
            self.wake(topic, queue_id)

    def release(
        self, topic: str, queue_id: int, group: str, holds: Sequence[tuple[int, int, int]]
    ) -> int:
        """Deliver messages again that consumers have, as an operator orders (7033).

        Each hold is an offset, with the time and the tag of its delivery. A message that was
        finished or delivered again since stays as it is. Return how many were released.
        """
        count = self._broker.hot.release_share(topic, queue_id, group, holds)
        if count:
            self._returned([(topic, queue_id)])
        return count

    def wake(self, topic: str, queue_id: int) -> None:
        """Have consumers look that wait at a share queue: one of its messages is due earlier."""
        broker = self._broker
        if broker.hot.wake_pops(topic, broker.leading.stored_at(topic, queue_id)):
            broker.polling.take_turns()

    def remove(self, *, topic: str | None = None, group: str | None = None) -> None:
        """Forget the share queues of a topic, or of a group: it is being deleted.

        Raises:
            StoreError: the store refused the records.
        """
        self._broker.hot.remove_shares(topic=topic, group=group)
        self._broker.membership.appended()

    def note_progress(self, finished: Finished, address: str = "") -> None:
        """Record how far groups are, as committed offsets: tools compute lag from these."""
        for group, topic, queue_id, offset in finished.commits:
            self._broker.commit(group, topic, queue_id, offset=offset, address=address)


def _succeeded(finished: Finished | None) -> Finished | None:
    return finished if finished is not None and all(finished.successes) else None


def _releases(group: SubscriptionGroupConfig) -> bool:
    return group.attributes.get(RELEASE_ON_DISCONNECT) == "true"


def policy_of(group: SubscriptionGroupConfig) -> tuple[int, bool]:
    """Return how often a group receives a message at most, and whether it discards it then."""
    return attempts_of(group), group.attributes.get(REJECT_POLICY) == DISCARD


def attempts_of(group: SubscriptionGroupConfig) -> int:
    """Return how often a group receives a message at most."""
    return max(1, min(group.retry_count_max, ATTEMPT_COUNT_MAX))
