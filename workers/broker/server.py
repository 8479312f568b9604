"""Run one broker: open the store, listen, serve, and stop cleanly.

Closing is a sequence: hand over the group, unregister from the name servers, refuse new messages,
and answer held pulls. Then drain to the deadline, close the connections, save the state, and close
the store.
"""

import asyncio
import contextlib
import dataclasses
import random
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

import structlog
from regent_engine import Store, StoreError

from backend.remoting.headers.replication import HaInfoHeader
from workers.broker.acting.fixed_master import FixedMaster
from workers.broker.acting.fixed_replica import FixedReplica
from workers.broker.acting.group import FixedGroup
from workers.broker.acting.lone_master import LoneMaster
from workers.broker.broker import Broker
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import BrokerSettings
from workers.broker.container.own_container import OwnContainer
from workers.broker.dispatcher import Dispatcher
from workers.broker.group.mode_switch import begin_switch, conclude_switch
from workers.broker.listening import bind, bind_one
from workers.broker.metrics.meters import SNAPSHOT_INTERVAL_MS, ms_to_midnight
from workers.broker.metrics.resources import memory_bytes
from workers.broker.processors.traffic import take_counters
from workers.broker.replication.controlled import Controlled
from workers.broker.replication.copy_damage import find_damage
from workers.broker.replication.identity import check_identity
from workers.broker.replication.member import GroupMember
from workers.broker.replication.verification import Verification, begin_verification
from workers.broker.routing.name_servers import NameServers
from workers.broker.routing.registration import RegistrationSource
from workers.broker.sessions import BrokerSessions
from workers.broker.tables.lone_state import LoneState

DRAIN_TIMEOUT_S: Final = 3.0
log = structlog.get_logger()


def now_ms() -> int:
    """Read the wall clock; all other code receives the time as an argument."""
    return time.time_ns() // 1_000_000


