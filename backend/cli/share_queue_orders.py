"""The commands that change share queues, and `regent group mode`."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.order_commands import Given, orders
from backend.domain.orders.share_queue import (
    HandOverShareQueues,
    ReleaseSharedMessages,
    ResetShareQueue,
    SetConsumeMode,
)

QUEUE: Final = {"consumer_group_name": "group", "topic_name": "topic", "queue_id": "queue"}
TARGET: Final = (
    "queue {topic_name}/{queue_id} of {broker_group_name} for group {consumer_group_name}"
).format_map


@orders(ReleaseSharedMessages, TARGET, places=QUEUE)
def release_shared_messages(given: Given) -> Mapping[str, Any]:
    """Deliver messages of gone clients, or of one client, again before their time is over.

    Without --client, the messages of all clients that are gone are released. A message that
    another client received meanwhile stays with that client. In SHARED mode, a client that received
    a message from another member than the master is not known to be gone. There is no undo.

    Examples:
        regent queue share release billing orders 3 --broker-group broker-a --dry-run
        regent queue share release billing orders 3 --broker-group broker-a --client 10.0.0.7@412
    """
    return given.values


@orders(ResetShareQueue, TARGET, places={**QUEUE, "offset": "offset"})
def reset_share_queue(given: Given) -> Mapping[str, Any]:
    """Let a consumer group go on from an offset in a share queue, to skip or to repeat messages.

    The broker refuses acknowledgements of the messages that consumers have now. An undo sets the
    former position. To move all queues of a topic, use `regent offset reset`.

    Examples:
        regent queue share reset billing orders 3 1200 --broker-group broker-a --dry-run
        regent queue share reset billing orders 3 1200 --broker-group broker-a
    """
    return given.values


@orders(
    HandOverShareQueues,
    "the share queues of {broker_group_name}".format_map,
    places={"broker_group_name": "broker_group"},
)
def hand_over_share_queues(given: Given) -> Mapping[str, Any]:
    """Hand share queues of SHARED topics over to another member of their broker group.

    The former owner gives them back with its next heartbeat, and the next owner goes on from there.
    Messages in flight stay with their consumers. An undo hands them over to the former owner. A
    broker that is stopped hands its share queues over by itself.

    Examples:
        regent queue share hand-over broker-a --owner 2 --dry-run
        regent queue share hand-over broker-a --group billing --topic orders --to 3
    """
    return given.values


@orders(
    SetConsumeMode,
    "consumer group {consumer_group_name} in {topic_name}".format_map,
    places={"consumer_group_name": "name", "topic_name": "topic", "mode": "mode"},
)
def set_consume_mode(given: Given) -> Mapping[str, Any]:
    """Set how a consumer group receives a topic: queue by queue (PULL), or from share queues (POP).

    Clients of version 5 with clientRebalance=false change within 20 seconds. Other clients allocate
    their queues by themselves, and go on pulling. An undo sets the former mode.

    Examples:
        regent group mode billing orders POP --dry-run
        regent group mode billing orders PULL --yes --reason "back to pulling"
    """
    return given.values
