"""One round: take a group's master away under load, and return what its clients saw of that."""

import asyncio
import contextlib
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from enum import StrEnum

import psutil

from tests.bench.failover.group import TOPIC, Group, GroupError, Member
from tests.bench.failover.journal import Journal, Send
from tests.bench.failover.probe import Probe

PACE_S = 0.002
"""Between two sends: what a gap can be measured to."""

WARM_S = 1.0
FLOW_GAP_S_MAX = 0.1
"""The load flows once acknowledgements have come without a longer gap for so long."""

FLOW_TIMEOUT_S = 60.0
TAKE_OVER_TIMEOUT_S = 90.0
SETTLE_S = 1.0
WOKEN_S = 5.0
"""For how long the load goes on after an old master is back, so that it can do harm."""

POLL_S = 0.01
PROBE_DELAY_S_MAX = 0.02
STOLEN_PERCENT_MAX = 5.0
"""A round is void when the probe itself was late by more, or the host took more of the machine."""

NUMBERS_A_ROUND = 1_000_000


class Kind(StrEnum):
    """How a master is taken away."""

    KILL = "kill"
    PAUSE = "pause"
    PARTITION = "partition"
    STOP = "stop"
    ELECT = "elect"

    @property
    def lasts(self) -> bool:
        """Whether the old master comes back by itself, not knowing what has happened."""
        return self in {Kind.PAUSE, Kind.PARTITION}


@dataclass(frozen=True, slots=True)
class Round:
    """What came of a round. Times in seconds."""

    group: str
    kind: str
    gap_s: float
    """Longest time between two acknowledgements until a second after the new master's first."""

    gap_began_s: float
    """When it began, counted from the fault."""

    rejoin_gap_s: float
    """The longest one of the rest, while the old master comes back as a replica."""

    acknowledged: int
    refused: int
    unanswered: int
    lost: int
    lost_in_time: int
    """Of the acknowledged and lost ones, those whose client was still waiting."""

    probe_delay_s: float
    stolen_percent: float
    whole_after_s: float

    @property
    def is_void(self) -> bool:
        return self.probe_delay_s > PROBE_DELAY_S_MAX or self.stolen_percent > STOLEN_PERCENT_MAX

    def line(self) -> str:
        void = ", void: the machine was busy" if self.is_void else ""
        return (
            f"{self.gap_s:.3f} s without acknowledgement; {self.acknowledged} acknowledged,"
            f" {self.refused} refused, {self.unanswered} unanswered, {self.lost} lost;"
            f" whole after {self.whole_after_s:.1f} s{void}"
        )


async def run_round(group: Group, kind: Kind, *, turn: int, fault_s: float) -> Round:
    """Do one round in a group that is whole, and leave it whole."""
    master = await group.await_whole()
    begins = await group.ends(master)
    probe = Probe(group.name_server, TOPIC, pace_s=PACE_S, first_number=turn * NUMBERS_A_ROUND)
    journal = probe.journal
    async with running(probe):
        await await_flow(journal)
        stolen_before = psutil.cpu_times()
        fault_at = time.monotonic()
        await take_away(group, master, kind)
        await wait_until(
            lambda: journal.has_acknowledgement_since(fault_at, from_other_than=master.address),
            TAKE_OVER_TIMEOUT_S,
            f"{group.label}: no other master took over",
        )
        await asyncio.sleep(SETTLE_S)
        settled_at = time.monotonic()
        stolen = stolen_percent(stolen_before)
        if kind.lasts:
            await asyncio.sleep(max(0.0, fault_at + fault_s - time.monotonic()))
            give_back(master, kind)
            await asyncio.sleep(WOKEN_S)
        if kind in {Kind.KILL, Kind.STOP}:
            await master.end(with_signal=signal.SIGTERM)
        master = await group.await_whole()
        whole_at = time.monotonic()
        await asyncio.sleep(SETTLE_S)
    gap, began_at = journal.longest_gap(fault_at, settled_at)
    lost = journal.lost(await group.read(master, begins))
    return Round(
        group=group.label,
        kind=kind,
        gap_s=gap,
        gap_began_s=began_at - fault_at,
        rejoin_gap_s=journal.longest_gap(settled_at, whole_at)[0],
        acknowledged=len(journal.acknowledged_numbers()),
        refused=journal.refused_count(fault_at),
        unanswered=journal.unanswered_count(fault_at),
        lost=len(lost),
        lost_in_time=sum(not send.is_late for send in lost),
        probe_delay_s=journal.longest_delay(fault_at, settled_at),
        stolen_percent=stolen,
        whole_after_s=whole_at - fault_at,
    )


async def take_away(group: Group, master: Member, kind: Kind) -> None:
    if kind is Kind.KILL:
        master.send_signal(signal.SIGKILL)
    elif kind is Kind.PAUSE:
        master.send_signal(signal.SIGSTOP)
    elif kind is Kind.PARTITION:
        master.place.pull()
    elif kind is Kind.STOP:
        master.send_signal(signal.SIGTERM)
    else:
        successor = next(member for member in group.members if member is not master)
        answer = await group.elect(group.broker_id(successor))
        if answer.code:
            raise GroupError(f"{group.label} elects nobody else: {answer.code} {answer.remark}")


def give_back(master: Member, kind: Kind) -> None:
    if kind is Kind.PAUSE:
        master.send_signal(signal.SIGCONT)
    else:
        master.place.plug()


async def await_flow(journal: Journal) -> None:
    """Wait until acknowledgements come without a gap."""

    def flows() -> bool:
        now = time.monotonic()
        sent = [send for send in reversed(journal.sends) if send.sent_at > now - WARM_S]
        if not sent or sent[-1].sent_at > now - WARM_S + FLOW_GAP_S_MAX:
            return False
        return _is_answered(sent) and journal.longest_gap(now - WARM_S, now)[0] < FLOW_GAP_S_MAX

    await asyncio.sleep(WARM_S)
    await wait_until(flows, FLOW_TIMEOUT_S, "the load does not flow")


def _is_answered(sent: list[Send]) -> bool:
    return sum(send.is_acknowledged for send in sent) > len(sent) * 0.9


@contextlib.asynccontextmanager
async def running(probe: Probe) -> AsyncIterator[None]:
    task = asyncio.create_task(probe.run(), name="probe")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def wait_until(condition: Callable[[], bool], timeout_s: float, failure: str) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise GroupError(f"{failure} within {timeout_s:.0f} s")
        await asyncio.sleep(POLL_S)


def stolen_percent(before: object) -> float:
    """Give what the host took of the processors since then."""
    after = psutil.cpu_times()
    spent = sum(after) - sum(before)  # type: ignore[call-overload]
    return 100 * (after.steal - before.steal) / spent if spent else 0.0  # type: ignore[attr-defined]
