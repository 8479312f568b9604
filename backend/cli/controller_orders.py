"""The commands of `regent controller` that order operations, and `regent replica adopt`."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.adoptions import CANDIDATE_COLUMNS, find_waiting
from backend.cli.errors import CommandError, ExitCode
from backend.cli.order_commands import Given, field_of, flag, option_of, orders
from backend.cli.output import print_items
from backend.domain.orders.group_mode import SwitchGroupMode
from backend.domain.orders.protocol_version import LowerProtocolVersion, UpgradeBrokerGroup
from backend.domain.orders.replica_group import (
    AdoptReplicas,
    ElectMaster,
    ForgetReplicas,
    PreferMaster,
)

TARGET: Final = "group {broker_group_name}".format_map
GROUP: Final = {"broker_group_name": "group"}


@orders(
    ElectMaster,
    TARGET,
    places=GROUP,
    own={"mode": flag("now", "Do not ask the current master to hand over first.")},
)
def elect_master(given: Given) -> Mapping[str, Any]:
    """Elect one broker as master or, without --broker, the successor of a dead master.

    The plan shows which broker would win, and why the other brokers would not win. The command asks
    for confirmation, and then reads the new master back. Regent refuses the election if another
    master was elected in the meantime. A replica that lacks confirmed messages can win only with
    --accept-loss; the plan states the loss.

    Examples:
        regent controller elect broker-a --broker 2 --dry-run
        regent controller elect broker-a --broker broker-a-2
        regent controller elect broker-a --broker 2 --yes --reason "planned work"
        regent controller elect broker-a --broker 2 --accept-loss --dry-run
    """
    return {
        **given.values,
        "mode": "now" if given.values["mode"] else "graceful",
        "accepts_loss": given.ordering.accept_loss,
    }


@orders(PreferMaster, TARGET, places=GROUP, own={"clear": flag("clear", "Remove the preference.")})
def prefer_master(given: Given) -> Mapping[str, Any]:
    """Set the preferred master for the next election, without starting an election.

    If members of the SyncStateSet have equal logs, the preferred replica wins, whatever the
    priorities of the replicas are. The preference does not help a replica that lacks messages. The
    preference does not replace a living master; to do that, use `regent controller elect`.

    Examples:
        regent controller prefer broker-a --broker 2
        regent controller prefer broker-a --clear
    """
    values = dict(given.values)
    if values.pop("clear") is (values["broker_id"] is not None):
        raise CommandError(
            "give --broker or --clear, not both",
            next_step="regent controller prefer GROUP --broker ID",
            exit_code=ExitCode.USAGE,
        )
    return values


@orders(ForgetReplicas, TARGET, places=GROUP)
def forget_replicas(given: Given) -> Mapping[str, Any]:
    """Forget dead replicas, or a whole broker group; their ids are never used again.

    Regent forgets a living replica only with its whole group. Acknowledged messages that no other
    replica holds are lost. The operation starts ten seconds after you confirm it; you can cancel it
    until then.

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
            text="Id or name of a broker to adopt. Default: all waiting brokers. Repeatable.",
        )
    },
    cluster_text=("Name of the cluster. Default: the only cluster with waiting brokers."),
)
def adopt_replicas(given: Given) -> Mapping[str, Any]:
    """Adopt brokers whose group the control plane lost, and keep their ids.

    Start all brokers of the group first. A broker that already serves as master becomes master
    again. Otherwise, the broker with the longest log of the newest epoch becomes master. If a
    broker is missing, acknowledged messages may be lost; you must then give --accept-loss.

    Examples:
        regent replica candidates
        regent replica adopt broker-a --dry-run
        regent replica adopt broker-a
        regent replica adopt broker-a --broker 1 --broker 2 --master 2 --accept-loss
    """
    waiting = find_waiting(given.client, given.cluster, given.values["broker_group_name"])
    if not given.is_json:
        print_items(CANDIDATE_COLUMNS, waiting)
    return {
        **given.values,
        "cluster_name": str(waiting[0]["cluster_name"]),
        "broker_ids": given.values["broker_ids"] or [item["broker_id"] for item in waiting],
        "accepts_loss": given.ordering.accept_loss,
    }


@orders(SwitchGroupMode, TARGET, places=GROUP)
def switch_group_mode(given: Given) -> Mapping[str, Any]:
    """Switch a broker group between controller mode and acting-master mode.

    In controller mode, a controller elects the next master. In acting-master mode, a replica
    serves reads, offsets and locks while the master is absent. Each broker writes the mode to its
    file and starts again, one after the other. The command shows for which broker the operation
    waits. Undo the operation to switch the group back.

    Examples:
        regent controller switch broker-a --to acting_master --dry-run
        regent controller switch broker-a --to acting_master
        regent controller switch broker-a --to controller --yes --reason "planned work"
    """
    return given.values


@orders(UpgradeBrokerGroup, TARGET, places=GROUP)
def upgrade_broker_group(given: Given) -> Mapping[str, Any]:
    """Upgrade the brokers of a broker group one by one, the master last, without downtime.

    The command names the broker to restart next. Stop that broker, and start it with the new
    release; the operation waits until the broker is in sync again. The master hands over before its
    turn. When each broker has the new protocol version, the group gets it. You can cancel the
    operation between two brokers.

    Examples:
        regent controller upgrade broker-a --dry-run
        regent controller upgrade broker-a
        regent controller upgrade broker-a --version 2 --yes --reason "release 2"
    """
    return given.values


@orders(LowerProtocolVersion, TARGET, places=GROUP)
def lower_protocol_version(given: Given) -> Mapping[str, Any]:
    """Lower the protocol version of a broker group, so that older releases can join again.

    The master writes all share queues again in records of that version. The version stays until the
    next `regent controller upgrade`.

    Examples:
        regent controller lower-version broker-a --version 1 --dry-run
        regent controller lower-version broker-a --version 1
    """
    return given.values
