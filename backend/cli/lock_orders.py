"""The command `regent lock release`."""

from collections.abc import Mapping
from typing import Any

from backend.cli.order_commands import Given, orders
from backend.domain.orders.lock import ReleaseLocks


@orders(ReleaseLocks, "locks of {client_id}".format_map, places={"client_id": "holder"})
def release_locks(given: Given) -> Mapping[str, Any]:
    """Release all locks of a client, or only the locks that the options name.

    The brokers notify the group's members at once, so that the next client of a queue can continue.
    If the client is still connected, its last batch may be consumed twice or out of order. In this
    case, the operation needs a reason.

    Examples:
        regent lock list --dead
        regent lock release 10.0.0.7@412 --dry-run
        regent lock release 10.0.0.7@412 --group billing --topic orders --queue 3
    """
    return given.values
