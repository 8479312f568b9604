"""The commands `regent topic static create`, `expand`, `move` and `delete`."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.order_commands import Given, orders
from backend.domain.orders.static_topic import (
    CreateStaticTopic,
    DeleteStaticTopic,
    ExpandStaticTopic,
    MoveQueues,
)

TARGET: Final = "static topic {topic_name}".format_map
NAME: Final = {"topic_name": "name"}


@orders(CreateStaticTopic, TARGET, places=NAME)
def create_static_topic(given: Given) -> Mapping[str, Any]:
    """Create a static topic: clients see a fixed number of queues, whatever brokers are up.

    The queues are spread evenly over all broker groups, or over the named broker groups. All
    broker groups of the cluster have to answer. An undo deletes the topic, if the topic is empty.

    Examples:
        regent topic static create orders --queues 8 --dry-run
        regent topic static create orders --queues 8 --broker-group broker-a
    """
    return given.values


@orders(ExpandStaticTopic, TARGET, places=NAME)
def expand_static_topic(given: Given) -> Mapping[str, Any]:
    """Give a static topic more queues.

    The existing queues keep their numbers and their messages. Consumer groups rebalance once. A
    hash of a key over the number of queues gives other queues.

    Examples:
        regent topic static expand orders --queues 12 --dry-run
        regent topic static expand orders --queues 12 --broker-group broker-c
    """
    return given.values


@orders(MoveQueues, TARGET, places=NAME)
def move_queues(given: Given) -> Mapping[str, Any]:
    """Move queues of a static topic to other broker groups; numbers and offsets continue.

    One of --to, --leaving, --onto and --target chooses the moves. Messages stay where they are, and
    the former broker group serves them until they expire. You can pause the operation between two
    queues. Before the first queue has moved, an undo rolls the operation back. After the end, an
    undo moves the queues back.

    Examples:
        regent topic static move orders --to broker-c --queue 3 --dry-run
        regent topic static move orders --to broker-c --queue 0 --queue 1 --in-flight 2
        regent topic static move orders --leaving broker-a --dry-run
        regent topic static move orders --onto broker-d
        regent topic static move orders --target broker-b --target broker-c
        regent topic static move orders --to broker-c --queue 3 --force --force-offset 50000
    """
    return given.values


@orders(DeleteStaticTopic, TARGET, places=NAME)
def delete_static_topic(given: Given) -> Mapping[str, Any]:
    """Delete a static topic on all broker groups.

    A topic with messages needs --purge, and deleted messages cannot be restored. All broker groups
    have to answer, since the topic would come back with a broker group that kept it.

    Examples:
        regent topic static delete orders --dry-run
        regent topic static delete orders --purge
    """
    return given.values
