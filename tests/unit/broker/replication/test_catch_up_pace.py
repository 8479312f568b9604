"""The pace of members that catch up, by the ticks of the event loop (Q42, Q56)."""

import asyncio
from dataclasses import dataclass, field

from workers.broker.replication.catch_up_pace import RATE_MIN, CatchUpPace

RATE_MAX = 64 << 20
TICK_S = 0.05


@dataclass
class Ticks:
    """A broker whose ticks come late by some time, with or without requests of clients."""

    requests: int = 0
    now_s: float = 100.0
    pace: CatchUpPace = field(init=False)

    def __post_init__(self):
        self.pace = CatchUpPace(RATE_MAX, tick_s=TICK_S, count_requests=lambda: self.requests)

    def run(self, count, *, late_s=0.0, has_clients=True, catches_up=True):
        for _ in range(count):
            self.now_s += TICK_S + late_s
            self.requests += has_clients
            if catches_up:
                self.pace.note_use(self.now_s)
            self.pace.tick(self.now_s)


def test_a_broker_without_clients_has_no_limit():
    ticks = Ticks()
    ticks.run(100)
    assert ticks.pace.rate == RATE_MAX

    ticks.run(30, has_clients=False)

    assert ticks.pace.rate == 0
    ticks.run(1)
    assert ticks.pace.rate == RATE_MAX


def test_the_limit_falls_while_ticks_are_later_than_without_a_catch_up_and_rises_again():  # Q56
    ticks = Ticks()
    ticks.run(400, late_s=0.001, catches_up=False)
    ticks.run(100, late_s=0.001)
    assert ticks.pace.rate == RATE_MAX

    ticks.run(40, late_s=0.02)

    assert RATE_MIN <= ticks.pace.rate < RATE_MAX / 2
    ticks.run(400, late_s=0.02)
    assert ticks.pace.rate == RATE_MIN
    ticks.run(100, late_s=0.001)
    assert ticks.pace.rate == RATE_MAX


def test_a_machine_that_is_always_late_is_not_slowed_down_for_it():
    ticks = Ticks()
    ticks.run(1_000, late_s=0.03, catches_up=False)

    ticks.run(200, late_s=0.03)

    assert ticks.pace.rate == RATE_MAX


async def test_bytes_wait_for_their_time_at_the_limit():  # Q42
    loop = asyncio.get_running_loop()
    pace = CatchUpPace(RATE_MIN, tick_s=TICK_S, count_requests=lambda: round(loop.time() * 1e6))
    pace.tick(loop.time())
    begun_s = loop.time()

    # The first part goes at once, and each of the others after the one before.
    await asyncio.gather(*(pace.take(RATE_MIN // 10) for _ in range(4)))

    assert loop.time() - begun_s >= 0.299
