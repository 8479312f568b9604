"""The commands `protect` and `unprotect` of topics, consumer groups and brokers."""

from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, choose_cluster
from backend.cli.errors import CommandError, ExitCode
from backend.cli.orders import Ordering, choose_target, order_change
from backend.cli.output import time_text
from backend.cli.rest import RestClient, connect, segment
from backend.cli.target import Options

BrokerId = Annotated[int, Parameter(validator=validators.Number(gte=0))]
LISTED_MAX = 10_000


def register_topic(topic: App) -> None:
    """Add the commands to those about topics."""
    topic.command(protect_topic, name="protect")
    topic.command(unprotect_topic, name="unprotect")


def register_group(group: App) -> None:
    """Add the commands to those about consumer groups."""
    group.command(protect_group, name="protect")
    group.command(unprotect_group, name="unprotect")


def register_broker(broker: App) -> None:
    """Add the commands to those about brokers."""
    broker.command(protect_broker, name="protect")
    broker.command(unprotect_broker, name="unprotect")


def protection_text(protection: dict[str, Any] | None) -> str:
    """Say who protects something from deletion, since when and why."""
    if protection is None:
        return "none"
    why = f": {protection['reason']}" if protection["reason"] else ""
    return f"by {protection['protected_by']} since {time_text(protection['protected_at'])}{why}"


def yes_or_no(protection: dict[str, Any] | None) -> str:
    """Say in a list whether something is protected."""
    return "no" if protection is None else "yes"


def protect_topic(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Protect a topic from deletion.

    Deletions of the name are blocked until it is lifted, also of a topic that is made later. What
    asks a broker directly, as stock tools do, is not stopped.

    Example:
        regent topic protect orders --reason "production"

    Args:
        name: Name of the topic.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order("topic", name, cluster, ordering, options, is_protected=True)


def unprotect_topic(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Lift the protection of a topic, so that it may be deleted again.

    Asks for the name and a reason. Plans that were blocked by it can be made again.

    Example:
        regent topic unprotect orders --yes --reason "moved away"

    Args:
        name: Name of the topic.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order("topic", name, cluster, ordering, options, is_protected=False)


def protect_group(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Protect a consumer group from deletion.

    Deletions of the name are blocked until it is lifted, also of a group that is made later. What
    asks a broker directly, as stock tools do, is not stopped.

    Example:
        regent group protect billing --reason "production"

    Args:
        name: Name of the consumer group.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order("consumer_group", name, cluster, ordering, options, is_protected=True)


def unprotect_group(
    name: str,
    /,
    *,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Lift the protection of a consumer group, so that it may be deleted again.

    Asks for the name and a reason. Plans that were blocked by it can be made again.

    Example:
        regent group unprotect billing --yes --reason "moved away"

    Args:
        name: Name of the consumer group.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order("consumer_group", name, cluster, ordering, options, is_protected=False)


def protect_broker(
    group: str,
    /,
    *,
    broker: BrokerId = 0,
    address: str | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Protect a broker from being forgotten.

    It can't be forgotten until that is lifted, neither from the records nor as a replica. It is
    meant by its address, which stays when its id changes with the master.

    Example:
        regent broker protect broker-a --broker 1 --reason "production"

    Args:
        group: Name of the broker group.
        broker: Id of the broker as `regent broker list` shows it; 0 is the master.
        address: Address of the broker, for one that is not in the records now.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order_broker(group, broker, address, cluster, ordering, options, is_protected=True)


def unprotect_broker(
    group: str,
    /,
    *,
    broker: BrokerId = 0,
    address: str | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Lift the protection of a broker, so that it may be forgotten again.

    Asks for the name and a reason. Plans that were blocked by it can be made again.

    Example:
        regent broker unprotect broker-a --broker 1 --yes --reason "moved away"

    Args:
        group: Name of the broker group.
        broker: Id of the broker as `regent broker list` shows it; 0 is the master.
        address: Address of the broker, for one that is not in the records now.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order_broker(group, broker, address, cluster, ordering, options, is_protected=False)


def _order(
    kind: str,
    name: str,
    cluster: str | None,
    ordering: Ordering,
    options: Options,
    *,
    is_protected: bool,
) -> None:
    with connect(options) as client:
        cluster_name = choose_target(client, cluster, f"{kind.replace('_', ' ')} {name}")
        parameters = _parameters(cluster_name, kind, name, is_protected=is_protected)
        is_json = options.output == "json"
        order_change(client, "change_protection", parameters, ordering, is_json=is_json)


def _order_broker(
    group: str,
    broker_id: int,
    address: str | None,
    cluster: str | None,
    ordering: Ordering,
    options: Options,
    *,
    is_protected: bool,
) -> None:
    with connect(options) as client:
        cluster_name = choose_cluster(client, cluster)
        name = f"{group}/{address or _find_address(client, cluster_name, group, broker_id)}"
        choose_target(client, cluster_name, f"broker {name}")
        parameters = _parameters(cluster_name, "broker", name, is_protected=is_protected)
        is_json = options.output == "json"
        order_change(client, "change_protection", parameters, ordering, is_json=is_json)


def _parameters(cluster_name: str, kind: str, name: str, *, is_protected: bool) -> dict[str, Any]:
    return {
        "cluster_name": cluster_name,
        "resource_kind": kind,
        "resource_name": name,
        "is_protected": is_protected,
    }


def _find_address(client: RestClient, cluster_name: str, group: str, broker_id: int) -> str:
    for one in client.list(f"/clusters/{segment(cluster_name)}/brokers", limit=LISTED_MAX):
        if (one["group_name"], one["broker_id"]) == (group, broker_id):
            return str(one["address"])
    raise CommandError(
        f"no broker {broker_id} of group {group} in cluster {cluster_name}",
        next_step="regent broker list, or name it by --address",
        exit_code=ExitCode.NOT_FOUND,
    )
