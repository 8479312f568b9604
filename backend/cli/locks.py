"""The commands `regent lock …` and `regent queue …`: lock holders, and why queues are paused."""

from typing import Annotated, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, cluster_path, in_cluster
from backend.cli.confirmation import Confirm, confirm_name
from backend.cli.output import (
    Columns,
    age_text,
    print_items,
    print_json,
    print_line,
    time_text,
    yes_no,
)
from backend.cli.paging import ask, show_asked_list
from backend.cli.rest import connect, segment
from backend.cli.target import Options

PAGE_SIZE: Final = 500

lock = App(name=["lock", "locks"], help="Show locks of ordered queues, and release them.")
lease = App(name=["lease", "leases"], help="Show the leases of broker groups and operations.")
lock.command(lease)
queue = App(
    name=["queue", "queues"],
    help="Explain why consumer groups do not read queues, and show share queues.",
)
queue.command("backend.cli.share_queues:share", name=["share", "shares"])

LEASE_COLUMNS: Final[Columns] = {
    "BROKER GROUP": "broker_group_name",
    "MASTER#": "master_id",
    "ADDRESS": "master_address",
    "ALIVE": ("is_master_alive", yes_no),
    "EPOCH#": "master_epoch",
    "POLICY": "policy",
    "LEASE ENDS": lambda one: time_text(one["ends_at"]) if one["ends_at"] else "none runs",
}
OPERATION_LEASE_COLUMNS: Final[Columns] = {
    "OPERATION": "operation_id",
    "KIND": "kind",
    "TARGET": "target",
    "AT": lambda one: one["step"] or "reading back",
    "FENCE#": "fence",
    "RENEWED": ("renewed_at", time_text),
    "LEASE ENDS": ("ends_at", time_text),
}

QueueId = Annotated[int, Parameter(validator=validators.Number(gte=0))]


@lock.command(name="list")
def list_locks(
    *,
    group: str | None = None,
    topic: str | None = None,
    holder: str | None = None,
    dead: Annotated[bool, Parameter(negative="")] = False,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List the current locks of ordered queues, with the client that holds each lock.

    A lock ends one minute after its last renewal. RocketMQ brokers do not report their locks; the
    command names these brokers below the table.

    Examples:
        regent lock list
        regent lock list --group billing --dead
        regent lock list --holder 10.0.0.7@412 -o json

    Args:
        group: Only locks of this consumer group.
        topic: Only locks of queues of this topic.
        holder: Only locks of the client with this id.
        dead: Only locks whose client is no longer connected.
        cluster: Name of the cluster. Default: all clusters.
        limit: Maximum number of entries.
        options: Which server, and how to print.
    """
    show_asked_list(
        options,
        "/locks",
        {
            "CLUSTER": "cluster_name",
            "CONSUMER GROUP": "consumer_group_name",
            "TOPIC": "topic",
            "QUEUE#": "queue_id",
            "PHYSICAL#": "physical_queue_id",
            "BROKER": "broker_group_name",
            "HOLDER": "client_id",
            "HELD#": ("held_ms", age_text),
            "RENEWED#": lambda one: f"{age_text(one['renewed_ms'])} ago",
            "ENDS IN#": ("expires_in_ms", age_text),
            "IS": "holder",
        },
        name="locks",
        limit=limit,
        page_size=PAGE_SIZE,
        cluster_name=cluster,
        consumer_group_name=group,
        topic=topic,
        client_id=holder,
        holder="gone" if dead else None,
    )


lock.command("backend.cli.lock_orders:release_locks", name="release")


@lease.command(name="list")
def list_leases(
    *,
    cluster: ClusterName = None,
    limit: Limit = 500,
    options: Options = Options(),
) -> None:
    """List the leases of masters under a controller, and the leases of workers on operations.

    Example:
        regent lock lease list

    Args:
        cluster: Name of the cluster. Default: the only cluster.
        limit: Maximum number of entries.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        place = cluster_path(client, cluster)
        found = list(client.list(f"{place}/leases", limit=limit))
        operations = list(client.list(f"{place}/operation-leases", limit=limit))
    if options.output == "json":
        print_json({"groups": found, "operations": operations})
        return
    print_items(LEASE_COLUMNS, found)
    if operations:
        print_items(OPERATION_LEASE_COLUMNS, operations, title="\nOperations at work")


@lease.command(name="break")
def break_lease(
    operation_id: str,
    /,
    *,
    confirm: Confirm = None,
    options: Options = Options(),
) -> None:
    """Take an operation from a worker that hangs; the next worker continues after the last step.

    The operation gets a greater fencing number. The journal and the agents then refuse all requests
    of the former worker.

    Examples:
        regent lock lease list
        regent lock lease break 7b0c7c1e-5d3a-4b53-9d42-4a1c5c1f7a10

    Args:
        operation_id: Id of the operation.
        confirm: The operation's id, so that the command does not ask for it.
        options: Which server, and how to print.
    """
    with connect(options) as client:
        what = f"The worker at operation {operation_id} loses it, at {client.target.server}."
        confirm_name(operation_id, confirm, what=what)
        broken = client.delete(f"/operations/{segment(operation_id)}/lease")
    if options.output == "json":
        print_json(broken)
        return
    print_line(f"operation {operation_id} was taken from its worker and is {broken['state']}")


@queue.command(name="why")
def explain_queues(
    topic: str,
    /,
    *,
    group: str,
    queue: QueueId | None = None,
    broker_group: str | None = None,
    cluster: ClusterName = None,
    options: Options = Options(),
) -> None:
    """Explain whether a consumer group reads the queues of a topic and, if not, why not.

    The command asks the brokers now. It prints the brokers' answers below each explanation.

    Examples:
        regent queue why orders --group billing
        regent queue why orders --group billing --queue 3

    Args:
        topic: Name of the topic.
        group: Name of the consumer group.
        queue: Number of one queue. Default: all queues.
        broker_group: Only queues of this broker group.
        cluster: Name of the cluster. Default: the only cluster.
        options: Which server, and how to print.
    """
    path = in_cluster(cluster, "topics", topic, "pauses")
    found = ask(
        options, path, consumer_group_name=group, queue_id=queue, broker_group_name=broker_group
    )
    if options.output == "json":
        print_json(found)
        return
    for one in found["queues"]:
        print_line(one["sentence"])
        for line in one["evidence"]:
            print_line(f"  {line}")
