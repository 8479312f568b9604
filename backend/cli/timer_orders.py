"""The command `regent timer recall`."""

from collections.abc import Mapping
from typing import Any

from backend.cli.order_commands import Given, orders
from backend.domain.orders.timer import RecallMessage


@orders(RecallMessage, "message {recall_handle}".format_map, places={"recall_handle": "handle"})
def recall_message(given: Given) -> Mapping[str, Any]:
    """Recall a message that waits for a time: no consumer gets it.

    A producer gets the handle with the result of its send. The broker must have the property
    recallMessageEnable, which is false by default. The operation needs a reason, and has no undo.

    Examples:
        regent timer recall djEgb3JkZXJzIGJyb2tlci1hIDE3MDAwMDAwMDAwMDEgSw== --dry-run
        regent timer recall djEgb3JkZXJzIGJyb2tlci1hIDE3MDAwMDAwMDAwMDEgSw== --accept-loss \
            --reason "the order was cancelled"
    """
    return given.values
