"""R17: what the processes of an idle cluster take of a core and of memory."""

import time
from pathlib import Path

import psutil

from tests.bench.measure import Measure, median
from tests.system.cluster import free_ports, running_cluster, short_directory

SETTLE_S = 15.0
"""The time after start in which registrations, first samples and caches are made."""

BLOCK_COUNT = 3
BLOCK_S = 10.0
CPU_PERCENT_MAX = 2.0
RESIDENT_MB_MAX = 150.0


def measure_idle() -> list[Measure]:
    """Run a whole cluster without users, and watch each of its processes."""
    with short_directory() as directory, running_cluster(directory, free_ports()) as cluster:
        state = cluster.state
        brokers = {broker["pid"] for broker in state["brokers"]}
        trees = {entry["name"]: process_tree(entry["pid"]) for entry in state["processes"]}
        agents = {name for name, tree in trees.items() if tree and tree[0].pid in brokers}
        time.sleep(SETTLE_S)
        blocks = [cpu_percents(trees) for _ in range(BLOCK_COUNT)]
        resident_mb = {name: sum(map(anonymous_mb, tree)) for name, tree in trees.items()}
        counts = {name: len(tree) for name, tree in trees.items()}
    measures = []
    for name in sorted(trees, key=lambda name: (name not in agents, name)):
        percent = median([block[name] for block in blocks])
        title = f"{name} ({counts[name]} processes)" if counts[name] > 1 else name
        is_agent = name in agents
        measures += [
            Measure(
                "R17", f"idle {title}: share of one core", percent, "%",
                ceiling=CPU_PERCENT_MAX if is_agent else None,
            ),
            Measure(
                "R17", f"idle {title}: resident without mapped files", resident_mb[name], " MB",
                ceiling=RESIDENT_MB_MAX if is_agent else None,
            ),
        ]  # fmt: skip
    return measures


def process_tree(pid: int | None) -> list[psutil.Process]:
    """A process and all below it; none when it has no id."""
    if pid is None:
        return []
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


def cpu_percents(trees: dict[str, list[psutil.Process]]) -> dict[str, float]:
    """Watch all processes over one block, in percent of a core."""
    before = {name: cpu_seconds(tree) for name, tree in trees.items()}
    started_at = time.monotonic()
    time.sleep(BLOCK_S)
    elapsed_s = time.monotonic() - started_at
    return {
        name: (cpu_seconds(tree) - before[name]) / elapsed_s * 100 for name, tree in trees.items()
    }


def cpu_seconds(tree: list[psutil.Process]) -> float:
    total = 0.0
    for process in tree:
        if process.is_running():
            times = process.cpu_times()
            total += times.user + times.system
    return total


def anonymous_mb(process: psutil.Process) -> float:
    """Resident memory that no file backs."""
    if not process.is_running():
        return 0.0
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise ValueError(f"process {process.pid} has no RssAnon")
