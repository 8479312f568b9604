"""The commands `regent topic static …` that order a change."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.order_commands import Given, Option, orders
from backend.cli.queue_mapping_files import read_mapping_file
from backend.domain.orders.static_topic import (
    ConvertTopic,
    CreateStaticTopic,
    DeleteStaticTopic,
    EvacuateBrokerGroup,
    ExpandStaticTopic,
    ImportStaticTopic,
    MoveQueues,
    ShrinkStaticTopic,
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


@orders(ConvertTopic, TARGET, places=NAME)
def convert_topic(given: Given) -> Mapping[str, Any]:
    """Make an ordinary topic static, with its messages and the positions of consumer groups.

    Each queue of a broker group becomes a logical queue, in the order of broker groups. Producers
    get refusals until their next route update, within 30 s. There is no undo: a static topic
    becomes ordinary only by its deletion.

    Examples:
        regent topic static convert orders --dry-run
        regent topic static convert orders --reason "its queues are to move"
    """
    return given.values


@orders(ExpandStaticTopic, TARGET, places=NAME)
def expand_static_topic(given: Given) -> Mapping[str, Any]:
    """Give a static topic more queues.

    The existing queues keep their numbers and their messages. Consumer groups rebalance once.
    Producers that choose a queue by the hash of a key then choose other queues.

    Examples:
        regent topic static expand orders --queues 12 --dry-run
        regent topic static expand orders --queues 12 --broker-group broker-c
    """
    return given.values


@orders(ShrinkStaticTopic, TARGET, places=NAME)
def shrink_static_topic(given: Given) -> Mapping[str, Any]:
    """Take the last queues from a static topic.

    First the queues refuse messages, and consumers still read them. The operation waits until each
    consumer group has read them to the end, or their messages are gone. Then the queues are
    removed. You can pause or cancel the operation while it waits. An undo, or a later expand,
    brings the queues back at increasing offsets.

    Clients do not know which queues refuse messages, so the command needs --force while producers
    are connected to a leader of these queues.

    Examples:
        regent topic static shrink orders --queues 4 --dry-run
        regent topic static shrink orders --queues 4 --waive old-group --force --watch
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


@orders(
    ImportStaticTopic,
    TARGET,
    places=NAME,
    own={
        "document": Option(
            word="file",
            text="Mapping file to import, or - for the standard input. Default: the mapping that"
            " the brokers have.",
            kind=str | None,
            default=None,
        )
    },
)
def import_static_topic(given: Given) -> Mapping[str, Any]:
    """Restore a static topic whose record is lost, or go on with a change from a mapping file.

    Without a file the mapping is read from the brokers, which all have to answer. A file of regent
    or of RocketMQ's mqadmin may also have moves that are not finished, and new queues. The
    operation goes on at the first step that no broker confirms. A file that changes existing queues
    in another way is refused.

    Examples:
        regent topic static import orders --dry-run
        regent topic static import orders --file orders.json
        regent topic static import orders --file old.json --force
    """
    name = given.values["document"]
    return {**given.values, "document": None if name is None else read_mapping_file(name)}


@orders(
    EvacuateBrokerGroup,
    "the logical queues of broker group {broker_group_name}".format_map,
    places={"broker_group_name": "broker_group"},
)
def evacuate_broker_group(given: Given) -> Mapping[str, Any]:
    """Move the queues of all static topics off a broker group.

    Broker groups that may be written take the queues, the ones with the fewest queues of a topic
    first. Messages stay where they are, until they expire. You can pause the operation between two
    queues. An undo moves the queues of all topics back.

    Examples:
        regent topic static evacuate broker-a --dry-run
        regent topic static evacuate broker-a --in-flight 8 --reason "to be replaced"
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
