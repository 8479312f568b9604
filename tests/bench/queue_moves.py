"""R15: how long a logical queue takes no messages while it moves, as stock clients see it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.measure import Measure
from tests.bench.targets import limits
from tests.interop.client import StockClient
from tests.interop.java import VERSIONS, build
from tests.interop.queue_moves import MovesSeen, move_under_load, order
from tests.system.cluster import free_ports, running_cluster, short_directory

QUEUE_COUNT: Final = 100
RATE: Final = 2_000
"""Messages a second, to all queues together."""

DESTINATIONS: Final = ("broker-b", "broker-a", "broker-b")
CONSUMERS: Final = ("orderly", "concurrent", "litepull")
TOPIC: Final = "moving"


def measure_queue_moves() -> Iterator[Measure]:
    """Move all queues between two broker groups, forth and back, under load.

    The gap between two acknowledgements of a queue includes up to one interval between its
    messages, here 50 ms.
    """
    build()
    with (
        tempfile.TemporaryDirectory(prefix="regent-bench-") as home,
        short_directory() as directory,
        running_cluster(directory / "data", free_ports()) as cluster,
    ):
        chosen = ("--queues", str(QUEUE_COUNT), "--broker-group", "broker-a")
        order(cluster, "create", TOPIC, *chosen)
        client = StockClient(VERSIONS[0], cluster.name_server_address, Path(home))
        seen = move_under_load(
            cluster,
            client,
            TOPIC,
            destinations=DESTINATIONS,
            rate=RATE,
            consumers=CONSUMERS,
        )
    yield from _measures(seen)


def _measures(seen: MovesSeen) -> Iterator[Measure]:
    limit = limits()["R15"][0]
    yield Measure(
        "R15",
        f"a queue takes no messages during its moves, p95 of {QUEUE_COUNT}",
        seen.gap_ms(0.95) / 1e3,
        " s",
        ceiling=limit.floor,
        target=limit.target,
        facts={
            "p50": f"{seen.gap_ms(0.5):.0f} ms",
            "max": f"{seen.gap_ms(1):.0f} ms",
            "moves of all queues": ", ".join(f"{one:.1f} s" for one in seen.order_s),
            "messages/s": round(seen.per_second),
        },
        blocks=[{"gaps_ms": list(seen.gaps_ms)}],
    )
    faults = seen.faults()
    yield Measure(
        "I17",
        "faults that clients saw of these moves",
        len(faults),
        ceiling=0,
        facts={"messages": seen.result["acknowledged"], "first": (faults or ["none"])[0]},
    )
