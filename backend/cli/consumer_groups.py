"""The commands `regent group …`: consumer groups as brokers know them."""

from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName
from backend.cli.orders import Ordering, choose_target, order_change
from backend.cli.rest import RestClient, connect
from backend.cli.target import Options
from backend.cli.topic_orders import BrokerGroups

group = App(name=["group", "groups"], help="Show, create, change and delete consumer groups.")

RetryCount = Annotated[int, Parameter(validator=validators.Number(gte=-1, lte=10_000))]
QueueCount = Annotated[int, Parameter(validator=validators.Number(gte=0, lte=1_000))]
Minutes = Annotated[int, Parameter(validator=validators.Number(gte=1, lte=1_440))]


@group.command(name="create")
def create_group(
    name: str,
    /,
    *,
    broker_group: BrokerGroups = None,
    consume: bool = True,
    broadcast: bool = True,
    consume_from_min: bool = True,
    ordered: bool = False,
    retries: RetryCount = 16,
    retry_queues: QueueCount = 1,
    timeout_minutes: Minutes = 15,
    notify_members: bool = True,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Create a consumer group on all broker groups, or on those named.

    Refused where it is there already. Taken back by deleting it, for as long as nobody uses it.

    Examples:
        regent group create billing --dry-run
        regent group create billing --retries 3 --no-broadcast

    Args:
        name: Name of the consumer group.
        broker_group: Name of a broker group, more than once if need be.
        consume: Let its consumers read.
        broadcast: Let its consumers read all of them everything.
        consume_from_min: Let a new queue be read from its oldest message.
        ordered: Mark it as one that consumes in order.
        retries: How often a message is tried again; -1 is the broker's default.
        retry_queues: How many queues its retries have.
        timeout_minutes: After how long a message counts as failed.
        notify_members: Tell members when others come or go.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        parameters = {
            **_target(client, cluster, name, broker_group),
            "consume_enabled": consume,
            "broadcast_allowed": broadcast,
            "consume_from_min_enabled": consume_from_min,
            "is_ordered": ordered,
            "retry_count_max": retries,
            "retry_queue_count": retry_queues,
            "consume_timeout_minutes": timeout_minutes,
            "notifies_members": notify_members,
        }
        is_json = options.output == "json"
        order_change(client, "create_consumer_group", parameters, ordering, is_json=is_json)


@group.command(name="set")
def change_group(
    name: str,
    /,
    *,
    broker_group: BrokerGroups = None,
    consume: bool | None = None,
    broadcast: bool | None = None,
    consume_from_min: bool | None = None,
    ordered: bool | None = None,
    retries: RetryCount | None = None,
    retry_queues: QueueCount | None = None,
    timeout_minutes: Minutes | None = None,
    notify_members: bool | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Change a consumer group on all broker groups that know it, or on those named.

    What is left out stays as it is. Taken back by the former values of each broker.

    Examples:
        regent group set billing --retries 3
        regent group set billing --no-consume --yes --reason "stop it for the repair"

    Args:
        name: Name of the consumer group.
        broker_group: Name of a broker group, more than once if need be.
        consume: Let its consumers read.
        broadcast: Let its consumers read all of them everything.
        consume_from_min: Let a new queue be read from its oldest message.
        ordered: Mark it as one that consumes in order.
        retries: How often a message is tried again; -1 is the broker's default.
        retry_queues: How many queues its retries have.
        timeout_minutes: After how long a message counts as failed.
        notify_members: Tell members when others come or go.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        parameters = {
            **_target(client, cluster, name, broker_group),
            "consume_enabled": consume,
            "broadcast_allowed": broadcast,
            "consume_from_min_enabled": consume_from_min,
            "is_ordered": ordered,
            "retry_count_max": retries,
            "retry_queue_count": retry_queues,
            "consume_timeout_minutes": timeout_minutes,
            "notifies_members": notify_members,
        }
        is_json = options.output == "json"
        order_change(client, "change_consumer_group", parameters, ordering, is_json=is_json)


@group.command(name="delete")
def delete_group(
    name: str,
    /,
    *,
    broker_group: BrokerGroups = None,
    clean: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Delete a consumer group on all broker groups that know it, or on those named.

    Refused while members are connected. Its offsets stay, so that it can be created anew where it
    was, and so do its retries and dead letters, unless they are to go too: nothing brings them
    back.

    Examples:
        regent group delete billing --dry-run
        regent group delete billing --clean

    Args:
        name: Name of the consumer group.
        broker_group: Name of a broker group, more than once if need be.
        clean: Delete its offsets too, and the topics of its retries and dead letters.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        target = _target(client, cluster, name, broker_group)
        parameters = {**target, "cleans_up": clean}
        is_json = options.output == "json"
        order_change(client, "delete_consumer_group", parameters, ordering, is_json=is_json)


def _target(
    client: RestClient, cluster: str | None, name: str, broker_groups: list[str] | None
) -> dict[str, Any]:
    return {
        "cluster_name": choose_target(client, cluster, f"consumer group {name}"),
        "group_name": name,
        "broker_groups": broker_groups or [],
    }
