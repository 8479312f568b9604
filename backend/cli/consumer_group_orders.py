"""The commands `regent group create`, `set` and `delete`: consumer groups as brokers know them."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.order_commands import Given, orders
from backend.domain.orders.consumer_group import (
    ChangeConsumerGroup,
    CreateConsumerGroup,
    DeleteConsumerGroup,
)

TARGET: Final = "consumer group {group_name}".format_map
NAME: Final = {"group_name": "name"}


@orders(CreateConsumerGroup, TARGET, places=NAME)
def create_group(given: Given) -> Mapping[str, Any]:
    """Create a consumer group on all broker groups, or on those named.

    Refused where it is there already. Taken back by deleting it, for as long as nobody uses it.

    Examples:
        regent group create billing --dry-run
        regent group create billing --retries 3 --no-broadcast
    """
    return given.values


@orders(ChangeConsumerGroup, TARGET, places=NAME)
def change_group(given: Given) -> Mapping[str, Any]:
    """Change a consumer group on all broker groups that know it, or on those named.

    What is left out stays as it is. Taken back by the former values of each broker.

    Examples:
        regent group set billing --retries 3
        regent group set billing --no-consume --yes --reason "stop it for the repair"
    """
    return given.values


@orders(DeleteConsumerGroup, TARGET, places=NAME)
def delete_group(given: Given) -> Mapping[str, Any]:
    """Delete a consumer group on all broker groups that know it, or on those named.

    Refused while members are connected. Its offsets stay, so that it can be created anew where it
    was, and so do its retries and dead letters, unless they are to go too: nothing brings them
    back.

    Examples:
        regent group delete billing --dry-run
        regent group delete billing --clean
    """
    return given.values
