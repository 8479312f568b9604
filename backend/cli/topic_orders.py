"""The commands `regent topic create`, `set` and `delete`."""

from typing import Annotated, Any, Literal

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName
from backend.cli.orders import Ordering, choose_target, order_change
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options

QueueCount = Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65_535))]
BrokerGroups = Annotated[list[str] | None, Parameter(name="--broker-group", negative="")]
MessageType = Literal["UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED"]


def register(topic: App) -> None:
    """Add the commands to those about topics."""
    topic.command(create_topic, name="create")
    topic.command(change_topic, name="set")
    topic.command(delete_topic, name="delete")


def create_topic(
    name: str,
    /,
    *,
    broker_group: BrokerGroups = None,
    queues: QueueCount = 8,
    read_queues: QueueCount | None = None,
    readable: bool = True,
    writable: bool = True,
    ordered: bool = False,
    message_type: MessageType | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Create a topic on all broker groups, or on those named.

    Refused where it is there already. Taken back by deleting it, for as long as it is empty.

    Examples:
        regent topic create orders --dry-run
        regent topic create orders --queues 16 --broker-group broker-a --broker-group broker-b

    Args:
        name: Name of the topic.
        broker_group: Name of a broker group, more than once if need be.
        queues: How many queues each broker group writes and reads.
        read_queues: How many queues consumers read, where that is another number.
        readable: Let consumers read it.
        writable: Let producers write it.
        ordered: Mark it as ordered.
        message_type: What it may carry, for brokers that check that.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        parameters = {
            **_target(client, cluster, name, broker_group),
            "read_queue_count": queues if read_queues is None else read_queues,
            "write_queue_count": queues,
            "is_readable": readable,
            "is_writable": writable,
            "is_ordered": ordered,
            "message_type": message_type,
        }
        is_json = options.output == "json"
        order_change(client, "create_topic", parameters, ordering, is_json=is_json)


def change_topic(
    name: str,
    /,
    *,
    broker_group: BrokerGroups = None,
    queues: QueueCount | None = None,
    read_queues: QueueCount | None = None,
    readable: bool | None = None,
    writable: bool | None = None,
    ordered: bool | None = None,
    message_type: MessageType | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Change a topic on all broker groups that hold it, or on those named.

    What is left out stays as it is. Warns of messages in queues that nobody would read any more.
    Taken back by the former values of each broker.

    Examples:
        regent topic set orders --queues 16
        regent topic set orders --no-writable --broker-group broker-a --dry-run

    Args:
        name: Name of the topic.
        broker_group: Name of a broker group, more than once if need be.
        queues: How many queues each broker group writes, and reads unless that is said too.
        read_queues: How many queues consumers read.
        readable: Let consumers read it.
        writable: Let producers write it.
        ordered: Mark it as ordered.
        message_type: What it may carry, for brokers that check that.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        parameters = {
            **_target(client, cluster, name, broker_group),
            "read_queue_count": queues if read_queues is None else read_queues,
            "write_queue_count": queues,
            "is_readable": readable,
            "is_writable": writable,
            "is_ordered": ordered,
            "message_type": message_type,
        }
        is_json = options.output == "json"
        order_change(client, "change_topic", parameters, ordering, is_json=is_json)


def delete_topic(
    name: str,
    /,
    *,
    broker_group: BrokerGroups = None,
    only_empty: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Delete a topic with all that is in it, on all broker groups or on those named.

    Shows how many messages are in it and who has not read them. Nothing brings them back. It begins
    ten seconds after it was confirmed, and can be cancelled until then.

    Examples:
        regent topic delete orders --dry-run
        regent topic delete orders --only-empty

    Args:
        name: Name of the topic.
        broker_group: Name of a broker group, more than once if need be.
        only_empty: Delete it only while no message is in it, which loses nothing.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        target = _target(client, cluster, name, broker_group)
        parameters = {**target, "only_empty": only_empty}
        is_json = options.output == "json"
        order_change(client, "delete_topic", parameters, ordering, is_json=is_json)


def _target(
    client: RestClient, cluster: str | None, name: str, broker_groups: list[str] | None
) -> dict[str, Any]:
    return {
        "cluster_name": choose_target(client, cluster, f"topic {name}"),
        "topic_name": name,
        "broker_groups": broker_groups or [],
    }
