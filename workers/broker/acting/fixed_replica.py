"""The membership of a replica without a controller, which may act for its absent master.

It acts while it has the least id of its group (control-plane.md 5.3, 5.4). An acting master takes
committed offsets and gives locks. It appends nothing: its log stays a beginning of its master's. So
what it takes is in its tables and files only, until the master takes it over.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable
from typing import Final

import msgspec
import structlog
from regent_engine import Command, StoreError

from backend.remoting.bodies.controller import HaClientBody, HaStatusBody
from backend.remoting.errors import RemotingError
from backend.remoting.headers.replication import HaInfoAnswer, HaInfoHeader, LeastIdHeader
from backend.remoting.java_json import InvalidJson
from workers.broker.acting.decisions import Decisions, decision_path
from workers.broker.acting.escape_bridge import EscapeBridge
from workers.broker.acting.fixed_role import FixedRole
from workers.broker.acting.least_id import MASTER_ID, Least, LeastId
from workers.broker.acting.passing_back import Acted, pass_back
from workers.broker.acting.plain_follower import PlainFollower
from workers.broker.acting.taking_over import stand_by
from workers.broker.broker import Broker
from workers.broker.commit_log.elapsed import elapsed_s
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.group.required_role import RequiredRole, check_role
from workers.broker.replication.acknowledgement import Outcome, Release
from workers.broker.replication.master_inquiry import ask_master
from workers.broker.replication.passing_on import MasterLink, PassingOn
from workers.broker.replication.state_journal import ALONE
from workers.broker.replication.stock_metadata import StockMetadata

NEWS_COUNT_MAX: Final = 256
"""Changes of the least id, and masters to follow, that wait for one another."""

ACTED_SAVE_S: Final = 0.2
ACTED_REST_PER_SAVE: Final = 4
"""Of a large table, so that saving it takes a fifth of the time at most."""

log = structlog.get_logger()


class FixedReplica(FixedRole):
    """A replica; it follows the master that a name server, or the master itself, names."""

    ha_address: str | None = None

    def __init__(self, broker: Broker) -> None:
        """Take the state of the log, and accept no messages."""
        super().__init__(broker)
        self._least = LeastId()
        self.passing = PassingOn(broker.hot, broker.meters, lambda: broker.settings.passes_on)
        self.follower: PlainFollower | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._news: deque[Least | str] = deque(maxlen=NEWS_COUNT_MAX)
        self._decisions = Decisions(decision_path(broker.settings))
        self._bridge = EscapeBridge(broker)
        self._has_news = asyncio.Event()
        self._passing_back: asyncio.Task[None] | None = None
        # The change that waits until the master, which no name server knows, is silent.
        self._awaits_silence: Least | None = None
        self.is_acting = False
        self._acting_since_ms = 0
        self._served_by: MasterLink | None = None
        broker.block_writes(WriteBlock.NOT_MASTER)
        broker.journal.load()
        broker.journal.follow(ALONE)
        broker.confirm(broker.store.max_position)

    # The requests of clients.

    def check(self, required: RequiredRole) -> None:
        """Check that this replica may serve a request: more of them while it acts.

        Raises:
            Refusal: it may not.
        """
        self._check_uncontrolled(required)
        takes = self.is_acting and required is RequiredRole.MASTER_TAKES
        check_role(required, is_readable=True, is_master=takes)

    def pass_on(self, command: Command) -> Awaitable[bytes | None] | None:
        """Let the master answer a request; None if this broker must answer."""
        return self.passing.take(command)

    def appended(self) -> None:
        """Do nothing: nothing is appended here."""

    def when_safe(self, _position: int, release: Release) -> None:
        """Release the wait: a replica acknowledges nothing."""
        release(Outcome.DEPOSED)

    async def outcome(self, _position: int) -> Outcome:
        """Return that this broker is no master."""
        return Outcome.DEPOSED

    async def stored(self, _position: int, _reply: bytes, late_reply: bytes) -> bytes:
        """Return the late answer: nothing is stored here."""
        return late_reply

    def flush_failed(self) -> None:
        """Do nothing: no client waits for the disk of a replica."""

    @property
    def decisions(self) -> Decisions | None:
        """Return where decisions of producers wait for the absent master; None unless it is."""
        return self._decisions if self.is_acting else None

    def describe_ha(self) -> HaStatusBody:
        """Describe how this replica follows its master (907)."""
        broker = self._broker
        if self.follower is not None:
            client = self.follower.describe(broker.clock())
        else:
            reason = "the master is absent" if self.is_online else msgspec.UNSET
            client = HaClientBody(max_offset=broker.store.max_position, obstacle=reason)
        return HaStatusBody(is_master=False, client=client)

    def figures(self) -> dict[str, str | int]:
        """Return whether this replica is online, who has the least id, and since when it acts.

        The time is in milliseconds, 0 while it does not act.
        """
        return {
            "online": str(self.is_online).lower(),
            "notOnlineReason": self.not_online_reason,
            "aliveReplicas": len(self.members),
            "leastBrokerId": self._least.known.broker_id,
            "leastBrokerAddr": self._least.known.address,
            "actingSince": self._acting_since_ms,
            "escapedCount": self._bridge.escaped_count,
            "keptDecisionCount": len(self._decisions.kept),
            "actedOffsetCount": sum(map(len, self._broker.offsets.acted.values())),
        }

    # The least id of the group.

    async def begin(self, least: Least) -> None:
        """Serve, and act if no member has a lesser id."""
        self._least.begin(least)
        self.is_online = True
        await self._take_role(least)

    async def stand_by(self) -> None:
        """Copy locks from the broker that serves, and what it took if that is a replica."""
        least, link = self._least.known, self._served_by
        if self.is_acting or not least.address or least.broker_id == self.own_id:
            return
        if link is None or link.address != least.address:
            if link is not None:
                link.retire()
            link = self._served_by = MasterLink(least.address)
        acts = least.broker_id != MASTER_ID
        with contextlib.suppress(OSError, TimeoutError, RemotingError, InvalidJson):
            await stand_by(self._broker, link, acts=acts, is_wanted=lambda: not self.is_acting)

    async def save_acted(self) -> None:
        """Save what is committed here soon, until cancelled: no log has it (I9)."""
        state, rest_s = self._broker.state, ACTED_SAVE_S
        while True:
            await asyncio.sleep(rest_s)
            if not self.is_acting:
                continue
            begun_s = elapsed_s()
            try:
                await state.save_offsets()
                await state.save_delays()
            except (OSError, StoreError) as error:
                log.warning("acted_state_not_saved", reason=str(error))
            rest_s = max(ACTED_SAVE_S, ACTED_REST_PER_SAVE * (elapsed_s() - begun_s))

    async def run(self) -> None:
        """Change the role when that is due, one change after the other, until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            while self._news:
                one = self._news.popleft()
                if isinstance(one, Least):
                    await self._take_role(one)
                else:
                    await self.follow(one)

    def take_least(self, sent: LeastIdHeader) -> None:
        """Note which member of the group has the least id, as a name server says."""
        if sent.min_broker_id is None or sent.min_broker_addr is None:
            return
        self.note_least(
            Least(
                sent.min_broker_id,
                sent.min_broker_addr,
                sent.offline_broker_addr or None,
                sent.ha_broker_addr or None,
            )
        )

    def note_least(self, least: Least) -> None:
        """Change the role if another member has the least id now."""
        if not self.is_online:
            return
        news = self._least.take(least)
        if news is not None:
            log.info("least_id_changed", broker_id=news.broker_id, address=news.address)
            self._add_news(news)

    async def take_master(self, sent: HaInfoHeader) -> None:
        """Follow a master that is about to serve: it waits until this replica copies its log."""
        if sent.master_address:
            self._add_news(sent.master_address)
            await self._bridge.pause()

    def _add_news(self, news: Least | str) -> None:
        self._news.append(news)
        self._has_news.set()

    async def _take_role(self, least: Least) -> None:
        self._awaits_silence = None
        follower = self.follower
        if follower is not None and least.offline_address == follower.master_address:
            if follower.hears_master:
                # The master lives, and only a name server has lost it: it is asked as before.
                self._awaits_silence = least
                return
            # All of the log is there before this broker acts.
            await self._stop_following()
        if least.broker_id == MASTER_ID:
            acted = self._stand_down()
            await self.follow(least.address)
            self._pass_back(acted, least.address)
            self._broker.polling.release_all()
        elif least.broker_id == self.own_id and self._broker.settings.acts_as_master:
            self._act()
        else:
            self._stand_down()
        if least.broker_id != MASTER_ID and self._passing_back is not None:
            self._passing_back.cancel()
            self._passing_back = None

    def _act(self) -> None:
        if self.is_acting:
            return
        broker = self._broker
        self.is_acting = True
        self._acting_since_ms = broker.clock()
        broker.confirm(broker.store.max_position)
        broker.journal.stand_in()
        version = 1 + broker.offsets.data_version.state_version
        broker.offsets.act(version)
        # Consumer groups may begin here; the master makes those again that its clients need.
        broker.groups.lead()
        broker.groups.is_in_log = False
        self.passing.lead()
        if broker.settings.escapes:
            broker.state.delays.is_in_log = False
            broker.state.delays.escape_by(self._bridge.send)
        broker.start_deliveries()
        log.info("acting_master_began", broker_id=self.own_id, version=version)

    def _stand_down(self) -> Acted:
        """Stop to act; return the offsets that the master must have."""
        broker = self._broker
        # The log of the master replaces these soon.
        acted = broker.offsets.acted
        if not self.is_acting:
            return acted
        self.is_acting = False
        self._acting_since_ms = 0
        broker.stop_deliveries()
        broker.state.delays.escape_by(None)
        broker.offsets.follow()
        broker.groups.follow()
        log.info("acting_master_ended", broker_id=self.own_id)
        return acted

    # The master's log.

    async def follow(self, master_address: str) -> None:
        """Copy the log of a master, and let it answer what only a master may."""
        follower = self.follower
        is_followed = follower is not None and follower.master_address == master_address
        if not is_followed:
            await self._stop_following()
        if not self.is_acting:
            self.passing.follow(master_address)
        broker = self._broker
        if is_followed or broker.damage is not None:
            return
        self.follower = PlainFollower(
            broker.store,
            broker.settings,
            master_address=master_address,
            flusher=broker.flusher,
            on_held=broker.confirm,
            on_master=self._note_master,
        )
        self._tasks = [asyncio.create_task(self.follower.run(), name="follow")]

    def _pass_back(self, acted: Acted, master_address: str) -> None:
        """Give the master what was committed here; another attempt ends the former one."""
        if self._passing_back is not None:
            self._passing_back.cancel()
        work = self._give_and_take(acted, master_address)
        self._passing_back = asyncio.create_task(work, name="pass-back")

    async def _give_and_take(self, acted: Acted, master_address: str) -> None:
        """Pass back first: a master of stock is asked for its state, which replaces this one's."""
        broker = self._broker
        await pass_back(acted, self._decisions, master_address)
        broker.offsets.forget_acted()
        with contextlib.suppress(OSError, TimeoutError, RemotingError):
            # It has taken over since this replica began to copy its log.
            self._note_master(await ask_master(master_address))
        await StockMetadata(broker, broker.journal, master_address).run()

    def _note_master(self, master: HaInfoAnswer) -> None:
        if master.master_state_version is not None:
            # In the file as well: this replica may act after a restart, without its master.
            self._broker.offsets.note_version(master.master_state_version)

    async def _stop_following(self) -> None:
        """End the copy of the log: nothing is appended afterwards."""
        if self.follower is not None:
            log.info("master_left", master=self.follower.master_address)
        self.follower = None
        if not self.is_acting:
            self.passing.follow_none()
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def tick(self) -> None:
        """Do the periodic work; raises the error that ended a task."""
        for task in (*self._tasks, self._passing_back):
            if task is not None and task.done() and not task.cancelled():
                task.result()
        due = self._awaits_silence
        if due is not None and (self.follower is None or not self.follower.hears_master):
            self._awaits_silence = None
            self._add_news(due)
        if not self.is_acting:
            self._broker.journal.catch_up()
        self._broker.changes.tick()

    async def stop(self) -> None:
        """End every task; nothing is copied afterwards."""
        self.passing.close()
        self._stand_down()
        self._bridge.close()
        if self._served_by is not None:
            self._served_by.retire()
        await self._stop_following()
        if self._passing_back is not None:
            self._passing_back.cancel()
            await asyncio.gather(self._passing_back, return_exceptions=True)
