"""Show pending transactions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.transaction import PendingTransaction
from backend.views.copying import copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    CLUSTER_NAME,
    TOPIC_NAME,
)
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.instants import reported_instant
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


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
    born_at: Annotated[
        datetime | None,
        Text("Time when the producer created the message. Null if it is invalid."),
    ]
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
            born_at=reported_instant(held.born_ms),
        )


@in_graph("PendingTransactions")
@dataclass(frozen=True, slots=True)
class TransactionsOut(ObservedPage[PendingTransactionOut, UnknownBrokerOut]):
    """One page of pending transactions, and the masters that did not list all of theirs."""
