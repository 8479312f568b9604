"""Random lives of three members with the product's keepers and its arbiter (queue-ownership.md 7).

Members pause, answers are lost, and the control plane is away. A member that pauses reads no lane
meanwhile. With all rules no share queue has two owners; without any one of them the search finds
how that comes about. What a record does to messages is searched in the engine's own model.
"""

import asyncio
import random
from dataclasses import dataclass, replace

import pytest

from tests.unit.broker.shared_members import SQ, Group, Shares, settle

SEED_COUNT = 60
STEP_COUNT = 80
OFTEN = ("beat", "beat", "beat", "want", "want")
EVENTS = (*OFTEN, "pause", "time", "lost", "away", "credit", "reach")


@dataclass(frozen=True)
class Rules:
    """The rules, each of which can be left out."""

    fences: bool = True
    """The lane takes a record of the highest epoch only (OI-1)."""

    awaits_record: bool = True
    """A member serves once it has read its OWN record (Q24)."""

    stops_by_clock: bool = True
    """A member stops before its lease ends, whatever else it knows (OI-11)."""


class LaggingShares(Shares):
    """A member that reads the lane when it looks, and appends by the epoch that it believes."""

    def __init__(self, lane, broker_id, rules):
        super().__init__(lane, broker_id)
        self.rules = rules
        self.is_paused, self.is_reached = False, asyncio.Event()
        self.is_reached.set()

    def owned(self):
        if self.is_paused or not self.rules.fences:
            return self.serving
        return super().owned()

    async def own(self, name, epoch, *, ends_at_s=None):
        if not self.rules.awaits_record:
            self.serving[name] = epoch
        await self.is_reached.wait()
        if not self.rules.fences:
            self.lane.epochs[name], self.lane.owners[name] = epoch, self.id
            self.serving[name] = epoch
            return True
        return await super().own(name, epoch, ends_at_s=ends_at_s)

    async def give_back(self, name, *, wants_again):
        del wants_again
        self.stop(name)
        await self.is_reached.wait()
        if self.lane.owners.get(name) == self.id:
            self.lane.unown(name, self.lane.epochs[name])


class Life(Group):
    """A group whose members pause, with the faults that the invariants find."""

    def __init__(self, rules, source):
        self.rules, self.source = rules, source
        super().__init__()
        self.lane.with_messages.add(SQ)
        self.is_lost = False

    def make_shares(self, broker_id):
        return LaggingShares(self.lane, broker_id, self.rules)

    def arbitrate(self, broker_id, body):
        decisions = super().arbitrate(broker_id, body)
        if self.is_lost:
            raise ConnectionError("the answer is lost")
        return decisions

    async def step(self):
        one = self.source.randint(1, 3)
        shares, keeper = self.shares[one], self.keepers[one]
        event = self.source.choice(EVENTS)
        if event == "pause":
            shares.is_paused = not shares.is_paused
        elif event == "reach":
            # A record is sent again until the sequencer answers.
            (shares.is_reached.clear if shares.is_reached.is_set() else shares.is_reached.set)()
        elif event == "time":
            self.clock += self.source.choice((0.02, 0.5, 1.0, 3.0, 9.5))
        elif event == "away":
            self.is_away = not self.is_away
        elif event == "credit":
            self.credit[one, SQ] = self.source.random() < 0.5
        elif not shares.is_paused:
            if event == "want":
                keeper.want([SQ])
            self.is_lost = event == "lost"
            await keeper.beat()
            self.is_lost = False
        for broker_id, other in self.keepers.items():
            if not self.shares[broker_id].is_paused and self.rules.stops_by_clock:
                other.look()
        await settle()

    def fault(self):
        """Say which invariant does not hold now."""
        epochs = [epoch for kind, _, epoch, _ in self.lane.records if kind == "OWN"]
        if epochs != sorted(set(epochs)):
            return "OI-1: the epochs of owners do not rise"
        serving = {
            one: shares.serving[SQ]
            for one, shares in self.shares.items()
            if not shares.is_paused and SQ in shares.serving
        }
        if any(epoch > self.lane.epochs.get(SQ, 0) for epoch in serving.values()):
            return "OI-11: a member serves without its record"
        # What a former owner appends is refused, so that it serves nothing.
        now = (self.lane.epochs.get(SQ), self.lane.owners.get(SQ))
        effective = [
            one for one, epoch in serving.items() if not self.rules.fences or (epoch, one) == now
        ]
        if len(effective) > 1:
            return f"OI-2: {effective} serve at once"
        for one in effective:
            lease = self.keepers[one]._leases.get(SQ)
            ends_at_s = None if lease is None else lease.stops_at_s
            if lease is not None and ends_at_s is not None and ends_at_s < self.clock - 0.5:
                return f"OI-11: {one} serves after its lease"
        return None


async def live(rules, seed):
    life = Life(rules, random.Random(seed))
    for _ in range(STEP_COUNT):
        await life.step()
        if (fault := life.fault()) is not None:
            return fault
    return None


def search(rules):
    """Return the first fault of all lives; None if no invariant breaks."""
    lives = (asyncio.run(live(rules, seed)) for seed in range(SEED_COUNT))
    return next((fault for fault in lives if fault is not None), None)


def test_no_invariant_breaks_with_all_rules():
    assert search(Rules()) is None


@pytest.mark.parametrize("left_out", ["fences", "awaits_record", "stops_by_clock"])
def test_without_any_one_rule_an_invariant_breaks(left_out):
    assert search(replace(Rules(), **{left_out: False})) is not None
