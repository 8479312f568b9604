"""Decide how many groups and replicas to run, from the options and the directory.

Options come first; without an option, the number stays. Nothing that holds messages is removed:
groups or replicas can be added, and groups beyond the option stay stopped. Fewer replicas are
refused, since any replica may hold the newest messages.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.supervisor.errors import CannotStart
from backend.supervisor.layout import BROKERS_DIR, GROUP_COUNT_MAX, broker_group_names

GROUP_COUNT_DEFAULT = 2
REPLICA_COUNT_DEFAULT = 1
"""Idle, a group of three takes 2.8 % of a core, and 2 % more in the control plane for its leases. A
group of one broker takes 0.3 % (R17) and a third of the memory. A first look needs no failover."""

_BROKER_DIR = re.compile(r"(broker-[a-z])(?:-([2-9]))?")


@dataclass(frozen=True, slots=True)
class Sizes:
    """What runs.

    Attributes:
        replica_counts: Number of brokers of each group that runs.
        resting: Groups of the directory that do not run this time.
    """

    replica_counts: Mapping[str, int]
    resting: tuple[str, ...]


def find_replica_counts(data_dir: Path) -> dict[str, int]:
    """Count the brokers of each group of an earlier start, by group name."""
    counts: dict[str, int] = {}
    for config_path in (data_dir / BROKERS_DIR).glob("*/broker.conf"):
        found = _BROKER_DIR.fullmatch(config_path.parent.name)
        if found is not None and found[1] in broker_group_names(GROUP_COUNT_MAX):
            counts[found[1]] = max(counts.get(found[1], 0), int(found[2] or 1))
    return dict(sorted(counts.items()))


def decide_sizes(
    found: Mapping[str, int], *, group_count: int | None, replica_count: int | None
) -> Sizes:
    """Decide the number of groups and replicas.

    Raises:
        CannotStart: fewer replicas are requested than exist.
    """
    if group_count is None:
        names = tuple(found) or broker_group_names(GROUP_COUNT_DEFAULT)
    else:
        names = broker_group_names(group_count)
    usual = max(found.values(), default=REPLICA_COUNT_DEFAULT)
    for name in names:
        if replica_count is not None and replica_count < found.get(name, 0):
            raise CannotStart(
                f"{name} has {found[name]} replicas, and any of them may hold its newest messages; "
                f"start with --replicas {found[name]}, or without --replicas, which keeps them",
            )
    return Sizes(
        replica_counts={name: replica_count or found.get(name, usual) for name in names},
        resting=tuple(name for name in found if name not in names),
    )
