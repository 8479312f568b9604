"""The command `regent lock release`."""

from collections.abc import Mapping
from typing import Any

from backend.cli.order_commands import Given, orders
from backend.domain.orders.lock import ReleaseLocks


@orders(ReleaseLocks, "locks of {client_id}".format_map, places={"client_id": "holder"})
def release_locks(given: Given) -> Mapping[str, Any]:
    """Release what a client holds: all of it, or the locks that the options name.

    The group's members are told at once, so that whoever is given a queue goes on. A client that is
    still connected may have its last batch consumed twice or out of order; then a reason is needed.

    Examples:
        regent lock list --dead
        regent lock release 10.0.0.7@412 --dry-run
        regent lock release 10.0.0.7@412 --group billing --topic orders --queue 3
    """
    return given.values
