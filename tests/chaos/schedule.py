"""Draw faults from a seed: kind, target and duration. Pure, so that a seed is a schedule.

Roles stand for brokers, since the master at the time of a fault depends on the run. Times are
seconds.
"""

import math
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Kind(StrEnum):
    """What goes wrong."""

    KILL = "kill"
    """The master is killed, and started again after the duration. In its other form nothing that it
    sends reaches brokers or the controller after the delay, and data on its way is lost. This
    detects an early acknowledgement."""

    PAUSE = "pause"
    """The master is stopped with SIGSTOP for the duration."""

    PARTITION = "partition"
    """No data passes between two sides for the duration."""

    ONE_WAY = "one-way"
    """No data passes from the first side to the second for the duration; the other direction
    works."""

    LOST_REPLY = "lost-reply"
    """A process is killed, and the controller between the commit of a change and its
    notification."""

    CONTROLLER = "controller"
    """The controller is killed, then the master, before the controller runs again."""

    POSTGRES = "postgres"
    """Postgres crashes and the master is killed; both are started again."""

    REDIS = "redis"
    """Redis is emptied while the master is killed."""

    HAND_OVER = "hand-over"
    """The master is stopped, and started again after the duration."""

    DOUBLE = "double"
    """A replica is killed or paused, and the master is killed before it is back."""

    ALL = "all"
    """Every broker is killed at once; they are started again in some order."""

    OBSERVER_PAUSE = "observer-pause"
    """The controller is stopped with SIGSTOP for the duration, and no master may change for that.
    In its other form the master is killed meanwhile."""

    OLDER_COPY = "older-copy"
    """The store of a replica is put back from a copy taken before. In its other form every broker
    is down meanwhile, and this one starts first."""

    EMPTIED_STORE = "emptied-store"
    """The store of a replica is emptied but for its dot files, in the same two forms."""


class Side(StrEnum):
    """The members of one side of a partition."""

    MASTER = "master"
    REPLICAS = "replicas"
    ONE_REPLICA = "one replica"
    CONTROLLER = "controller"
    CLIENT = "client"
    CLUSTER = "cluster"
    """All except the other side and the client, which still sends to a master that is cut off."""

    OTHERS = "others"
    """All except the other side."""


SIDES: Final = (
    (Side.MASTER, Side.OTHERS),
    (Side.MASTER, Side.CLUSTER),
    (Side.MASTER, Side.CONTROLLER),
    (Side.MASTER, Side.REPLICAS),
    (Side.MASTER, Side.ONE_REPLICA),
    (Side.ONE_REPLICA, Side.OTHERS),
    (Side.ONE_REPLICA, Side.CONTROLLER),
    (Side.CLIENT, Side.MASTER),
    (Side.CONTROLLER, Side.OTHERS),
)

WEIGHTS: Final = {
    Kind.KILL: 4,
    Kind.PAUSE: 4,
    Kind.PARTITION: 4,
    Kind.ONE_WAY: 4,
    Kind.LOST_REPLY: 3,
    Kind.CONTROLLER: 2,
    Kind.POSTGRES: 2,
    Kind.REDIS: 1,
    Kind.HAND_OVER: 2,
    Kind.DOUBLE: 3,
    Kind.ALL: 1,
    Kind.OBSERVER_PAUSE: 2,
    Kind.OLDER_COPY: 1,
    Kind.EMPTIED_STORE: 1,
}
NEEDS_WHOLE: Final = frozenset({Kind.OBSERVER_PAUSE, Kind.OLDER_COPY, Kind.EMPTIED_STORE})
"""The checks of these faults require a group that was complete before."""

LEASE_S: Final = 2.0
"""The leases of a run's masters: a longer fault causes the master's replacement."""

LONG_S_MIN: Final = 1.2 * LEASE_S
PAUSE_S_MIN: Final = 0.1
BREAK_S_MAX: Final = 1.0
"""How long a killed process is down."""

_LASTING: Final = frozenset({Kind.PAUSE, Kind.PARTITION, Kind.ONE_WAY, Kind.OBSERVER_PAUSE})
LONG_CHANCE: Final = 0.6
"""How often a pause or partition outlasts a lease."""

REST_CHANCE: Final = 0.6
"""How often the group has the time to recover before the next fault."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault."""

    number: int
    kind: Kind
    duration_s: float
    delay_s: float
    """The time between the two parts of a fault."""

    sides: tuple[Side, Side]
    replica_choice: int
    """The replica of the fault, by its id modulo the number of replicas."""

    resets: bool
    """Whether connections break at the end of a partition, or continue with the held data."""

    is_variant: bool
    """The form of a fault that has two forms."""

    rests: bool
    """Whether the group recovers before the next fault."""


def draw_faults(
    seed: int,
    *,
    pause_s_max: float,
    only: Collection[Kind] = frozenset(Kind),
    of: Side | None = None,
) -> Iterator[Fault]:
    """Draw faults of some kinds, endlessly; partitions have a given side if there is one.

    Each round contains every kind before any repeats beyond its weight, so that a short run has all
    of them.
    """
    source = random.Random(seed)
    weights = {kind: weight for kind, weight in WEIGHTS.items() if kind in only}
    number = 0
    while True:
        kinds = [kind for kind, weight in weights.items() for _ in range(weight - 1)]
        source.shuffle(kinds)
        each = list(weights)
        source.shuffle(each)
        for kind in (*each, *kinds):
            yield _draw_fault(source, number, kind, pause_s_max, _sides(of))
            number += 1


def _sides(of: Side | None) -> Sequence[tuple[Side, Side]]:
    return SIDES if of is None else [sides for sides in SIDES if of in sides]


def _draw_fault(
    source: random.Random,
    number: int,
    kind: Kind,
    pause_s_max: float,
    choices: Sequence[tuple[Side, Side]],
) -> Fault:
    sides = source.choice(choices)
    if kind is Kind.ONE_WAY and source.random() < 1 / 2:
        sides = (sides[1], sides[0])
    least_s, longest_s = PAUSE_S_MIN, BREAK_S_MAX
    if kind in _LASTING:
        is_long = source.random() < LONG_CHANCE
        least_s, longest_s = (LONG_S_MIN, pause_s_max) if is_long else (PAUSE_S_MIN, LEASE_S)
    return Fault(
        number=number,
        kind=kind,
        duration_s=round(_log_uniform(source, least_s, longest_s), 3),
        delay_s=round(_log_uniform(source, 0.001, 0.5), 4),
        sides=sides,
        replica_choice=source.randrange(2),
        resets=source.random() < 1 / 3,
        is_variant=source.random() < 1 / 2,
        rests=source.random() < REST_CHANCE,
    )


def _log_uniform(source: random.Random, least: float, most: float) -> float:
    return math.exp(source.uniform(math.log(least), math.log(most)))
