"""The rows: their loads, and how blocks of them become ratios with limits (targets.md 2, 4)."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.bench.clients.systems import BEFORE, OURS, STOCK, Setup
from tests.bench.clients.workloads import (
    JavaSends,
    Pops,
    Pulls,
    Sample,
    Sends,
    SendsBesideColdWork,
    Wakes,
    Workload,
)
from tests.bench.measure import Measure, median, spread
from tests.bench.targets import Limit, limits

STOCK_RATIO_MIN = 1.3
"""What every row of sends and pulls must reach of stock's rate."""

BEFORE_RATIO_MIN = 0.9
"""What it must keep of an older commit's rate in the same run."""

ECHO_DIFFERENCE_MAX = 0.20
"""A block whose two echoes differ by more says nothing of the ratio to an echo (targets.md 1.3)."""

ALONE = Setup("one broker")
ALONE_SYNC = Setup("one broker, SYNC_FLUSH", flush="SYNC_FLUSH")
PAIR = Setup("a master and a replica", is_replicated=True)
PAIR_SYNC = Setup("a master and a replica, SYNC_FLUSH", flush="SYNC_FLUSH", is_replicated=True)


@dataclass(frozen=True, slots=True)
class Block:
    """One turn of each system; around it two of an echo, where a row has one."""

    samples: dict[str, Sample]
    echoes: tuple[float, ...] = ()
    stolen_percent: float = 0.0
    """What other machines took of the processors."""

    @property
    def has_steady_echo(self) -> bool:
        return max(self.echoes) - min(self.echoes) <= ECHO_DIFFERENCE_MAX * max(self.echoes)


