"""The commands `regent broker cordon`, `uncordon`, `drain` and `forget`."""

from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import App, Parameter, validators

from backend.cli.clusters import ClusterName, choose_cluster
from backend.cli.orders import Ordering, order_change
from backend.cli.reader import print_note
from backend.cli.rest import connect
from backend.cli.target import Options

BrokerId = Annotated[int, Parameter(validator=validators.Number(gte=0))]


def register(broker: App) -> None:
    """Add the commands to those about brokers."""
    broker.command(cordon, name="cordon")
    broker.command(uncordon, name="uncordon")
    broker.command(drain, name="drain")
    broker.command(forget, name="forget")


def cordon(
    group: str,
    /,
    *,
    broker: BrokerId = 0,
    address: str | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Keep producers away from a broker: its topics can't be written there, but are still read.

    Routes say so everywhere within seconds, and clients look at them every 30 s. It stays so when
    the broker is restarted.

    Examples:
        regent broker cordon broker-a --dry-run
        regent broker cordon broker-a --yes --reason "disk to be replaced"

    Args:
        group: Name of the broker group.
        broker: Id of the broker as `regent broker list` shows it; 0 is the master.
        address: Address of the broker, which its id does not change with the master as.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order("cordon_broker", group, broker, address, cluster, ordering, options)


def uncordon(
    group: str,
    /,
    *,
    broker: BrokerId = 0,
    address: str | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Let producers come to a broker again.

    Example:
        regent broker uncordon broker-a

    Args:
        group: Name of the broker group.
        broker: Id of the broker as `regent broker list` shows it; 0 is the master.
        address: Address of the broker, for one that is no longer known by that id.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order("uncordon_broker", group, broker, address, cluster, ordering, options)


def drain(
    group: str,
    /,
    *,
    broker: BrokerId = 0,
    address: str | None = None,
    waive: Annotated[list[str] | None, Parameter(negative="")] = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Empty a broker so that it can be stopped: producers leave, then mastership or the messages.

    A master under a controller hands over to a replica of its set, which holds all messages. Of
    another broker the consumer groups are waited for until they have read to the end; that can be
    paused and cancelled, and `regent operation get` shows how far they are.

    Examples:
        regent broker drain broker-a --dry-run
        regent broker drain broker-a --waive old-group --yes --reason "to be replaced" --watch

    Args:
        group: Name of the broker group.
        broker: Id of the broker as `regent broker list` shows it; 0 is the master.
        address: Address of the broker, for one that is no longer known by that id.
        waive: Consumer group that is not waited for, more than once if need be.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    more = {"waived_groups": waive or []}
    _order("drain_broker", group, broker, address, cluster, ordering, options, more)


def forget(
    group: str,
    /,
    *,
    broker: BrokerId = 0,
    address: str | None = None,
    cluster: ClusterName = None,
    ordering: Ordering = Ordering(),
    options: Options = Options(),
) -> None:
    """Remove a broker that is gone from the records; one that registers again is back in them.

    Refused while the broker is registered. Its id under a controller is another matter:
    `regent controller forget`. It begins ten seconds after it was confirmed.

    Example:
        regent broker forget broker-a --yes --accept-loss --reason "it will not come back"

    Args:
        group: Name of the broker group.
        broker: Id of the broker as `regent broker list` shows it.
        address: Address of the broker, where several had the id.
        cluster: Name of the cluster; not needed when there is only one.
        ordering: How to confirm it.
        options: Which server, and how to print.
    """
    _order("forget_broker", group, broker, address, cluster, ordering, options)


def _order(
    kind: str,
    group: str,
    broker: int,
    address: str | None,
    cluster: str | None,
    ordering: Ordering,
    options: Options,
    more: Mapping[str, Any] | None = None,
) -> None:
    with connect(options) as client:
        name = choose_cluster(client, cluster)
        which = f"broker {broker}" if address is None else address
        print_note(f"target: {which} of {group} in cluster {name} at {client.target.server}")
        parameters = {
            "cluster_name": name,
            "group_name": group,
            "broker_id": broker,
            "address": address,
            **(more or {}),
        }
        is_json = options.output == "json"
        order_change(client, kind, parameters, ordering, is_json=is_json)