class BrokerServer:
    """One broker agent in this process."""

    _announced: HaInfoHeader
    """The addresses of a broker under a controller, which takes over from replicas that act."""

    def __init__(
        self,
        settings: BrokerSettings,
        *,
        given: Mapping[str, str],
        clock: Callable[[], int] = now_ms,
        source: random.Random | None = None,
        config_file: ConfigFile | None = None,
        container: OwnContainer | None = None,
    ) -> None:
        """Bind the ports, open the store and load the state.

        Raises:
            PortInUse: another process listens already.
            StoreError: the store cannot be opened. OSError: the disk refused.
            StateFileUnreadable: a state file and its backup are both damaged.
            IdentityMismatch: the store belongs to another broker group.
        """
        self._switch = begin_switch(settings)
        if settings.controller_mode:
            check_identity(
                settings.root_dir,
                cluster_name=settings.cluster_name,
                broker_name=settings.broker_name,
            )
        self._sockets = bind(settings.bind_address, settings.listen_port)
        port: int = self._sockets[0].getsockname()[1]
        self.settings = dataclasses.replace(settings, listen_port=port)
        self._member: GroupMember | None = None
        self._fixed: FixedGroup | None = None
        self._lone: LoneState | None = None
        self._lone_master: LoneMaster | None = None
        self._verification: Verification | None = None
        with contextlib.ExitStack() as undo:
            undo.callback(self._close_sockets)
            if settings.controller_mode or settings.is_master:
                ha_port = settings.ha_port_of(settings.listen_port)
                self._ha_socket = bind_one(settings.bind_address, ha_port)
                self._sockets.append(self._ha_socket)
                ha_port = self._ha_socket.getsockname()[1]
                self.settings = dataclasses.replace(self.settings, ha_listen_port=ha_port)
            if settings.controller_mode:
                self._verification = begin_verification(settings.root_dir, settings.log_dir)
                if settings.cut_damage_at is not None:
                    # The truncated part may have been acknowledged, so it is reported before it is
                    # removed.
                    self._verification.doubt("cutDamageAt is set")
            self.store = _open_store(self.settings)
            undo.callback(self.store.close)
            if self._verification is not None and self.store.are_epochs_from_backup:
                self._verification.doubt("the epoch file was not readable, and its backup is older")
            if self._verification is not None:
                self._verification.compare(self.store.epochs(), self.store.max_position)
            self.broker = Broker(
                self.settings,
                self.store,
                given=given,
                clock=clock,
                source=source or random.SystemRandom(),
                config_file=config_file,
            )
            self.broker.container = container
            self._note_damage()
            undo.pop_all()
        self.dispatcher = Dispatcher(self.broker)
        self.sessions: BrokerSessions | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._is_closed = False
        self.failed = asyncio.Event()

    @property
    def port(self) -> int:
        """Return the main port."""
        return self.settings.listen_port

    @property
    def fast_port(self) -> int:
        """Return the port that old clients use for sends."""
        port: int = self._sockets[1].getsockname()[1]
        return port

    async def start(self) -> None:
        """Serve clients and keep the name servers informed."""
        broker = self.broker
        broker.state.add_system_topics()
        broker.member_shares.begin()
        broker.flusher.start()
        broker.indexer.start()
        broker.timers.begin()
        sessions = self.sessions = BrokerSessions(broker, self.dispatcher)
        registration_source = RegistrationSource(
            self.settings,
            broker.topics,
            port=self.port,
            left_out=broker.state.left_out,
            find_mapping=broker.static_topics.find_info,
        )
        broker.name_servers = NameServers(
            self.settings.name_servers,
            registration_source,
            on_outdated=broker.confirmation.refresh,
        )
        if self._verification is not None:
            await self._prepare_to_join(registration_source, self._verification)
        elif self.settings.has_fixed_role:
            self._fixed = await self._take_fixed_role(registration_source, broker.name_servers)
        else:
            await self._begin_alone(registration_source)
        # With the mark whether the log contains them.
        await broker.state.try_to_save_topics()
        for listener, is_fast in zip(self._sockets[:2], (False, True), strict=True):
            sessions.listen(listener, is_fast=is_fast)
        # A member of a group registers once its role is known.
        is_member = self._member is not None or self._fixed is not None
        links = broker.name_servers.start(is_held=is_member)
        for link in links:
            link.add_done_callback(self._on_task_done)
        self._begin_tasks()
        log.info(
            "broker_started",
            cluster_name=self.settings.cluster_name,
            broker_name=self.settings.broker_name,
            broker_id=self.settings.broker_id,
            address=registration_source.address,
            store=str(self.settings.root_dir),
        )

    def _note_damage(self) -> None:
        """Treat the log as damaged where a former run has found a damaged record."""
        if self.settings.controller_mode and self.broker.damage is None:
            self.broker.damage = find_damage(
                self.settings.root_dir, from_position=self.store.min_position
            )

    def _begin_tasks(self) -> None:
        broker = self.broker
        self._begin("save", broker.state.save_periodically())
        self._begin("keep-house", self._keep_house())
        self._begin("confirm-queues", broker.confirmation.run())
        self._begin("share-queues", broker.shares.run())
        if self._lone is not None:
            self._begin("record", self._lone.run())
        if self._fixed is not None:
            self._begin("fixed-group", self._fixed.run())
        elif self._lone_master is not None:
            self._begin("lone-master", self._lone_master.run())
            # Without a controller there is no lease: this broker is always the master.
            broker.confirmation.follow(may_lead=True)
        if broker.lease_keeper is not None:
            self._begin("share-leases", broker.lease_keeper.run())
        if self._member is not None:
            self._begin("group-member", self._take_part(self._member))
        elif broker.damage is None:
            self._begin("clean", broker.cleaner.run())

    async def _prepare_to_join(
        self, registration_source: RegistrationSource, verification: Verification
    ) -> None:
        """Fence the broker before clients connect: it serves once its group has a master."""
        membership = Controlled(
            self.broker, registration_source, verification, ha_socket=self._ha_socket
        )
        membership.fence()
        await membership.listen()
        self.broker.membership = membership
        self._announced = HaInfoHeader(
            master_ha_address=registration_source.ha_address,
            master_address=registration_source.address,
        )
        self._member = GroupMember(
            self.settings, membership, own_address=registration_source.address
        )
        self.broker.use_leases(self._member.ask_for_leases)

    async def _begin_alone(self, registration_source: RegistrationSource) -> None:
        """Serve at once, as the master of a group that may get replicas."""
        broker = self.broker
        self._lone = LoneState(broker)
        await self._lone.begin()
        master = LoneMaster(broker, registration_source, ha_socket=self._ha_socket)
        await master.leading.start()
        broker.membership = self._lone_master = master
        if broker.damage is None:
            broker.start_deliveries()

    async def _take_fixed_role(
        self, registration_source: RegistrationSource, name_servers: NameServers
    ) -> FixedGroup:
        """Take the role of the settings; the broker serves once it is online."""
        broker = self.broker
        membership: FixedMaster | FixedReplica
        if not self.settings.is_master:
            membership = FixedReplica(broker)
        else:
            self._lone = LoneState(broker)
            await self._lone.begin()
            membership = FixedMaster(broker, registration_source, ha_socket=self._ha_socket)
            await membership.leading.start()
        broker.membership = membership
        return FixedGroup(broker, membership, name_servers, own_address=registration_source.address)

    async def _take_part(self, member: GroupMember) -> None:
        """Become a member of the group, with a complete log."""
        if self.broker.damage is not None:
            await member.mend()
        if self._switch is not None:
            await conclude_switch(self.broker, self._switch, self._announced)
        self._begin("clean", self.broker.cleaner.run())
        await member.run()

    def _begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.append(task)
        task.add_done_callback(self._on_task_done)

    async def close(self) -> None:
        """Stop cleanly; a second call does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        started_at = time.monotonic()
        broker = self.broker
        await self._leave_group()
        if self.sessions is not None:
            self.sessions.stop_listening()
            for listener in self._sockets[:2]:
                listener.close()
        broker.block_writes(WriteBlock.STOPPING)
        broker.stop_deliveries()
        if self.sessions is not None:
            await self.sessions.drain(DRAIN_TIMEOUT_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await broker.shared_pops.wait_closed()
        await broker.share_moves.close()
        await broker.timers.end()
        await broker.indexer.stop()
        await broker.flusher.stop()
        await broker.read_threads.stop()
        await broker.file_thread.stop()
        broker.peers.close()
        broker.pull_peers.close()
        if self.sessions is not None:
            self.sessions.close()
        if self._lone is not None:
            self._lone.record()
        await broker.state.save_all()
        await broker.local_log.wait_closed()
        outcome = await self._close_store()
        if self.sessions is not None:
            self.sessions.stop()
        self._close_sockets()
        duration_ms = round((time.monotonic() - started_at) * 1000)
        log.info("broker_stopped", outcome=outcome, duration_ms=duration_ms)

    async def _leave_group(self) -> None:
        """Let the other members have all data, and unregister from the name servers."""
        broker = self.broker
        if broker.lease_keeper is not None:
            # Other members own the share queues before this one is away (O30).
            await broker.lease_keeper.leave()
        if self._member is not None:
            # The next master must have every accepted message, and clients wait for it (R10c).
            broker.block_writes(WriteBlock.STOPPING)
            broker.stop_deliveries()
            await self._member.leave()
            # Before routes name a replica that waits for the other mode, it has all commits.
            await broker.last_copies.wait()
        if self._fixed is not None:
            # Before a replica acts, it has all that this broker took.
            broker.block_writes(WriteBlock.STOPPING)
            broker.stop_deliveries()
            await self._fixed.prepare_to_leave()
            if self._lone is not None:
                self._lone.record()
        if broker.name_servers is not None:
            await broker.name_servers.stop()
        if self._fixed is not None:
            await self._fixed.leave()
        if self._lone_master is not None:
            await self._lone_master.leading.leave()

    async def _close_store(self) -> str:
        """Close the store; after a failure it stays marked as not closed, and is recovered."""
        try:
            await asyncio.to_thread(self.store.close)
        except StoreError as error:
            log.error("store_not_closed", reason=str(error))  # noqa: TRY400 - no trace needed
            self.failed.set()
            return "unclean"
        return "clean"

    async def _keep_house(self) -> None:
        while True:
            # The counters of a day start at its first moment.
            pause_ms = min(SNAPSHOT_INTERVAL_MS, ms_to_midnight(self.broker.clock()))
            await asyncio.sleep(pause_ms / 1000)
            now_ms = self.broker.elapsed_ms()
            put_count = take_counters(self.broker, now_ms)
            self.broker.meters.snapshot(now_ms, put_count)
            self.broker.meters.note_day(self.broker.clock(), put_count)
            self.sweep()

    def sweep(self) -> None:
        """Remove idle connections, silent clients and old locks.

        A client that does not read would keep a connection open that closes only after all is
        written.
        """
        now_ms = self.broker.elapsed_ms()
        self.broker.locks.sweep(now_ms)
        silent = self.broker.consumers.silent_channels(now_ms)
        for caller in silent | self.broker.producers.silent_channels(now_ms):
            log.info("client_silent", client=caller.address)
            caller.abort()
        if self.sessions is not None:
            self.sessions.close_idle()

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        """Stop the broker: no task ends by itself, and the broker needs all of them."""
        if not task.cancelled():
            log.critical("task_ended", task=task.get_name(), exc_info=task.exception())
            self.failed.set()

    def _close_sockets(self) -> None:
        for listener in self._sockets:
            listener.close()


def _open_store(settings: BrokerSettings) -> Store:
    settings.root_dir.mkdir(parents=True, exist_ok=True)
    commit_log_dir = settings.commit_log_dir
    store = Store(
        str(settings.root_dir),
        commit_log_path=None if commit_log_dir is None else str(commit_log_dir),
        segment_size_bytes=settings.commit_log_file_size_bytes,
        queue_file_size_bytes=settings.queue_file_size_bytes,
        flush_mode=settings.flush_mode,
        message_body_size_max=settings.message_size_max_bytes,
        delay_levels_ms=settings.delay_levels_ms,
        crc_property=settings.crc_property,
        index_enabled=settings.index_enabled,
        index_slot_count=settings.index_slot_count,
        index_entry_count=settings.index_entry_count,
        hot_size_bytes=memory_bytes() * settings.memory_percent // 100,
        timer_precision_ms=settings.timer_precision_ms,
        timer_window_steps=settings.timer_window_steps,
        timer_log_file_size_bytes=settings.timer_log_file_size_bytes,
        store_host=(settings.advertised_ip, settings.listen_port),
        cut_damage_at=settings.cut_damage_at,
    )
    if store.had_failed_flush:
        log.warning(
            "store_forgot_unflushed",
            reason="a flush failed in the last run: messages that were not on the disk are lost",
            log_position=store.max_position,
        )
    if store.was_converted:
        log.info(
            "store_converted",
            reason="a former version left it, which reused expired segments of the commit log",
            log_position=store.max_position,
        )
    if (lost := store.lost_unflushed) is not None:
        log.warning(
            "unflushed_records_lost",
            reason="the machine went down before they were flushed, or the files were copied while"
            " a broker wrote them: the first are gone, and what followed was cut",
            log_position=lost[0],
            next_valid_position=lost[1],
            next_step="none in a group, whose master has them; elsewhere go on without them, or put"
            " back a copy of a stopped broker or of a snapshot (docs/maintenance.md, Backups)",
        )
    if (damage := store.damage) is not None:
        log.critical(
            "store_damaged",
            reason=damage.reason,
            log_position=damage.position,
            next_valid_position=damage.next_valid_position,
            consent_to_cut=f"cutDamageAt={damage.position}",
        )
    return store
