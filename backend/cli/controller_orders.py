"""The commands `regent controller elect`, `prefer` and `forget`, and `regent replica adopt`."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.adoptions import find_waiting, print_candidates
from backend.cli.errors import CommandError, ExitCode
from backend.cli.order_commands import Given, field_of, flag, option_of, orders
from backend.domain.orders.replica_group import (
    AdoptReplicas,
    ElectMaster,
    ForgetReplicas,
    PreferMaster,
)

TARGET: Final = "group {group_name}".format_map
GROUP: Final = {"group_name": "group"}


@orders(
    ElectMaster,
    TARGET,
    places=GROUP,
    own={"mode": flag("now", "Do not ask the present master to hand over first.")},
)
def elect_master(given: Given) -> Mapping[str, Any]:
    """Elect a master: the broker named, or whom the rules choose when the present one is dead.

    Shows who would win and why not the others, asks, and shows what was read back. Refused when
    another master was elected meanwhile. A replica that lacks confirmed messages is only elected
    with --accept-loss; the plan says how much is lost.

    Examples:
        regent controller elect broker-a --broker 2 --dry-run
        regent controller elect broker-a --broker 2
        regent controller elect broker-a --broker 2 --yes --reason "planned work"
        regent controller elect broker-a --broker 2 --accept-loss --dry-run
    """
    return {
        **given.values,
        "mode": "now" if given.values["mode"] else "graceful",
        "accepts_loss": given.ordering.accept_loss,
    }


@orders(PreferMaster, TARGET, places=GROUP, own={"nobody": flag("nobody", "Prefer none any more.")})
def prefer_master(given: Given) -> Mapping[str, Any]:
    """Prefer a replica as master; it acts at the next election and causes none.

    Among members of the sync-state set whose logs are equal the preferred one wins, before any
    priority. One that lacks messages never wins by it, and a living master stays: to have another
    one now, elect it.

    Examples:
        regent controller prefer broker-a --broker 2
        regent controller prefer broker-a --nobody
    """
    values = dict(given.values)
    if values.pop("nobody") is (values["broker_id"] is not None):
        raise CommandError(
            "one of --broker and --nobody is needed",
            next_step="regent controller prefer GROUP --broker ID",
            exit_code=ExitCode.USAGE,
        )
    return values


@orders(ForgetReplicas, TARGET, places=GROUP)
def forget_replicas(given: Given) -> Mapping[str, Any]:
    """Forget replicas that will not come back, or a whole group; ids are never given away again.

    A living replica is forgotten only with its whole group. What was acknowledged and is held by
    nobody else is lost with them. It begins ten seconds after it was confirmed, and can be
    cancelled until then.

    Examples:
        regent controller forget broker-a --broker 3 --dry-run
        regent controller forget broker-a --broker 2 --broker 3
        regent controller forget broker-a --living
    """
    return given.values


@orders(
    AdoptReplicas,
    TARGET,
    places=GROUP,
    own={
        "broker_ids": option_of(
            field_of(AdoptReplicas, "broker_ids"),
            text="Id of a broker to adopt, more than once if need be; without, all that wait.",
        )
    },
    cluster_text=("Name of the cluster; not needed when the brokers that wait are of one only."),
)
def adopt_replicas(given: Given) -> Mapping[str, Any]:
    """Take brokers in again whose group the control plane lost, under the ids they hold.

    Start all brokers of the group first: the master will be the one that serves, else the one
    with the longest log of the newest epoch. When one is missing, acknowledged messages may be
    lost, and that must be accepted.

    Examples:
        regent replica candidates
        regent replica adopt broker-a --dry-run
        regent replica adopt broker-a
        regent replica adopt broker-a --broker 1 --broker 2 --master 2 --accept-loss
    """
    waiting = find_waiting(given.client, given.cluster, given.values["group_name"])
    if not given.is_json:
        print_candidates(waiting)
    return {
        **given.values,
        "cluster_name": str(waiting[0]["cluster_name"]),
        "broker_ids": given.values["broker_ids"] or [item["broker_id"] for item in waiting],
        "accepts_loss": given.ordering.accept_loss,
    }
