"""Describe pending transactions: half messages that are neither committed nor rolled back."""

from dataclasses import dataclass

from backend.domain.cluster_scope import EVERYWHERE, ClusterScope
from backend.domain.queue_lock import BrokerKey


@dataclass(frozen=True, slots=True)
class HeldTransaction:
    """Hold a pending transaction as its broker reports it.

    `first_offset` identifies it at the broker, and `transaction_id` at the producer. `born_ms` is
    by the clock of the producer, `age_ms` by that of the broker. `message_id` is the offset message
    id of the half message.
    """

    first_offset: int
    transaction_id: str
    producer_group_name: str
    topic: str
    queue_id: int
    born_ms: int
    age_ms: int
    check_count: int
    message_id: str
    body_size: int
    producer_count: int


@dataclass(frozen=True, slots=True)
class HeldTransactions:
    """Hold the oldest pending transactions of a broker, and the number of all."""

    transactions: tuple[HeldTransaction, ...]
    total_count: int


@dataclass(frozen=True, slots=True)
class PendingTransaction:
    """Hold a pending transaction and the broker that reported it."""

    broker: BrokerKey
    held: HeldTransaction

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Return a key that orders transactions in lists, and identifies each."""
        broker = self.broker
        return (
            broker.cluster_name,
            broker.broker_group_name,
            self.held.first_offset,
            broker.address,
        )


@dataclass(frozen=True, slots=True)
class TransactionFilter:
    """Choose pending transactions. A transaction must fulfil each condition that is given."""

    cluster_name: str | None = None
    broker_group_name: str | None = None
    topic: str | None = None
    producer_group_name: str | None = None
    transaction_id: str | None = None
    within: ClusterScope = EVERYWHERE

    def takes(self, transaction: PendingTransaction) -> bool:
        """Return whether a transaction fulfils the conditions."""
        found = (
            (self.cluster_name, transaction.broker.cluster_name),
            (self.broker_group_name, transaction.broker.broker_group_name),
            (self.topic, transaction.held.topic),
            (self.producer_group_name, transaction.held.producer_group_name),
            (self.transaction_id, transaction.held.transaction_id),
        )
        return all(wanted is None or wanted == value for wanted, value in found)
