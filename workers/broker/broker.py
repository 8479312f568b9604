"""Hold the shared state of the processors of one agent, and the functions that several need.

Everything here belongs to the thread of the event loop. If data must be durable before the answer,
processors return `published` or `stored` instead of bytes, and these wait for it.
"""

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

import structlog
from regent_engine import Appended, Damage, HotPath, Record, Store, encode_properties

from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.remoting import command as commands
from backend.remoting.bodies import SubscriptionGroupConfig, TopicConfig, fault_of
from backend.remoting.headers import ConsumerGroupHeader, encode_header
from backend.remoting.names import (
    CLOSED_TOPICS,
    HALF_OPERATION_TOPIC,
    HALF_TOPIC,
    SCHEDULE_TOPIC,
)
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.rules.broker import MASTER_ID
from backend.rules.share_incident import IncidentKind
from backend.rules.topic import RETRY_PREFIX
from workers.broker.commit_log.delay_delivery import DelayDelivery, DelayOffsetFile
from workers.broker.commit_log.delayed_message import deliver_delayed, read_delayed
from workers.broker.commit_log.elapsed import elapsed_ms, elapsed_s
from workers.broker.commit_log.file_thread import FileThread
from workers.broker.commit_log.flusher import Flusher
from workers.broker.commit_log.indexer import Indexer
from workers.broker.commit_log.local_log import LocalLog
from workers.broker.commit_log.message import (
    TIMER_PROPERTIES,
    Message,
    delay_level_of,
    turn_aside,
)
from workers.broker.commit_log.read_threads import ReadThreads
from workers.broker.commit_log.retention import Cleaner
from workers.broker.commit_log.timed_message import TimerRules, find_slot, turn_to_wheel
from workers.broker.commit_log.timer_delivery import Target, TimerDelivery
from workers.broker.commit_log.write_block import DELIVERY_BLOCKS, REFUSAL_CODES, WriteBlock
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.container.own_container import OwnContainer
from workers.broker.errors import Refusal
from workers.broker.group.alone import Alone
from workers.broker.group.last_copies import LastCopies
from workers.broker.group.membership import Membership
from workers.broker.logical.confirmation import Confirmation
from workers.broker.logical.leading import LeadingTable
from workers.broker.logical.share_moves import ShareMoves
from workers.broker.metrics.meters import Meters
from workers.broker.metrics.resources import store_disks_of
from workers.broker.replication.acknowledgement import Outcome
from workers.broker.replication.copy_damage import CopyDamage, note_damage
from workers.broker.replication.passing_on import IN_FLIGHT_COUNT_MAX
from workers.broker.replication.recorded_changes import RecordedChanges
from workers.broker.replication.shared_state import SharedState
from workers.broker.replication.state_journal import StateJournal
from workers.broker.requests.caller import Caller
from workers.broker.requests.gate import WriteGate
from workers.broker.requests.long_polling import LongPolling
from workers.broker.routing.lent_subscriptions import LentSubscriptions
from workers.broker.routing.member_lists import MemberLists
from workers.broker.routing.name_servers import NameServers
from workers.broker.routing.neighbours import Neighbours
from workers.broker.routing.peers import Peers
from workers.broker.routing.topic_routes import TopicRoutes
from workers.broker.shares.credit import Credit
from workers.broker.shares.engine_links import EngineLinks
from workers.broker.shares.lease_keeper import Ask, LeaseKeeper
from workers.broker.shares.member_shares import MemberShares
from workers.broker.shares.share_incidents import ShareIncidents
from workers.broker.shares.share_queues import ShareQueues
from workers.broker.shares.shared_pops import SharedPops
from workers.broker.tables.clients import Consumers, Producers
from workers.broker.tables.escaped import EscapedMessages
from workers.broker.tables.offset_resets import OffsetResets
from workers.broker.tables.queue_locks import QueueLocks
from workers.broker.tables.queue_readers import QueueReaders
from workers.broker.tables.request_modes import RequestModes
from workers.broker.tables.state import BrokerState
from workers.broker.tables.topics import WRITABLE, check_visible, permitted, topic_of
from workers.broker.transactions.checking import Place, check_of
from workers.broker.transactions.half_message import PRODUCER_GROUP
from workers.broker.transactions.leading import Transactions

REPORT_S_MAX: Final = 2.0
"""Before a broker leaves its group to copy a record again, it reports that for so long at most."""

