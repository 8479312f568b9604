"""Name the clients that the end of a mastership affects: producers and consumers."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.errors import NOT_REPORTED_BY_STOCK, NoAnswer
from backend.brokers.requests.clients import GetClients, ReportedClients
from backend.brokers.requests.locks import GetQueueLocks
from backend.domain.queue_lock import HeldLocks
from backend.operations.planning.masters import shortened

NAMED_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class MasterClients:
    """Hold the groups of a broker's clients; without an answer, the reason.

    `lock_counts` is the number of locks of ordered queues, by consumer group.
    """

    producer_groups: tuple[str, ...] = ()
    consumer_groups: tuple[str, ...] = ()
    lock_counts: tuple[tuple[str, int], ...] = ()
    unknown: str | None = None

    @property
    def impact(self) -> tuple[str, ...]:
        """Name the affected clients; unknown ones are named as unknown (D21)."""
        if self.unknown is not None:
            return (f"The clients of the master are unknown: {self.unknown}",)
        ordered = shortened(f"{group} ({count})" for group, count in self.lock_counts) or "none"
        return (
            f"Producers connected to it: {shortened(self.producer_groups) or 'none'}",
            f"Consumer groups connected to it: {shortened(self.consumer_groups) or 'none'}",
            f"Ordered queues are locked again within 20 s; they are locked now by: {ordered}",
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Keep the names for programs."""
        if self.unknown is not None:
            return {"clients_unknown": self.unknown}
        return {
            "producer_groups": list(self.producer_groups[:NAMED_MAX]),
            "consumer_groups": list(self.consumer_groups[:NAMED_MAX]),
            "ordered_groups": [group for group, _ in self.lock_counts[:NAMED_MAX]],
        }


async def ask_clients(address: str, brokers: Brokers | None) -> MasterClients:
    """Ask a master for its clients, and for the holders of its locks."""
    if brokers is None:
        return MasterClients(unknown="this process does not connect to brokers")
    try:
        return await brokers.ask(address, GetMasterClients())
    except NoAnswer as error:
        return MasterClients(unknown=error.reason)


class GetMasterClients(Inquiry[MasterClients]):
    """Ask a broker for its clients and locks; a silent broker must not delay the plan."""

    patience_s = 1.0

    async def put(self, brokers: Brokers, address: str) -> MasterClients:
        """Ask for both at once."""
        clients, locks = await asyncio.gather(
            brokers.ask(address, GetClients()), brokers.ask(address, GetQueueLocks())
        )
        if clients is None:
            return MasterClients(unknown=NOT_REPORTED_BY_STOCK)
        return _of(clients, locks)


def _of(listed: ReportedClients, locks: HeldLocks) -> MasterClients:
    counts: dict[str, int] = {}
    for lock in locks.locks:
        counts[lock.consumer_group_name] = counts.get(lock.consumer_group_name, 0) + 1
    return MasterClients(
        tuple(sorted({group for one in listed.clients for group in one.producer_groups})),
        tuple(sorted({group for one in listed.clients for group in one.consumer_groups})),
        tuple(sorted(counts.items())),
    )
