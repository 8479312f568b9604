"""Say which queues of a topic each client of a group would read, by the rules that clients have.

Clients decide it for themselves, each by the same rule over the same sorted lists; this follows the
two rules of stock that need nothing but the lists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class AllocationRule(StrEnum):
    """Name a rule: neighbouring queues go to one client, or queues are dealt out one by one."""

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
    """Give each client its queues; a client without one is there too.

    By `average` the first clients take one queue more where the numbers do not divide.
    """
    queues, clients = sorted(set(queues)), sorted(set(client_ids))
    if rule is AllocationRule.CIRCLE:
        return {one: tuple(queues[at :: len(clients)]) for at, one in enumerate(clients)}
    size, rest = divmod(len(queues), max(1, len(clients)))
    starts = [at * size + min(at, rest) for at in range(len(clients) + 1)]
    return {one: tuple(queues[starts[at] : starts[at + 1]]) for at, one in enumerate(clients)}
