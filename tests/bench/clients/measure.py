"""What clients see: our broker and stock's in turn, in one run, through the remoting protocol."""

import asyncio
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.bench.clients.load import LoadError, build
from tests.bench.clients.rows import ROWS, Block, Row
from tests.bench.clients.systems import BEFORE, STOCK, Setup, System, running
from tests.bench.clients.workloads import Sends
from tests.bench.failover.group import GroupError
from tests.bench.failover.rounds import stolen_percent
from tests.bench.measure import Measure, NotMeasuredError
from tests.bench.memory import warm_memory
from tests.bench.native import Server, build_echo
from tests.bench.native import running as running_program
from tests.interop.java import build as build_java

JIT_S = 10.0
"""Load before the first row, in which stock's compilers do most of their work."""

BLOCK_MEMORY = 512 << 20
"""What a block may take of the page cache, touched before it."""

BLOCK_COUNT, BLOCK_S = 5, 2.0
"""What a run has by default, and at least if it is to be compared with others."""

SETTLE_S = 0.3
ECHO_SHARE = 0.5
"""Length of an echo, of a block's."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a run is made."""

    numbers: frozenset[str] = frozenset()
    """Rows to measure; all without numbers."""

    block_count: int = BLOCK_COUNT
    seconds: float = BLOCK_S
    """Length of the measured part of a block, for each system."""

    before: Path | None = None
    """A checkout of an older commit that is set up, to be measured in turn as well."""

    failures: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for row in ROWS if not self.numbers or row.id in self.numbers)

    @property
    def is_whole(self) -> bool:
        """Whether the run is long enough to be compared with others."""
        is_long = self.block_count >= BLOCK_COUNT and self.seconds >= BLOCK_S
        return is_long and not self.numbers


def measure_clients(options: Options) -> Iterator[Measure]:
    """Run all rows of one set-up after the other.

    Raises:
        NotMeasuredError: some rows could not be measured; the others were.
    """
    build()
    build_echo()
    build_java()
    with running_program("echo") as echo:
        for setup in dict.fromkeys(row.setup for row in options.rows):
            with asyncio.Runner() as runner:
                yield from runner.run(_measure_setup(setup, options, echo))
    if options.failures:
        raise NotMeasuredError("; ".join(f"{row}: {why}" for row, why in options.failures.items()))


async def _measure_setup(setup: Setup, options: Options, echo: Server) -> list[Measure]:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    rows = [row for row in options.rows if row.setup == setup]
    measures: list[Measure] = []
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        _print(f"starting {setup.title}")
        try:
            async with running(setup, Path(directory), before=options.before) as systems:
                await _warm_up(systems, options)
                for row in rows:
                    measures += await _measure_row(row, systems, options, echo)
        except GroupError as error:
            options.failures[setup.title] = str(error)
    return measures


async def _warm_up(systems: Sequence[System], options: Options) -> None:
    workload = Sends(16, 4, 128)
    for system in systems:
        await workload.prepare(system)
        await workload.take(system, JIT_S if system.label == STOCK else options.seconds)


async def _measure_row(
    row: Row, systems: Sequence[System], options: Options, echo: Server
) -> list[Measure]:
    """Take the blocks of a row; a row that a system cannot do is noted and left out."""
    blocks: list[Block] = []
    systems = [one for one in systems if row.has_former or one.label != BEFORE]
    try:
        for system in systems:
            await row.workload.prepare(system)
            await row.workload.take(system, options.seconds)
        for number in range(options.block_count):
            _print(f"{row.id} {row.title}: block {number + 1} of {options.block_count}")
            # In turn, and each time in the other order.
            order = systems if number % 2 == 0 else systems[::-1]
            blocks.append(await _take_block(row, order, options, echo))
    except (LoadError, GroupError, TimeoutError) as error:
        options.failures[f"{row.id} {row.title}"] = str(error) or repr(error)
        return []
    return row.judge(row, blocks)


async def _take_block(row: Row, order: Sequence[System], options: Options, echo: Server) -> Block:
    stolen_before = psutil.cpu_times()
    echoes = [await _take_echo(row, options, echo)] if row.has_echo else []
    taken = {}
    for system in order:
        await asyncio.to_thread(warm_memory, BLOCK_MEMORY)
        await asyncio.sleep(SETTLE_S)
        taken[system.label] = await row.workload.take(system, options.seconds)
    if row.has_echo:
        echoes.append(await _take_echo(row, options, echo))
    samples = {label: taken[label] for label in sorted(taken)}
    return Block(samples, tuple(echoes), stolen_percent(stolen_before))


async def _take_echo(row: Row, options: Options, echo: Server) -> float:
    assert isinstance(row.workload, Sends)
    return await row.workload.echoes(echo.address, options.seconds * ECHO_SHARE)


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - a run takes a quarter of an hour
