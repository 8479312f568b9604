"""The commands `regent broker cordon`, `uncordon`, `drain` and `forget`, and `config set`."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.broker_names import ID_TEXT, MASTER_ID, NAME_TEXT, OwnId, find_broker
from backend.cli.errors import CommandError, ExitCode
from backend.cli.order_commands import Given, Option, orders
from backend.domain.broker_name import BrokerName
from backend.domain.orders.broker import (
    ChangeBrokerConfig,
    CordonBroker,
    DrainBroker,
    ForgetBroker,
    UncordonBroker,
)

NAME: Final = Option(word="broker_name", text=NAME_TEXT)
OWN_ID: Final = Option(word="broker", text=ID_TEXT, kind=OwnId, default=None)
PLACES: Final = {"broker_group_name": NAME}
OWN: Final = {"broker_id": OWN_ID}


def name_broker(order: Mapping[str, Any]) -> str:
    """Describe the broker in words."""
    group = order["broker_group_name"]
    if (address := order.get("address")) is not None:
        return f"{address} of {group}"
    broker = BrokerName(group, order["broker_id"])
    return f"the master of {group}" if broker.own_id == MASTER_ID else f"broker {broker}"


def meant_by(given: Given) -> dict[str, Any]:
    """Return the typed values of a broker order, with the broker found."""
    values, cluster = given.values, given.choose_cluster()
    if values.get("address") is not None:
        broker = BrokerName(values["broker_group_name"], values["broker_id"] or MASTER_ID)
    else:
        broker = find_broker(
            given.client, cluster, values["broker_group_name"], values["broker_id"]
        )
    ids = {"broker_group_name": broker.broker_group_name, "broker_id": broker.own_id}
    return {"cluster_name": cluster, **values, **ids}


@orders(CordonBroker, name_broker, places=PLACES, own=OWN)
def cordon(given: Given) -> Mapping[str, Any]:
    """Stop writes to a broker; consumers can still read from the broker.

    Name servers remove the broker's write permission from their routes within seconds. Clients
    fetch routes every 30 s. A restart of the broker does not end the cordon.

    Examples:
        regent broker cordon broker-a-2 --dry-run
        regent broker cordon broker-a-2 --yes --reason "disk to be replaced"
    """
    return meant_by(given)


@orders(UncordonBroker, name_broker, places=PLACES, own=OWN)
def uncordon(given: Given) -> Mapping[str, Any]:
    """Allow writes to a broker again.

    Example:
        regent broker uncordon broker-a-2
    """
    return meant_by(given)


@orders(DrainBroker, name_broker, places=PLACES, own=OWN)
def drain(given: Given) -> Mapping[str, Any]:
    """Prepare a broker for a stop: stop writes, then move its mastership or wait for consumers.

    A master under a controller hands over to a replica of its SyncStateSet, which holds all
    messages. On any other broker, the operation waits until each consumer group has read all
    messages. You can pause or cancel this operation; `regent operation get` shows the progress of
    each group.

    Logical queues of static topics stay with the broker group. With --move-queues, they first move
    to other broker groups that may be written. Then an undo moves them back.

    Examples:
        regent broker drain broker-a-2 --dry-run
        regent broker drain broker-a-1 --move-queues --reason "the broker group is to be removed"
        regent broker drain broker-a-2 --waive old-group --yes --reason "to be replaced" --watch
    """
    return meant_by(given)


@orders(ForgetBroker, name_broker, places=PLACES, own=OWN)
def forget(given: Given) -> Mapping[str, Any]:
    """Delete the record of a broker that is no longer registered.

    Regent refuses the deletion while the broker is registered. If the broker registers again,
    Regent records the broker again. To delete the broker's id at the controller, use
    `regent controller forget`. The last broker of a group stays while logical queues of static
    topics have segments there: move the queues, and wait until their messages expire, or give up
    these messages with --loses-segments. The operation starts ten seconds after you confirm it.

    Example:
        regent broker forget broker-a-2 --yes --accept-loss --reason "it will not come back"
    """
    return meant_by(given)


@orders(
    ChangeBrokerConfig,
    name_broker,
    places={
        **PLACES,
        "changes": Option(
            word="assignments", text="One or more assignments, each as NAME=VALUE.", takes_rest=True
        ),
    },
    own={**OWN, "address": None},
)
def set_config(given: Given) -> Mapping[str, Any]:
    """Set properties of one broker, in the running broker and in its file.

    Other properties stay unchanged. Regent refuses an unknown property name, and suggests similar
    names. It also refuses a property that only the file can change. The command shows which values
    need a restart, and reads the new values back. An undo sets the former values. An empty value
    sets the default. You can write a size as 64MiB.

    Examples:
        regent broker config set broker-a-2 fileReservedTime=48 --dry-run
        regent broker config set broker-a-2 deleteWhen=02 maxMessageSize=8MiB
    """
    changes = [_change(one) for one in given.values.get("changes", ())]
    if not changes:
        raise CommandError("nothing to set: give NAME=VALUE", exit_code=ExitCode.USAGE)
    return {**meant_by(given), "changes": changes}


def _change(assignment: str) -> dict[str, str]:
    name, mark, value = assignment.partition("=")
    if not name or not mark:
        raise CommandError(f"{assignment!r} is not NAME=VALUE", exit_code=ExitCode.USAGE)
    return {"name": name.strip(), "value": value}
