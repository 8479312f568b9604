"""The membership of a replica without a controller, which may act for its absent master.

It acts while it has the least id of its group (control-plane.md 5.3, 5.4). An acting master takes
committed offsets, gives locks and serves POP. It appends nothing: its log stays a beginning of its
master's. So what it takes is in its tables and files only, until the master takes it over.
"""

import asyncio
import contextlib
import math
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
from backend.remoting.response_code import ResponseCode
from backend.rules.broker import MASTER_ID
from workers.broker.acting.decisions import Decisions, decision_path
from workers.broker.acting.escape_bridge import PAUSE_S, EscapeBridge
from workers.broker.acting.fixed_role import FixedRole
from workers.broker.acting.least_id import Least, LeastId
from workers.broker.acting.passing_back import Acted, PassingBack
from workers.broker.acting.plain_follower import PlainFollower
from workers.broker.acting.taking_over import stand_by
from workers.broker.broker import Broker
from workers.broker.commit_log.elapsed import elapsed_s
from workers.broker.commit_log.write_block import WriteBlock
from workers.broker.errors import Refusal
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

GIVEN_WAY_S_MAX: Final = 5.0
"""How long an acting replica takes no commits after its successor has asked for the state."""

GIVEN_WAY_PAUSE_S: Final = 30.0
"""From one such time to the next: a successor that fails again and again stops no consumer."""

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
        self._bridge = EscapeBridge(broker, self._decisions)
        self._has_news = asyncio.Event()
        # Only one change at a time: two would each begin to copy a log.
        self._changing = asyncio.Lock()
        self._is_stopped = False
        self._passing_back: asyncio.Task[None] | None = None
        # The change that waits until the master, which no name server knows, is silent.
        self._awaits_silence: Least | None = None
        self.is_acting = False
        self._acting_since_ms = 0
        self._gives_way_until_s: float | None = None
        self._gives_way_again_s = 0.0
        self._pops_held_until_s: float | None = None
        self._served_by: MasterLink | None = None
        self._copying_state = asyncio.Lock()
        broker.block_writes(WriteBlock.NOT_MASTER)
        broker.journal.load()
        broker.journal.follow(ALONE)
        # A kill may separate the two files.
        broker.escaped.take_over(self._decisions.escaped)
        broker.confirm(broker.store.max_position)

    # The requests of clients.

    def check(self, required: RequiredRole) -> None:
        """Check that this replica may serve a request: more of them while it acts.

        Raises:
            Refusal: it may not.
        """
        self._check_uncontrolled(required)
        is_serving = self.is_acting and self._gives_way_until_s is None
        takes = is_serving and required is RequiredRole.MASTER_TAKES
        check_role(required, is_readable=True, is_master=takes)

    def pass_on(self, command: Command) -> Awaitable[bytes | None] | None:
        """Let the broker that serves answer a request; None if this broker must answer.

        Raises:
            Refusal: this broker does not know yet who serves; or as `PassingOn.take`.
        """
        if not self.is_online and self.follower is None:
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, "this replica is not online yet")
        late = self.passing.take(command)
        if late is None and self._gives_way_until_s is not None:
            # Its successor may have taken commits already (I9).
            reason = "another broker of this group is about to serve: ask for the route again"
            raise Refusal(ResponseCode.SERVICE_NOT_AVAILABLE, reason)
        return late

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

    @property
    def escapes(self) -> EscapeBridge:
        """Return the way of messages to other broker groups."""
        return self._bridge

    def describe_ha(self) -> HaStatusBody:
        """Describe how this replica follows its master (907)."""
        broker = self._broker
        if self.follower is not None:
            client = self.follower.describe(broker.clock())
        else:
            reason = "the master is absent" if self.is_online else msgspec.UNSET
            client = HaClientBody(max_offset=broker.store.max_position, obstacle=reason)
        return HaStatusBody(is_master=False, client=client)

    @property
    def unpassed(self) -> str:
        """Return why its master still lacks state that only this replica has; empty if it does not.

        Such state is passed back soon once the master serves.
        """
        if self.is_acting:
            return "it acts for its absent master"
        counts = {
            "offsets": sum(map(len, self._broker.offsets.acted.values())),
            "decisions of transactions": len(self._decisions.kept),
            "share queues": len(self._broker.shares.finished.kept),
        }
        kept = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        return f"it has not yet passed back to its master: {kept}" if kept else ""

    def figures(self) -> dict[str, str | int]:
        """Return whether this replica is online, who has the least id, and since when it acts.

        The time is in milliseconds, 0 while it does not act. As in RocketMQ, an acting replica is
        active.
        """
        return {
            **super().figures(),
            "brokerActive": str(self.is_acting).lower(),
            "aliveReplicas": len(self.members),
            "leastBrokerId": self._least.known.broker_id,
            "leastBrokerAddr": self._least.known.address,
            "actingSince": self._acting_since_ms,
            "escapedCount": self._bridge.escaped_count,
            "outboxCount": len(self._bridge),
            "keptDecisionCount": len(self._decisions.kept),
            "keptShareQueueCount": len(self._broker.shares.finished.kept),
            "actedOffsetCount": sum(map(len, self._broker.offsets.acted.values())),
        }

    # The least id of the group.

    async def begin(self, least: Least) -> None:
        """Serve, and act if no member has a lesser id."""
        self._least.begin(least)
        self.is_online = True
        await self._change(least)

    @property
    def _lacks_log(self) -> bool:
        """Return whether the master is in controller mode, so that its log does not come."""
        return self.follower is not None and self.follower.is_controlled

    async def stand_by(self) -> None:
        """Copy locks from the broker that serves, and what it took if no log has that."""
        least = self._least.known
        if self.is_acting or not least.address or least.broker_id == self.own_id:
            return
        acts = least.broker_id != MASTER_ID or self._lacks_log
        await self._copy_state(least.address, acts=acts)

    async def _copy_state(self, address: str, *, acts: bool) -> None:
        link = self._served_by
        if link is None or link.address != address:
            if link is not None:
                link.retire()
            link = self._served_by = MasterLink(address)

        def is_wanted() -> bool:
            # A master that is online has taken all of it, and this replica passes nothing back.
            is_late = acts and self._least.known.broker_id == MASTER_ID and not self._lacks_log
            return not (self.is_acting or is_late)

        with contextlib.suppress(OSError, TimeoutError, RemotingError, InvalidJson):
            # An open question may have the last answer of a master that leaves.
            async with self._copying_state:
                await stand_by(self._broker, link, acts=acts, is_wanted=is_wanted)

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
                await state.save_escaped()
                await self._decisions.save()
            except (OSError, StoreError) as error:
                log.warning("acted_state_not_saved", reason=str(error))
            rest_s = max(ACTED_SAVE_S, ACTED_REST_PER_SAVE * (elapsed_s() - begun_s))

    async def run(self) -> None:
        """Change the role when that is due, one change after the other, until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            while self._news:
                await self._change(self._news.popleft())

    def take_least(self, sent: LeastIdHeader) -> None:
        """Note which member of the group has the least id, as a name server says."""
        if sent.min_broker_id is None or sent.min_broker_addr is None:
            return
        self.notice_count += 1
        self.note_least(
            Least(
                sent.min_broker_id,
                sent.min_broker_addr,
                sent.offline_broker_addr or None,
                sent.ha_broker_addr or None,
            )
        )

    def note_polled(self, least: Least, *, notice_count: int) -> None:
        """Note the least id of a poll that began when so many notices had come.

        A notice that came since is newer: the name server may have answered the poll before it.
        """
        if notice_count == self.notice_count:
            self.note_least(least)

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
            if self.is_acting:
                self._hold_pops(PAUSE_S)
            await self._bridge.pause()

    def _add_news(self, news: Least | str) -> None:
        self._news.append(news)
        self._has_news.set()

    async def _change(self, news: Least | str) -> None:
        """Take the role that follows from a least id, or follow the master of an address."""
        async with self._changing:
            if self._is_stopped:
                return
            if isinstance(news, Least):
                await self._take_role(news)
            else:
                await self._follow(news)

    async def _take_role(self, least: Least) -> None:
        self._awaits_silence = None
        follower = self.follower
        if follower is not None and follower.is_controlled and least.broker_id != MASTER_ID:
            # The master starts again for this mode, and gives what it took last.
            await self._copy_state(follower.master_address, acts=True)
        if follower is not None and least.offline_address == follower.master_address:
            if follower.hears_master:
                # The master lives, and only a name server has lost it: it is asked as before.
                self._awaits_silence = least
                return
            # All of the log is there before this broker acts.
            await self._stop_following()
        if least.broker_id == MASTER_ID:
            acted = self._stand_down()
            await self._follow(least.address)
            self._pass_back(acted, least.address)
            self._broker.polling.release_all()
        elif least.broker_id == self.own_id and self._broker.settings.acts_as_master:
            self._act()
        else:
            self._stand_down()
            if self._broker.settings.acts_as_master:
                # It takes the commits of the group now (I9).
                self.passing.follow(least.address)
            elif self.follower is None:
                # As a replica of stock it answers itself, from all of the log.
                self._broker.journal.catch_up()
                self.passing.follow_none()
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
        broker.escaped.take_over(self._decisions.escaped)
        # It has recalls as well.
        broker.escaped.is_in_log = False
        if broker.settings.escapes or broker.container is not None:
            broker.state.delays.is_in_log = False
            self._bridge.begin()
        broker.start_deliveries()
        self._stand_in_for_shares()
        log.info("acting_master_began", broker_id=self.own_id, version=version)

    def give_way(self) -> None:
        """Take no commits and locks: the member that serves next would not know them (I9, I11).

        Clients wait until that member serves. If it does not, this replica goes on to act. Another
        question soon afterwards changes nothing: commits of that time are passed back later.
        """
        now_s = asyncio.get_running_loop().time()
        if not self.is_acting or now_s < self._gives_way_again_s:
            return
        self._gives_way_again_s = now_s + GIVEN_WAY_PAUSE_S
        self._give_way_for(GIVEN_WAY_S_MAX)

    async def give_up(self) -> int:
        """Take nothing any more: this replica stops; return how many members may act next."""
        # It does not begin to act again, whatever a successor does.
        self._gives_way_again_s = math.inf
        self._give_way_for(math.inf)
        await self._bridge.pause()
        return sum(1 for _ in self._find_others())

    def _give_way_for(self, duration_s: float) -> None:
        self._gives_way_until_s = asyncio.get_running_loop().time() + duration_s
        self._broker.offsets.hold(is_held=True)
        self.passing.pause(min(duration_s, GIVEN_WAY_S_MAX))
        self._hold_pops(duration_s)

    def _stand_in_for_shares(self) -> None:
        """Hand out messages to POP consumers, with the log as it is now."""
        self._pops_held_until_s = None
        try:
            self._broker.shares.stand_in()
        except StoreError as error:
            log.exception("share_queues_not_read", reason=str(error))

    def _hold_pops(self, wait_s: float) -> None:
        """Hand out no messages for a moment: the broker that serves next hands them out again."""
        ends_s = asyncio.get_running_loop().time() + wait_s
        self._pops_held_until_s = max(ends_s, self._pops_held_until_s or 0.0)
        self._broker.shares.hold()

    def _prolong_pause(self) -> None:
        """Hold back what its master may do already: the name servers may not reach this replica."""
        self._bridge.prolong_pause()
        if self._pops_held_until_s is not None:
            ends_s = asyncio.get_running_loop().time() + PAUSE_S
            self._pops_held_until_s = max(ends_s, self._pops_held_until_s)

    def _end_giving_way(self) -> None:
        self._gives_way_until_s = None
        self._broker.offsets.hold(is_held=False)

    def _stand_down(self) -> Acted:
        """Stop to act; return the offsets that the master must have."""
        broker = self._broker
        # The log of the master replaces these soon.
        acted = broker.offsets.acted
        if not self.is_acting:
            return acted
        self.is_acting = False
        self._acting_since_ms = 0
        self._end_giving_way()
        self._gives_way_again_s = 0.0
        self._pops_held_until_s = None
        broker.shares.stand_down()
        broker.stop_deliveries()
        self._bridge.end()
        broker.offsets.follow()
        broker.groups.follow()
        log.info("acting_master_ended", broker_id=self.own_id)
        return acted

    # The master's log.

    async def follow(self, master_address: str) -> None:
        """Copy the log of a master, and let it answer what only a master may."""
        await self._change(master_address)

    async def _follow(self, master_address: str) -> None:
        follower = self.follower
        is_followed = follower is not None and follower.master_address == master_address
        if not is_followed:
            await self._stop_following()
        if not self.is_acting:
            self.passing.follow(self._server_of(master_address))
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

    def _server_of(self, master_address: str) -> str:
        """Return the broker that serves: a master that returns does not, while a replica acts."""
        least = self._least.known
        is_served = least.broker_id in {MASTER_ID, self.own_id} or not least.address
        acts = self._broker.settings.acts_as_master and not is_served
        return least.address if acts else master_address

    def _pass_back(self, acted: Acted, master_address: str) -> None:
        """Give the master what was committed here; another attempt ends the former one."""
        if self._passing_back is not None:
            self._passing_back.cancel()
        work = self._give_and_take(acted, master_address)
        self._passing_back = asyncio.create_task(work, name="pass-back")

    async def _give_and_take(self, acted: Acted, master_address: str) -> None:
        """Pass back first: a master of stock is asked for its state, which replaces this one's."""
        broker = self._broker

        async def note_offsets() -> None:
            broker.offsets.forget_acted()
            with contextlib.suppress(OSError, TimeoutError, RemotingError):
                # It has taken over since this replica began to copy its log.
                self._note_master(await ask_master(master_address))

        passing = PassingBack(
            acted, self._decisions, finished=broker.shares.finished, on_offsets=note_offsets
        )
        await passing.run(master_address)
        await StockMetadata(broker, broker.journal, master_address).run()

    def _note_master(self, master: HaInfoAnswer) -> None:
        if master.master_state_version is not None:
            # In the file as well: this replica may act after a restart, without its master.
            self._broker.offsets.note_version(master.master_state_version)

    async def _stop_following(self) -> None:
        """End the copy of the log: nothing is appended afterwards.

        Clients wait until it is decided who serves: the tables may lack the end of the log (I9).
        """
        if self.follower is not None:
            log.info("master_left", master=self.follower.master_address)
        self.follower = None
        if not self.is_acting:
            self.passing.pause(GIVEN_WAY_S_MAX)
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
        ends_s = self._gives_way_until_s
        if ends_s is not None and asyncio.get_running_loop().time() > ends_s:
            self._end_giving_way()
            self.passing.lead()
            log.warning("successor_not_heard", waited_s=GIVEN_WAY_S_MAX)
        self._bridge.tick()
        if self.is_acting and self.follower is not None and self.follower.hears_master:
            self._prolong_pause()
        held_s = self._pops_held_until_s
        if held_s is not None and asyncio.get_running_loop().time() > held_s:
            self._stand_in_for_shares()
        if not self.is_acting:
            self._broker.journal.catch_up()
        self._broker.changes.tick()

    async def stop(self) -> None:
        """End every task; nothing is copied afterwards, whatever members say."""
        async with self._changing:
            self._is_stopped = True
            self.passing.close()
            self._stand_down()
            self._bridge.close()
            if self._served_by is not None:
                self._served_by.retire()
            await self._stop_following()
        if self._passing_back is not None:
            self._passing_back.cancel()
            await asyncio.gather(self._passing_back, return_exceptions=True)
