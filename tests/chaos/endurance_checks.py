"""Check a long run: what its processes used, and what its brokers showed. Pure, but for `of`."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Final

from tests.chaos.evidence import Breach, Violation
from tests.chaos.journal import Acknowledgement, Reading

MEMORY_GROWTH_MAX: Final = 1.1
MEMORY_SLACK_KIB: Final = 16 << 10
HANDLES_SLACK: Final = 64
ROW: Final = "{:<12}{:>22}{:>22}{:>22}"


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a process used at one time."""

    role: str
    at_s: float
    anonymous_kib: int
    """Memory that is not a page of a file."""

    handle_count: int
    thread_count: int

    @classmethod
    def of(cls, pid: int, role: str, at_s: float) -> "Footprint | None":
        """Read it; None if the process has just ended."""
        root = Path(f"/proc/{pid}")
        try:
            lines = (root / "status").read_text().splitlines()
            fields = dict(line.split(":", 1) for line in lines)
            return cls(
                role=role,
                at_s=at_s,
                anonymous_kib=int(fields["RssAnon"].split()[0]),
                handle_count=len(list((root / "fd").iterdir())),
                thread_count=int(fields["Threads"]),
            )
        except (OSError, KeyError):
            return None


def check_growth(footprints: Sequence[Footprint]) -> tuple[list[str], list[str]]:
    """Compare the last third of a run with its second; give a table and the violations.

    Each role is compared with itself, since masters change. The first third fills caches.
    """
    rows = [ROW.format("role", "memory (MiB)", "handles", "threads")]
    violations: list[str] = []
    end_s = max((one.at_s for one in footprints), default=0.0)
    by_role = sorted(footprints, key=lambda one: (one.role, one.at_s))
    for role, group in groupby(by_role, key=lambda one: one.role):
        thirds: list[list[Footprint]] = [[], [], []]
        for one in group:
            thirds[min(2, int(one.at_s * 3 / end_s))].append(one)
        _, middle, last = thirds
        if not middle or not last:
            violations.append(f"{role}: the run was too short to compare its thirds")
            continue
        memory = [median(one.anonymous_kib for one in third) for third in (middle, last)]
        handles = [median(one.handle_count for one in third) for third in (middle, last)]
        threads = [median(one.thread_count for one in third) for third in (middle, last)]
        rows.append(
            ROW.format(
                role,
                f"{memory[0] / 1024:.1f} -> {memory[1] / 1024:.1f}",
                f"{handles[0]:.0f} -> {handles[1]:.0f}",
                f"{threads[0]:.0f} -> {threads[1]:.0f}",
            )
        )
        if memory[1] > memory[0] * MEMORY_GROWTH_MAX + MEMORY_SLACK_KIB:
            violations.append(f"{role}: memory grows from {memory[0]:.0f} to {memory[1]:.0f} KiB")
        if handles[1] > handles[0] + HANDLES_SLACK:
            violations.append(f"{role}: handles grow from {handles[0]:.0f} to {handles[1]:.0f}")
    return rows, violations


def check_shown(
    acknowledgements: Sequence[Acknowledgement],
    readings: Sequence[Reading],
    agents: Collection[int],
) -> list[str]:
    """Compare what was acknowledged with what each broker showed (I1, I4, I7, I8)."""
    return list(map(str, _violations(acknowledgements, readings, agents)))


def _violations(
    acknowledgements: Sequence[Acknowledgement],
    readings: Sequence[Reading],
    agents: Collection[int],
) -> Iterator[Violation]:
    shown: dict[tuple[int, int], int] = {}
    seen_by: dict[int, set[tuple[int, int]]] = {agent: set() for agent in agents}
    for reading in readings:
        for offset, number in enumerate(reading.numbers, reading.first_offset):
            place = (reading.queue, offset)
            seen_by[reading.agent].add(place)
            if shown.setdefault(place, number) != number:
                text = f"{place} is {shown[place]}, and {number} at broker {reading.agent}"
                yield Violation(Breach.UNLIKE, text)
    promised: dict[tuple[int, int], int] = {}
    for told in acknowledgements:
        place = (told.queue, told.offset)
        if promised.setdefault(place, told.number) != told.number:
            yield Violation(Breach.OFFSET_TWICE, f"{place}: {promised[place]}, {told.number}")
        if shown.get(place) != told.number:
            yield Violation(Breach.LOST, f"{told.number} at {place}; shown is {shown.get(place)}")
    for agent, places in seen_by.items():
        if missing := promised.keys() - places:
            text = f"broker {agent} never showed {len(missing)}, as {min(missing)}"
            yield Violation(Breach.LOST, text)