REFUSAL_REPORT_MS: Final = 10_000
FORWARDED_PULL_COUNT_MAX: Final = 512
_ANY_QUEUE: Final = -1
"""The pulls that wait at one leader of logical queues for the clients of this broker."""

_UNSERVED_TOPICS: Final = CLOSED_TOPICS - {HALF_TOPIC, HALF_OPERATION_TOPIC}
"""The closed topics that are nothing to the hot path, in which the engine itself stores nothing."""

log = structlog.get_logger()


class Broker:
    """One running broker: its store, its tables and its services."""

    name_servers: NameServers | None
    """The links to name servers, set before its start."""

    container: OwnContainer | None = None
    """The container that it runs in, set before its start; None for a broker that is alone."""

    rejoining: asyncio.Task[None] | None = None
    """Leaves the group, since a record of the log is damaged here; None while none is."""

    lease_keeper: LeaseKeeper | None = None
    """The leases of this member's share queues; None without a controller."""

    take_progress: Callable[[], None] = staticmethod(lambda: None)
    """Record the commits of all pulls that the engine has answered; set with the sessions."""

    alone: Callable[[], AbstractContextManager[None]] = staticmethod(contextlib.nullcontext)
    """Let the engine serve no client during some steps without a wait; set with the sessions."""

    def __init__(
        self,
        settings: BrokerSettings,
        store: Store,
        *,
        given: Mapping[str, str],
        clock: Callable[[], int],
        source: random.Random,
        config_file: ConfigFile | None = None,
        elapsed_ms: Callable[[], int] = elapsed_ms,
    ) -> None:
        """Load the state and build all parts; nothing runs before `start`.

        Raises:
            StateFileUnreadable: the content of a state file is invalid.
        """
        self.settings, self.given, self.store = settings, given, store
        self.clock, self.source, self.config_file = clock, source, config_file
        # Ages are differences of this clock: the wall clock can be set at any moment.
        self.elapsed_ms = elapsed_ms
        self.settings_lock, self.restart_wanted = asyncio.Lock(), asyncio.Event()
        # One message that escaped from another group is searched and stored at a time.
        self.last_copies, self.escape_lock = LastCopies(), asyncio.Lock()
        self.store_host = (settings.advertised_ip, settings.listen_port)
        self.hot = self._build_hot_path()
        self.share_incidents, self.engine_links = ShareIncidents(self._log_epoch), EngineLinks(self)
        self.member_shares, self.shared_pops = MemberShares(self), SharedPops(self)
        self.local_log, self.name_servers = LocalLog(self), None
        # Replaced in a group of several brokers.
        self.membership: Membership = Alone(self)
        self._blocks: set[WriteBlock] = set()
        facts_changed = self.hot.facts_changed
        self.leading, self.share_moves = LeadingTable(store), ShareMoves(facts_changed, elapsed_ms)
        self.resets, self.readers = OffsetResets(self._before_reset), QueueReaders(elapsed_ms())
        self.polling, self.file_thread = LongPolling(self.hot), FileThread()
        self.meters, self.read_threads = Meters(clock(), elapsed_ms()), ReadThreads()
        self.state = BrokerState(
            settings,
            topic_listener=self._on_topic_change,
            static_topic_listener=self._on_mapping_change,
            group_listener=facts_changed,
            build_delays=self._build_delays,
            flush_log=store.flush,
            clock=clock,
        )
        self.topics, self.groups = self.state.topics, self.state.groups
        self.offsets, self.static_topics = self.state.offsets, self.state.static_topics
        self.consumers, self.producers = Consumers[Caller](facts_changed), Producers[Caller]()
        self.left_out_of_clients: set[tuple[str, tuple[str, ...]]] = set()
        self.locks, self.gate = self._build_locks(), WriteGate()
        self.routes, self.peers = TopicRoutes(elapsed_ms), self._build_peers(IN_FLIGHT_COUNT_MAX)
        # Forwarded pulls wait for messages, and sends must not wait behind them.
        self.pull_peers = self._build_peers(FORWARDED_PULL_COUNT_MAX)
        neighbours = Neighbours(self.peers, self._find_neighbours, self.source)
        self.member_lists = MemberLists(self.consumers, neighbours, elapsed_ms)
        self.lent_subscriptions = LentSubscriptions(neighbours, elapsed_ms)
        self.flusher = self._build_flusher()
        self.timers = self._build_timers()
        self.transactions = self._build_transactions()
        self.shared = SharedState.of(self.state, store, self.timers, self.locks)
        self.journal = StateJournal(store, settings, self.shared, arrived=self.arrived)
        self.changes = self._build_changes()
        self.indexer = Indexer(store, clock=clock)
        self.cleaner = self._build_cleaner()
        # The hot path stays open: the store itself refuses each send, with a reason (D13).
        self.damage: Damage | CopyDamage | None = store.damage
        self._refusal_reported_at = self._commit_reported_at = -REFUSAL_REPORT_MS
        self._is_read_limited = False
        self._serve_mappings()
        self.confirmation, self.shares = Confirmation(self), ShareQueues(self)

    def use_leases(self, ask: Ask) -> LeaseKeeper:
        """Share queues with the other members of the group by lease, from now on (ADR 23).

        `ask` sends a lease heartbeat to the arbiter (4102). The caller runs the keeper.
        """
        self.lease_keeper = LeaseKeeper(
            self.member_shares,
            ask=ask,
            is_sequencer=lambda: self.membership.role_id == MASTER_ID,
            credit=Credit(self.hot),
            incidents=self.share_incidents,
            now_s=elapsed_s,
        )
        return self.lease_keeper

    def _build_locks(self) -> QueueLocks:
        """Keep the holders in the log if a controller may choose another master."""
        return QueueLocks(self.elapsed_ms if self.settings.controller_mode else None)

    def _build_peers(self, in_flight_count_max: int) -> Peers:
        return Peers(
            self.settings.cluster_name,
            lambda: self.name_servers,
            self.elapsed_ms,
            in_flight_count_max=in_flight_count_max,
        )

    async def _find_neighbours(self, topic_name: str) -> frozenset[str]:
        """Return the other broker groups of this cluster in the route of a topic.

        Raises:
            RouteUnknown: no name server answers, and none has before.
        """
        if self.name_servers is None or self.name_servers.is_none:
            return frozenset()
        names = await self.routes.broker_group_names(
            topic_name, self.name_servers, cluster_name=self.settings.cluster_name
        )
        return names - {self.settings.broker_name}

    def _build_flusher(self) -> Flusher:
        return Flusher(
            self.store,
            interval_ms=self.settings.flush_interval_ms,
            clock=self.clock,
            on_failure=self._on_flush_failure,
        )

    def _build_cleaner(self) -> Cleaner:
        settings = self.settings
        return Cleaner(
            self.store,
            settings,
            clock=self.clock,
            measure=lambda: store_disks_of(settings).fuller,
            set_full=self._on_disk_full,
        )

    def _build_hot_path(self) -> HotPath:
        settings = self.settings
        hot = HotPath(
            self.store,
            broker_name=settings.broker_name,
            cluster_name=settings.cluster_name,
            store_host=self.store_host,
            region=settings.region_id,
            trace_on=settings.trace_on,
        )
        hot.set_setting_aside(True)
        _take_transactions(hot, settings)
        return hot

    @property
    def request_modes(self) -> RequestModes:
        """Return how groups receive the messages of topics."""
        return self.state.request_modes

    @property
    def is_writable(self) -> bool:
        """Return whether messages are accepted."""
        return self.damage is None and not self._blocks

    @property
    def is_cordoned(self) -> bool:
        """Return whether an operator has removed the write permission of this broker."""
        return not self.settings.permissions & WRITABLE

    def block_writes(self, block: WriteBlock) -> None:
        """Refuse messages from now on, for this additional reason."""
        if block not in self._blocks:
            self._blocks.add(block)
            self._on_block_change(block)

    def unblock_writes(self, block: WriteBlock) -> None:
        """Remove a reason; without any reason, messages are accepted again."""
        if block in self._blocks:
            self._blocks.discard(block)
            self._on_block_change(block)

    def check_writable(self, *, to_make_room: bool = False) -> None:
        """Check that messages are accepted; a request that frees space passes also on a full disk.

        Raises:
            Refusal: messages are refused, above all because the log is damaged.
        """
        if self.damage is not None:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, self.damage.reason)
        block = self._first_block
        makes_room = to_make_room and self.membership.keeps_room
        if block is not None and not (makes_room and block is WriteBlock.DISK_FULL):
            raise Refusal(REFUSAL_CODES.get(block, ResponseCode.SERVICE_NOT_AVAILABLE), block)

    def check_changeable(self) -> None:
        """Check that an order can be written to the log; it needs the same as a message.

        The space that a broker without a group reserves on its disk is enough for orders.

        Raises:
            Refusal: messages are refused.
        """
        self.check_writable(to_make_room=True)

    def use_settings(self, settings: BrokerSettings, given: Mapping[str, str]) -> None:
        """Use other settings from now on, as far as they take effect without a restart."""
        was_cordoned = self.is_cordoned
        self.settings, self.given = settings, given
        self.cleaner.use_settings(settings)
        _take_transactions(self.hot, settings)
        self.topics.permit(settings.permissions)
        self.groups.auto_create = settings.auto_create_groups
        self.hot.facts_changed()
        self.engine_links.retire(MASTER_ID)
        if self.is_cordoned != was_cordoned:
            # The controller elects a cordoned replica last.
            self.membership.hurry()

    def find_group(self, name: str) -> SubscriptionGroupConfig:
        """Return a consumer group; create it if that is allowed.

        Raises:
            Refusal: the group is unknown and must not be created.
        """
        group = self.groups.find_or_create(name)
        if group is None:
            raise Refusal(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                f"subscription group [{name}] does not exist",
            )
        return group

    def check_group_exists(self, name: str) -> SubscriptionGroupConfig:
        """Return an existing consumer group; reading creates none.

        Raises:
            Refusal: the group is unknown.
        """
        group = self.groups.find(name)
        if group is None:
            raise Refusal(
                ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
                f"subscription group not exist, {name}",
            )
        return group

    def find_topic(self, name: str) -> TopicConfig:
        """Return a topic.

        Raises:
            Refusal: this broker has no topic of that name.
        """
        check_visible(name)
        topic = self.topics.find(name)
        if topic is None:
            self.topics.check_not_left_out(name)
            raise Refusal(
                ResponseCode.TOPIC_NOT_EXIST, f"topic[{name}] not exist, apply first please!"
            )
        return topic

    def put_topic(self, topic: TopicConfig) -> bool:
        """Add or replace a topic and notify the name servers; return False if nothing changed.

        The topic is in the log before its first message.

        Raises:
            Refusal: the topic can't be served, or a topic of that name is being deleted.
        """
        self._check_topic(topic)
        with self.alone():
            is_changed = self.topics.put(topic)
            if is_changed:
                self.changes.append()
        return is_changed

    def put_static_topic(self, topic: TopicConfig, static: BrokerTopic) -> None:
        """Add or replace a static topic, both its layout and its mapping, in one step (H-5).

        Raises:
            Refusal: as `put_topic`; then nothing changes.
        """
        self._check_topic(topic)
        if self.static_topics.find(topic.name) is None:
            # The ids of its share queues are physical. Groups continue at their committed offsets.
            self.shares.remove(topic=topic.name)
        with self.alone():
            self.leading.replaced(topic.name)
            is_mapping_changed = self.static_topics.put(topic.name, static)
            if self.topics.put(topic) or is_mapping_changed:
                self.changes.append()
        self.shares.give_away_unled(topic.name)
        if self.hot.wake_pops(topic.name, _ANY_QUEUE):
            # Consumers get the messages of queues that are led from now on.
            self.polling.take_turns()

    def confirm_queues(self, outdated: frozenset[str] = frozenset()) -> None:
        """Let led logical queues take messages, except those of topics with outdated mappings."""
        self.leading.confirm(outdated)
        self._serve_mappings()

    def withdraw_queues(self) -> None:
        """Let no logical queue take messages: another broker group may lead it by now."""
        self.leading.withdraw()
        self._serve_mappings()

    def _check_topic(self, topic: TopicConfig) -> None:
        if (fault := fault_of(topic)) is not None:
            reason = f"the topic[{topic.name}] can't be served: {fault}"
            raise Refusal(ResponseCode.INVALID_PARAMETER, reason)
        is_known = self.topics.find(topic.name) or self.topics.find_left_out(topic.name)
        if is_known is None:
            self.membership.begin_topic(topic.name)
        if self.changes.is_being_deleted(topic.name):
            reason = f"the topic[{topic.name}] is being deleted, not by all replicas yet: try again"
            raise Refusal(ResponseCode.SYSTEM_BUSY, reason)

    def put_topic_if_missing(self, topic: TopicConfig) -> None:
        """Create a topic, unless it exists or another broker must create it.

        Raises:
            Refusal: a topic of that name can't be served, or is being deleted.
        """
        if self.topics.find(topic.name) is None:
            self.topics.check_not_left_out(topic.name)
            if not self.topics.is_following:
                self.put_topic(topic)

    def remove_topic(self, name: str) -> None:
        """Remove a topic and its offsets; its queues are removed once this is confirmed.

        Raises:
            Refusal: the store is not writable, so nothing can be removed.
        """
        self.check_writable(to_make_room=True)
        self.topics.remove(name)
        self.static_topics.remove(name)
        # First of all: what the engine finishes afterwards would leave an offset to a new topic.
        self.shares.remove(topic=name)
        self.take_progress()
        self.offsets.remove_topic(name)
        self.request_modes.remove(topic=name)
        self.changes.append()

    def forget_positions(self, topic: str, queue_id: int) -> None:
        """Drop all positions of groups in a queue that another segment is about to use (H-16)."""
        self.take_progress()
        self.offsets.remove_queue(topic, queue_id)
        self.resets.forget_queue(topic, queue_id)

    def _before_reset(self) -> None:
        """Let no pull be answered without a check, and record what pulls have committed."""
        self.hot.facts_changed()
        self.take_progress()

    def commit(
        self, group: str, topic: str, queue_id: int, *, offset: int, address: str
    ) -> int | None:
        """Record the committed offset of a group in a queue, and return the stored offset.

        An offset beyond the end of the queue becomes that end: otherwise the group would skip
        future messages. A negative offset changes nothing and returns None.
        """
        if offset < 0:
            return None
        if offset != self.offsets.find(group, topic, queue_id):
            _, end = self.store.held_offsets(topic, queue_id) or (0, 0)
            # The log after a damage is not read, but may contain messages.
            knows_end = self.damage is None and not self.topics.is_following
            knows_end = knows_end and not self.local_log.is_elsewhere(topic)
            if offset > end and knows_end:
                self._report_commit(group, topic, queue_id, offset=offset, end=end, address=address)
                offset = end
            self.offsets.commit(group, topic, queue_id=queue_id, offset=offset)
        self.readers.note_commit(
            group, topic, queue_id, offset=offset, address=address, now_ms=self.elapsed_ms()
        )
        return offset

    def _report_commit(
        self, group: str, topic: str, queue_id: int, *, offset: int, end: int, address: str
    ) -> None:
        """Log, from time to time, that a client committed an offset beyond the end of a queue."""
        now_ms = self.elapsed_ms()
        if now_ms - self._commit_reported_at >= REFUSAL_REPORT_MS:
            self._commit_reported_at = now_ms
            log.warning(
                "commit_lowered",
                reason="the client committed an offset beyond the end of the queue",
                consumer_group_name=group,
                topic_name=topic,
                queue_id=queue_id,
                offset=offset,
                queue_end=end,
                client=address,
            )

    def start_deliveries(self) -> None:
        """Deliver delayed messages and those that wait for a time, and check transactions."""
        self.escaped.expire(self.store.min_position)
        self.state.delays.start()
        self.timers.start()
        self.transactions.start()

    def stop_deliveries(self) -> None:
        """Deliver and check nothing more."""
        self.state.delays.stop()
        self.timers.stop()
        self.transactions.stop()

    def turn_aside(self, message: Message) -> Message:
        """Return the message as it is stored: one that waits goes to another topic first.

        Raises:
            Refusal: the message can't wait so.
        """
        slot_ms = self.find_slot(message.properties)
        if slot_ms is not None:
            return turn_to_wheel(message, slot_ms)
        return turn_aside(message, len(self.settings.delay_levels_ms))

    def find_slot(self, properties: dict[str, str]) -> int | None:
        """Return when a message is due that waits for a time; None if it does not.

        A delay level takes precedence (storage-and-ha.md 6.1).

        Raises:
            Refusal: the message can't wait so.
        """
        if delay_level_of(properties) or properties.keys().isdisjoint(TIMER_PROPERTIES):
            return None
        settings = self.settings
        rules = TimerRules(
            is_enabled=settings.timer_enabled,
            precision_ms=settings.timer_precision_ms,
            delay_ms_max=settings.timer_delay_s_max * 1000,
            slot_count_max=settings.timer_slot_count_max,
        )
        return find_slot(
            properties,
            rules,
            now_ms=self.clock(),
            count_at=self.store.timers_at,
            chance=self.source.random,
        )

    def append(self, message: Message) -> Appended:
        """Store a message as it is, and wake held pulls.

        Raises:
            StoreError: the store refused.
            Refusal: the properties are too long.
        """
        (appended,) = self.append_unit([message])
        return appended

    def append_unit(self, messages: Sequence[Message]) -> list[Appended]:
        """Store all of some messages or none, one behind the other, and wake held pulls.

        Raises:
            StoreError: the store refused.
            Refusal: the properties of a message are too long.
        """
        try:
            drafts = [(one, encode_properties(one.properties)) for one in messages]
        except ValueError as error:
            raise Refusal(ResponseCode.MESSAGE_ILLEGAL, str(error)) from error
        appended = self.store.append_unit(drafts)
        self.arrived(
            (message.topic, message.queue_id, one.queue_offset + 1)
            for message, one in zip(messages, appended, strict=True)
        )
        return appended

    def arrived(self, arrivals: Iterable[tuple[str, int, int]]) -> None:
        """Wake the held pulls of queues with new messages, once readers may see the messages."""
        self._wake(arrivals)
        self.membership.appended()

    def appended(self, *, is_turn_due: bool) -> None:
        """Note that the engine appended sends of clients, and has perhaps woken pulls."""
        self.membership.appended()
        if is_turn_due:
            self.polling.take_turns()

    def confirm(self, position: int | None) -> None:
        """Show readers the log up to a position, None for all of it, and wake held pulls.

        If the log has not reached the position, the next call reports messages that are appended
        before it.
        """
        self._is_read_limited = position is not None
        is_turn_due, delay_queue_ids = self.hot.confirm(position, SCHEDULE_TOPIC)
        for queue_id in delay_queue_ids:
            self.state.delays.arrived(queue_id)
        if is_turn_due:
            self.polling.take_turns()

    @property
    def is_read_limited(self) -> bool:
        """Return whether readers see the log up to a confirmed position only."""
        return self._is_read_limited

    def _wake(self, arrivals: Iterable[tuple[str, int, int]]) -> None:
        for topic, queue_id, end in arrivals:
            if self._is_read_limited and not self.local_log.has(topic):
                continue
            if topic == SCHEDULE_TOPIC:
                self.state.delays.arrived(queue_id)
            else:
                self.polling.arrived([(topic, queue_id, end)])

    def store_failed(self, reason: str) -> None:
        """Log, from time to time, why the store unexpectedly refuses messages."""
        self.meters.put_failure_count += 1
        now_ms = self.elapsed_ms()
        if now_ms - self._refusal_reported_at >= REFUSAL_REPORT_MS:
            self._refusal_reported_at = now_ms
            log.error("messages_refused", reason=reason)

    def notify_members(self, consumer_group_name: str) -> None:
        """Notify every member of a group to rebalance now (remoting.md 2.6, 40)."""
        group, config = (
            self.consumers.find(consumer_group_name),
            self.groups.find(consumer_group_name),
        )
        if group is None or group.is_broadcasting or (config and not config.notify_members):
            return
        ext = encode_header(ConsumerGroupHeader(consumer_group=consumer_group_name))
        frame = commands.notice(RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, opaque=0, ext=ext)
        for member in group.members:
            member.send(frame)

    def forget(self, caller: Caller) -> None:
        """Remove a closed connection from every table."""
        self.producers.drop_channel(caller)
        client_id = self.consumers.client_id_of(caller)
        for consumer_group_name in self.consumers.drop_channel(caller):
            self.notify_members(consumer_group_name)
            self.shares.client_lost(caller.connection_id, consumer_group_name, client_id)

    @property
    def escaped(self) -> EscapedMessages:
        """Return which messages a replica let escape while it acted."""
        return self.state.escaped

    def _build_delays(
        self, stored: DelayOffsetFile | None, escaped: EscapedMessages
    ) -> DelayDelivery:
        return DelayDelivery(
            self.store,
            levels_ms=self.settings.delay_levels_ms,
            stored=stored,
            read=partial(read_delayed, self.store),
            on_thread=self.read_threads.read,
            deliver=partial(
                deliver_delayed,
                self.store,
                self.arrived,
                is_former=self._is_former,
                is_being_deleted=self._is_being_deleted,
                find_block=self._find_delivery_block,
                find_queue=self._find_delivery_queue,
            ),
            clock=self.clock,
            escaped=escaped,
            stored_at_ms=lambda level, offset: self.store.store_timestamp(
                SCHEDULE_TOPIC, level - 1, offset
            ),
        )

    def _build_timers(self) -> TimerDelivery:
        return TimerDelivery(
            self.store,
            precision_ms=self.settings.timer_precision_ms,
            arrived=self.arrived,
            find_target=self.find_target,
            find_block=self._find_delivery_block,
            clock=self.clock,
            escaped=self.state.escaped,
        )

    def _build_transactions(self) -> Transactions:
        return Transactions(
            self,
            self.store,
            self.hot.transactions,
            on_thread=self.read_threads.read,
            ask=self._ask_producer,
            clock=self.clock,
        )

    def find_target(self, topic_name: str, queue_id: int, position: int) -> Target | None:
        """Return the queue that takes a message which waited at a log position; None for now.

        Messages before the second value of the target are void: their topic was deleted since.
        """
        if self._is_being_deleted(topic_name):
            return None
        is_former = self._is_former(topic_name, position)
        taker = self._find_delivery_queue(topic_name, queue_id)
        void_before = self.changes.deleted_at(topic_name) if is_former else 0
        if self.local_log.has(topic_name):
            # No message waits for such a topic, so this one is of a former topic of the name.
            void_before = self.store.max_position
        return None if taker is None else (taker, void_before)

    def create_topic_of_transactions(self, name: str) -> None:
        """Create a topic of transactions, if it is missing."""
        self.put_topic_if_missing(topic_of(name, 1))

    def asks_for_master(self, log_position: int) -> bool:
        """Return whether this broker asks about a half message for its absent master.

        The log position is that of its first record.
        """
        decisions = self.membership.decisions
        return decisions is not None and log_position not in decisions.kept

    def _ask_producer(self, half: Record, copy: Place) -> None:
        """Ask any connected producer of the group whether it commits a half message (39)."""
        group = half.properties.get(PRODUCER_GROUP, "")
        producers = [one for one in self.producers.find(group) or () if not one.is_gone]
        content = self.store.held_record(copy.log_position)
        escapes = self.membership.escapes
        if not producers and escapes is not None and escapes.take_half(half):
            return
        if not producers or content is None:
            log.info("no_producer_to_ask", producer_group_name=group)
            return
        self.source.choice(producers).send(check_of(half, copy, content, self.settings.broker_name))

    def _build_changes(self) -> RecordedChanges:
        return RecordedChanges(
            self.journal,
            self.shared.deletions,
            self.flusher,
            self.settings,
            outcome=self._outcome,
            safe_position=self._safe_position,
        )

    def _find_delivery_block(self) -> WriteBlock | None:
        """Return why messages that are due can't be stored here now."""
        return next((block for block in DELIVERY_BLOCKS if block in self._blocks), None)

    def _find_delivery_queue(self, topic_name: str, queue_id: int) -> int | None:
        static = self.static_topics.find(topic_name)
        return queue_id if static is None else self.leading.delivery_queue(static, queue_id)

    def _is_being_deleted(self, topic_name: str) -> bool:
        return self.changes.is_being_deleted(topic_name)

    def _is_former(self, topic_name: str, log_position: int) -> bool:
        """Return whether a message was sent before its topic was deleted and created again.

        Without the topic the message is still delivered. It is no longer delivered once the topic
        is created again.
        """
        if self.local_log.has(topic_name):
            return True
        if log_position >= self.changes.deleted_at(topic_name):
            return False
        if self.topics.find(topic_name) is None:
            self.changes.note_former(topic_name)
            return False
        return True

    async def _outcome(self, position: int) -> Outcome:
        return await self.membership.outcome(position)

    def _safe_position(self) -> int:
        return self.membership.safe_position

    @property
    def _first_block(self) -> WriteBlock | None:
        if not self._blocks:
            return None
        return next(block for block in WriteBlock if block in self._blocks)

    def _on_block_change(self, block: WriteBlock) -> None:
        self.hot.set_writable(not self._blocks, self._first_block)
        if block in REFUSAL_CODES:
            for topic in self.topics.all():
                self._serve_topic(topic.name, topic)

    def _on_topic_change(self, name: str, topic: TopicConfig | None) -> None:
        self.hot.facts_changed()
        if topic is None:
            # First of all: the engine must not store a message under the name elsewhere.
            self._serve_topic(name, None)
        self.local_log.topic_changed(name, topic)
        self._serve_topic(name, topic)
        self.member_shares.topic_changed(name, topic)
        if topic is None:
            self.resets.forget(topic=name)
            self.readers.remove_topic(name)
            self.meters.traffic.forget_topic(name)
            self.polling.release_topic(name)
        if self.name_servers is not None:
            self.name_servers.poke()

    def _on_mapping_change(self, name: str, topic: BrokerTopic | None) -> None:
        self._serve_mapping(name, topic)
        self.share_moves.forget_reports(name)
        self.member_shares.mapping_changed(name)
        self.topics.note_mapping(name)
        if self.name_servers is not None:
            self.name_servers.poke()

    def _serve_mappings(self) -> None:
        for name, topic in self.static_topics.all.items():
            self._serve_mapping(name, topic)

    def serve_topic(self, name: str) -> None:
        """Let the engine serve a topic again, since more or fewer of its requests are served."""
        self.hot.facts_changed()
        self._serve_topic(name, self.topics.find(name))
        self.polling.release_topic(name)

    def _serve_mapping(self, name: str, topic: BrokerTopic | None) -> None:
        """Let the engine serve the logical queues that are led here, and no other ones.

        Pulls that wait are checked again if a queue has moved: they continue at its new place.
        """
        has_left = self.leading.update(name, topic)
        self.hot.facts_changed()
        self._serve_topic(name, self.topics.find(name))
        if has_left:
            self.polling.release_topic(name)

    def _serve_topic(self, name: str, topic: TopicConfig | None) -> None:
        """Let the hot path serve exactly the topics that need no further checks.

        The hot path refuses with one code only, so topics with another refusal are not served
        there.
        """
        is_refused = not self._blocks.isdisjoint(REFUSAL_CODES)
        if topic is None or is_refused or not self.local_log.serves(topic):
            self.hot.remove_topic(name)
        elif name not in _UNSERVED_TOPICS and not name.startswith(RETRY_PREFIX):
            self.hot.set_topic(
                name,
                perm=permitted(topic, self.settings.permissions),
                read_queue_count=topic.read_queue_count,
                write_queue_count=topic.write_queue_count,
                leading=self.leading.find(name),
            )

    def _on_disk_full(self, is_full: bool) -> None:  # noqa: FBT001 - the only fact
        change = self.block_writes if is_full else self.unblock_writes
        change(WriteBlock.DISK_FULL)

    def _on_flush_failure(self, error: Exception) -> None:
        log.critical("flush_failed", reason=str(error), exc_info=error)
        self.block_writes(WriteBlock.FLUSH_FAILED)
        # First: after a panic the store does not say how far the disk has it.
        self.membership.flush_failed()
        self.share_incidents.open(
            IncidentKind.CANNOT_STORE, self.store.flushed_position, str(error)
        )

    def copy_damaged(self, position: int, reason: str) -> None:
        """Leave the group, and copy the log from a damaged record on again.

        The broker starts again for it (queue-ownership.md 4.12): the log of a running process only
        grows (D27).
        """
        self.share_incidents.open(IncidentKind.CANNOT_APPLY, position, reason)
        try:
            note_damage(self.settings.root_dir, position)
        except OSError as error:
            log.warning("damage_not_noted", reason=str(error))
            return
        self.rejoining = asyncio.get_running_loop().create_task(self._rejoin(), name="rejoin")

    async def _rejoin(self) -> None:
        await self.share_incidents.wait_reported(REPORT_S_MAX)
        self.restart_wanted.set()

    def _log_epoch(self) -> int:
        """Return the epoch of the end of the log; -1 without one."""
        return max((epoch for epoch, _ in self.store.epochs()), default=-1)


def _take_transactions(hot: HotPath, settings: BrokerSettings) -> None:
    """Let the hot path take transactions, unless this broker refuses them."""
    timeout_ms = None if settings.rejects_transactions else settings.transaction_timeout_ms
    hot.take_transactions(timeout_ms)
