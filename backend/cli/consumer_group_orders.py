"""The commands `regent group create`, `set` and `delete`, for consumer groups."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.order_commands import Given, orders
from backend.domain.orders.consumer_group import (
    ChangeConsumerGroup,
    CreateConsumerGroup,
    DeleteConsumerGroup,
)

TARGET: Final = "consumer group {consumer_group_name}".format_map
NAME: Final = {"consumer_group_name": "name"}


@orders(CreateConsumerGroup, TARGET, places=NAME)
def create_group(given: Given) -> Mapping[str, Any]:
    """Create a consumer group on all broker groups, or on the named broker groups.

    Regent refuses the creation if one of the broker groups already has the consumer group. An undo
    deletes the consumer group, if no client uses it.

    Examples:
        regent group create billing --dry-run
        regent group create billing --retries 3 --no-broadcast
    """
    return given.values


@orders(ChangeConsumerGroup, TARGET, places=NAME)
def change_group(given: Given) -> Mapping[str, Any]:
    """Change a consumer group on all broker groups that have it, or on the named broker groups.

    Settings that you leave out stay unchanged. An undo sets the former values of each broker.

    Examples:
        regent group set billing --retries 3
        regent group set billing --no-consume --yes --reason "stop it for the repair"
    """
    return given.values


@orders(DeleteConsumerGroup, TARGET, places=NAME)
def delete_group(given: Given) -> Mapping[str, Any]:
    """Delete a consumer group on all broker groups that have it, or on the named broker groups.

    Regent refuses the deletion while members are connected. Without --clean, the group's offsets,
    retries and dead letters stay. A group that you create later with the same name then continues
    from these offsets. With --clean, the operation deletes offsets, retries and dead letters, and
    you cannot restore them.

    Examples:
        regent group delete billing --dry-run
        regent group delete billing --clean
    """
    return given.values
