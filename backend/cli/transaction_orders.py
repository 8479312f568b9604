"""The commands `regent transaction commit` and `regent transaction roll-back`."""

from collections.abc import Mapping
from typing import Any

from backend.cli.order_commands import Given, orders
from backend.domain.orders.transaction import CommitTransaction, RollBackTransaction


@orders(
    CommitTransaction,
    "transaction {transaction_id}".format_map,
    places={"transaction_id": "transaction"},
)
def commit_transaction(given: Given) -> Mapping[str, Any]:
    """Commit a pending transaction in the place of its producer: consumers get the message.

    Use this command only if the local transaction of the producer is known to be committed. The
    operation needs a reason, and has no undo.

    Examples:
        regent transaction list --producer-group payments
        regent transaction commit 7F00000100002A9F0000 --dry-run
        regent transaction commit 7F00000100002A9F0000 --accept-loss --reason "it is booked"
    """
    return given.values


@orders(
    RollBackTransaction,
    "transaction {transaction_id}".format_map,
    places={"transaction_id": "transaction"},
)
def roll_back_transaction(given: Given) -> Mapping[str, Any]:
    """Roll back a pending transaction in the place of its producer: no consumer gets the message.

    Use this command only if the local transaction of the producer is known to be rolled back. The
    operation needs a reason, and has no undo.

    Examples:
        regent transaction list --producer-group payments
        regent transaction roll-back 7F00000100002A9F0000 --dry-run
        regent transaction roll-back 7F00000100002A9F0000 --accept-loss --reason "it failed"
    """
    return given.values
