"""Show pending transactions."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Self

from backend.domain.transaction import PendingTransaction
from backend.services.cluster.broker_questions import UnknownBroker
from backend.views.copying import copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    BROKER_NAME,
    CLUSTER_NAME,
    TOPIC_NAME,
    UNKNOWN_WHY,
)
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.observed_pages import ObservedPage


@dataclass(frozen=True, slots=True)
class PendingTransactionOut:
    """A half message that its producer has neither committed nor rolled back."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    broker_address: Annotated[str, BROKER_ADDRESS]
    transaction_id: Annotated[str, Text("Id that the producer gave to the transaction.")]
    producer_group_name: Annotated[str, Text("Name of the producer group.")]
    topic: Annotated[str, TOPIC_NAME]
    queue_id: Annotated[int, Text("Number of the queue that gets the message at the commit.")]
    born_at: Annotated[datetime, Text("Time when the producer created the message.")]
    age_ms: Annotated[Int64, Text("Milliseconds since the creation, by the clock of the broker.")]
    check_count: Annotated[int, Text("How often the broker asked the producer group.")]
    message_id: Annotated[str, Text("Id of the half message, which contains its place.")]
    body_size: Annotated[int, Text("Size of the body, in bytes.")]
    producer_count: Annotated[
        int, Text("Number of producers of the group that are connected to the broker.")
    ]

    @classmethod
    def of(cls, transaction: PendingTransaction) -> Self:
        """Show a pending transaction."""
        held = transaction.held
        return copied(
            cls,
            held,
            cluster_name=transaction.broker.cluster_name,
            broker_group_name=transaction.broker.broker_group_name,
            broker_address=transaction.broker.address,
            born_at=datetime.fromtimestamp(held.born_ms / 1000, UTC),
        )


@dataclass(frozen=True, slots=True)
class UnknownTransactionsOut:
    """A master whose list of pending transactions is missing or incomplete, and why."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    name: Annotated[str, BROKER_NAME]
    address: Annotated[str, BROKER_ADDRESS]
    why: Annotated[str, UNKNOWN_WHY]

    @classmethod
    def of(cls, unknown: UnknownBroker) -> Self:
        """Show a master that did not list all."""
        return copied(cls, unknown.broker, name=str(unknown.broker.name), why=unknown.why)


@in_graph("PendingTransactions")
@dataclass(frozen=True, slots=True)
class TransactionsOut(ObservedPage[PendingTransactionOut, UnknownTransactionsOut]):
    """One page of pending transactions, and the masters that did not list all of theirs."""
