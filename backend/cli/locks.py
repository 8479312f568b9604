"""The commands `regent lock …` and `regent queue …`: who holds queues, and why they stand still."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, Limit, choose_cluster
from backend.cli.confirmation import Confirm, confirm_name
from backend.cli.output import print_json, print_line, print_table, time_text
from backend.cli.rest import RestClient, connect, segment
from backend.cli.target import Options

PAGE_SIZE: Final = 500

lock = App(name=["lock", "locks"], help="Show locks of ordered queues, and release them.")
lease = App(name=["lease", "leases"], help="Show the leases of broker groups and operations.")
lock.command(lease)
queue = App(name=["queue", "queues"], help="Explain why consumer groups do not read queues.")

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
    wanted = {
        "cluster_name": cluster,
        "consumer_group_name": group,
        "topic": topic,
        "client_id": holder,
        "holder": "gone" if dead else None,
    }
    with connect(options) as client:
        found, unknown = _collect(client, limit, wanted)
    if options.output == "json":
        print_json({"locks": found, "unknown": unknown})
        return
    print_table(
        (
            *("CLUSTER", "CONSUMER GROUP", "TOPIC", "QUEUE#", "BROKER", "HOLDER"),
            *("HELD#", "RENEWED#", "ENDS IN#", "IS"),
        ),
        [
            (
                one["cluster_name"],
                one["consumer_group_name"],
                one["topic"],
                one["queue_id"],
                one["broker_group_name"],
                one["client_id"],
                _seconds(one["held_ms"]),
                f"{_seconds(one['renewed_ms'])} ago",
                _seconds(one["expires_in_ms"]),
                one["holder"],
            )
            for one in found
        ],
    )
    for one in unknown:
        print_line(f"unknown: locks of {one['name']} ({one['address']}): {one['why']}")


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
        name = choose_cluster(client, cluster)
        found = list(client.list(f"/clusters/{segment(name)}/leases", limit=limit))
        path = f"/clusters/{segment(name)}/operation-leases"
        operations = list(client.list(path, limit=limit))
    if options.output == "json":
        print_json({"groups": found, "operations": operations})
        return
    print_table(
        ("GROUP", "MASTER#", "ADDRESS", "ALIVE", "EPOCH#", "POLICY", "LEASE ENDS"),
        [
            (
                one["broker_group_name"],
                one["master_id"],
                one["master_address"],
                "yes" if one["is_master_alive"] else "no",
                one["master_epoch"],
                one["policy"],
                "none runs" if one["ends_at"] is None else time_text(one["ends_at"]),
            )
            for one in found
        ],
    )
    if operations:
        print_table(
            ("OPERATION", "KIND", "TARGET", "AT", "FENCE#", "RENEWED", "LEASE ENDS"),
            [
                (
                    *(one["operation_id"], one["kind"], one["target"]),
                    *(one["step"] or "reading back", one["fence"]),
                    *(time_text(one["renewed_at"]), time_text(one["ends_at"])),
                )
                for one in operations
            ],
            title="\nOperations at work",
        )


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
    with connect(options) as client:
        name = choose_cluster(client, cluster)
        path = f"/clusters/{segment(name)}/topics/{segment(topic)}/pauses"
        found = client.get(
            path, consumer_group_name=group, queue_id=queue, broker_group_name=broker_group
        )
    if options.output == "json":
        print_json(found)
        return
    for one in found["queues"]:
        print_line(one["sentence"])
        for line in one["evidence"]:
            print_line(f"  {line}")


def _collect(
    client: RestClient, limit: int, wanted: Mapping[str, str | None]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Read pages of locks, and whose are not known: of the first page, since all tell the same."""
    found: list[dict[str, Any]] = []
    page = client.get("/locks", limit=min(limit, PAGE_SIZE), **wanted)
    unknown: list[dict[str, Any]] = page["unknown"]
    found += page["items"]
    while page["next"] is not None and len(found) < limit:
        size = min(limit - len(found), PAGE_SIZE)
        page = client.get("/locks", limit=size, after=page["next"], **wanted)
        found += page["items"]
    return found, unknown


def _seconds(age_ms: int) -> str:
    return f"{age_ms / 1000:.1f} s"
