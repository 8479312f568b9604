"""Say what can be ordered of pending transactions."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from backend.domain.orders.parameter import ClusterName, Parameter
from backend.domain.transaction import TransactionFilter


@dataclass(frozen=True, slots=True)
class TransactionOrder:
    """Decide a pending transaction in the place of its producer."""

    commits: ClassVar[bool]

    cluster_name: ClusterName
    transaction_id: Annotated[
        str,
        Parameter(
            "Id that the producer gave to the transaction.",
            option="transaction",
            length_min=1,
            length_max=300,
        ),
    ]
    broker_group_name: Annotated[
        str | None,
        Parameter(
            "Broker group that has the transaction.",
            absence="the only one that has it",
            option="broker_group",
            length_min=1,
            length_max=300,
        ),
    ] = None

    @property
    def target(self) -> str:
        """Name the transaction."""
        return self.transaction_id

    @property
    def chosen(self) -> TransactionFilter:
        """Say which transaction is meant."""
        return TransactionFilter(
            cluster_name=self.cluster_name,
            broker_group_name=self.broker_group_name,
            transaction_id=self.transaction_id,
        )


@dataclass(frozen=True, slots=True)
class CommitTransaction(TransactionOrder):
    """Commit a pending transaction: consumers get its message."""

    commits: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class RollBackTransaction(TransactionOrder):
    """Roll back a pending transaction: no consumer gets its message."""

    commits: ClassVar[bool] = False