Judge = Callable[["Row", Sequence[Block]], list[Measure]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison, or two of the same load."""

    id: str
    title: str
    setup: Setup
    workload: Workload
    judge: Judge
    bound: Limit | None = field(default=None)
    """The row's own limit for ours / stock, where targets.md has one."""

    has_echo: bool = False
    has_former: bool = True
    """Whether an older commit takes part: those before POP do not serve it."""


def judge_rates(row: Row, blocks: Sequence[Block]) -> list[Measure]:
    """Divide our rate by stock's, by an older commit's and by an echo's."""
    measures = []
    if row.has_echo:
        measures.append(_of_echo(row, blocks))
    ratios = _ratios(blocks, OURS, STOCK, "per_second")
    measures.append(
        Measure(
            row.id,
            f"{row.title}, ours / stock",
            median(ratios),
            floor=max(row.bound.floor, STOCK_RATIO_MIN) if row.bound else STOCK_RATIO_MIN,
            target=row.bound.target if row.bound else None,
            facts={"blocks": spread(ratios), **_facts(blocks)},
            blocks=_kept(blocks),
        )
    )
    if BEFORE in blocks[0].samples:
        ratios = _ratios(blocks, OURS, BEFORE, "per_second")
        title = f"{row.title}, ours / the commit before"
        facts = {"blocks": spread(ratios)}
        measures.append(Measure(row.id, title, median(ratios), floor=BEFORE_RATIO_MIN, facts=facts))
    return measures


def judge_cpu(row: Row, blocks: Sequence[Block]) -> list[Measure]:
    """Divide the processor time of a message by stock's."""
    ratios = _ratios(blocks, OURS, STOCK, "cpu_us")
    (limit,) = limits()[row.id]
    facts = {"blocks": spread(ratios), **_facts(blocks)}
    return [
        Measure(
            row.id, f"{row.title}, ours / stock", median(ratios),
            ceiling=limit.floor, target=limit.target, facts=facts, blocks=_kept(blocks),
        )
    ]  # fmt: skip


def judge_cold_work(row: Row, blocks: Sequence[Block]) -> list[Measure]:
    """Show what cold work inside the broker does to the tail of sends."""
    (limit,) = limits()[row.id]
    return [_own_figure(row, row.title, "ratio", "", limit, blocks)]


def judge_wakes(row: Row, blocks: Sequence[Block]) -> list[Measure]:
    """Show what it costs to wake a held pull, and what that does to other sends."""
    each, tail = limits()[row.id]
    return [
        _own_figure(row, "a held pull of 10 000 is woken", "wake_us", " µs", each, blocks),
        _own_figure(row, row.title, "ratio", "", tail, blocks),
    ]


def _own_figure(
    row: Row, title: str, key: str, unit: str, limit: Limit, blocks: Sequence[Block]
) -> Measure:
    """Take a figure of ours that has its own limit; stock's stands beside it."""
    facts = {"blocks": spread(_values(blocks, OURS, key)), **_facts(blocks)}
    return Measure(
        row.id, title, median(_values(blocks, OURS, key)), unit,
        ceiling=limit.floor, target=limit.target, facts=facts, blocks=_kept(blocks),
    )  # fmt: skip


def _of_echo(row: Row, blocks: Sequence[Block]) -> Measure:
    (limit,) = limits()[row.id]
    steady = [block for block in blocks if block.has_steady_echo]
    ratios = [
        block.samples[OURS]["per_second"] * len(block.echoes) / sum(block.echoes)
        for block in steady or blocks
    ]
    facts = {
        "blocks": spread(ratios),
        "void": len(blocks) - len(steady),
        "echoes/s": round(median([echo for block in blocks for echo in block.echoes])),
    }
    if steady:
        bounds: dict[str, Any] = {"floor": limit.floor, "target": limit.target}
    else:
        bounds, facts["no limit"] = {}, "the echo held still in no block"
    return Measure(row.id, f"{row.title}, ours / echo", median(ratios), facts=facts, **bounds)


def _ratios(blocks: Sequence[Block], above: str, below: str, key: str) -> list[float]:
    return [block.samples[above][key] / block.samples[below][key] for block in blocks]


def _values(blocks: Sequence[Block], label: str, key: str) -> list[float]:
    return [block.samples[label][key] for block in blocks]


def _facts(blocks: Sequence[Block]) -> dict[str, str]:
    """Give the median of every figure, all systems in one order."""
    labels = list(blocks[0].samples)
    facts = {
        key: " and ".join(
            f"{_short(median(_values(blocks, label, key)))} {label}" for label in labels
        )
        for key in blocks[0].samples[OURS]
    }
    facts = {key.replace("_us", " µs").replace("_", " "): fact for key, fact in facts.items()}
    return facts | {"stolen": f"{max(block.stolen_percent for block in blocks):.1f} %"}


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _kept(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    return [asdict(block) for block in blocks]


def _sends(
    number: str, title: str, setup: Setup, workload: Sends, *, has_echo: bool = False
) -> Row:
    return Row(number, title, setup, workload, judge_rates, has_echo=has_echo)


ROWS = (
    _sends("R6a", "sends of 1 KiB, 1 x 1", ALONE, Sends(1, 1, 1024), has_echo=True),
    _sends("R6b", "sends of 1 KiB, 1 x 64", ALONE, Sends(1, 64, 1024), has_echo=True),
    _sends("R6c", "sends of 1 KiB, 64 x 1", ALONE, Sends(64, 1, 1024), has_echo=True),
    Row("R7", "CPU of a send of 128 B, 64 x 1", ALONE, Sends(64, 1, 128), judge_cpu),
    Row("R7c", "sends of 128 B, 1 x 64", ALONE, Sends(1, 64, 128), judge_rates, *limits()["R7c"]),
    Row("R7c", "sends of 128 B, 16 x 16", ALONE, Sends(16, 16, 128), judge_rates,
        *limits()["R7c"]),
    Row("R7d", "pulled messages of 128 B", ALONE, Pulls(128), judge_rates, *limits()["R7d"]),
    Row("R7e", "PRIMARY POP over stock POP, receive and acknowledge, 128 B", ALONE, Pops(128),
        judge_rates, *limits()["R7e"], has_former=False),
    Row("R13", "p99 of sends while held pulls are woken / without", ALONE, Wakes(), judge_wakes),
    Row("R7b", "sends of 64 threads of a Java producer", ALONE, JavaSends(64, 128), judge_rates,
        *limits()["R7b"]),
    Row("R8", "p99 of sends, cold work inside the broker / outside", ALONE,
        SendsBesideColdWork(), judge_cold_work),
    _sends("W4", "SYNC_FLUSH sends, 1 in flight", ALONE_SYNC, Sends(1, 1, 1024)),
    _sends("W4", "SYNC_FLUSH sends, 64 in flight", ALONE_SYNC, Sends(1, 64, 1024)),
    _sends("W5", "sends with a replica, 1 in flight", PAIR, Sends(1, 1, 1024)),
    _sends("W5", "sends with a replica, 64 in flight", PAIR, Sends(1, 64, 1024)),
    _sends("W5", "SYNC_FLUSH sends with a replica, 1 in flight", PAIR_SYNC, Sends(1, 1, 1024)),
    _sends("W5", "SYNC_FLUSH sends with a replica, 64 in flight", PAIR_SYNC, Sends(1, 64, 1024)),
)  # fmt: skip
"""Each number is defined in docs/spec/targets.md; `1 x 64` is 1 connection with 64 in flight.

R8 is the last of its set-up, because it creates hundreds of topics.
"""
