"""Compute the queues that each client of a group would read, by the allocation rules of clients.

Each client computes this itself, by the same rule from the same sorted lists. This module has the
two rules of RocketMQ that need only these lists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class AllocationRule(StrEnum):
    """Name a rule: a client gets neighbouring queues, or the queues are distributed one by one."""

    AVERAGE = "average"
    CIRCLE = "circle"


@dataclass(frozen=True, slots=True, order=True)
class AllocatedQueue:
    """Name a queue of a broker group, in the order that clients sort them."""

    broker_group_name: str
    queue_id: int


Allocation = Mapping[str, tuple[AllocatedQueue, ...]]


def allocate(
    queues: Sequence[AllocatedQueue], client_ids: Sequence[str], rule: AllocationRule
) -> Allocation:
    """Return the queues of each client, also of a client without a queue.

    With `average` the first clients get one queue more if the numbers do not divide.
    """
    queues, clients = sorted(set(queues)), sorted(set(client_ids))
    if rule is AllocationRule.CIRCLE:
        return {one: tuple(queues[at :: len(clients)]) for at, one in enumerate(clients)}
    size, rest = divmod(len(queues), max(1, len(clients)))
    starts = [at * size + min(at, rest) for at in range(len(clients) + 1)]
    return {one: tuple(queues[starts[at] : starts[at + 1]]) for at, one in enumerate(clients)}
