"""The commands `regent container add-broker` and `remove-broker`."""

from collections.abc import Mapping
from typing import Any

from backend.cli.broker_names import MASTER_ID
from backend.cli.broker_orders import OWN, PLACES, meant_by, name_broker
from backend.cli.order_commands import Given, orders
from backend.domain.orders.container import AddBroker, RemoveBroker


@orders(
    AddBroker,
    "broker {broker_group_name}-{broker_id} in container {container_address}".format_map,
    places={"container_address": "container_address"},
)
def add_broker(given: Given) -> Mapping[str, Any]:
    """Have a container run the broker of a file, now and after each start.

    The file is on the machine of the container. The plan shows which broker the file names, whether
    its ports are free, and whether its store fits. A RocketMQ container does not report this, and
    forgets the broker at its next start.

    Examples:
        regent container add-broker 127.0.0.1:10811 --file /etc/b.conf --broker-group b --dry-run
        regent container add-broker 127.0.0.1:10811 --file /etc/b.conf --broker-group b
    """
    return given.values


def _name_removed(order: Mapping[str, Any]) -> str:
    path = order["config_path"]
    return name_broker(order) if path is None else f"the broker of {path}"


@orders(RemoveBroker, _name_removed, places=PLACES, own=OWN)
def remove_broker(given: Given) -> Mapping[str, Any]:
    """Have a container stop a broker, and run it no more; its store and its file stay.

    Regent refuses the removal if the broker leads its group, acts as its master, or is its last
    replica in sync. Drain the broker or elect another master first, or accept the interruption
    with --interrupts-group. An undo adds the broker again.

    A broker that has not joined its group has no known id. Name its broker group and its file.

    Examples:
        regent container remove-broker broker-a-2 --dry-run
        regent container remove-broker broker-a-2 --container 127.0.0.1:10811 --yes
        regent container remove-broker broker-a --container 127.0.0.1:10811 --file /etc/a.conf
    """
    if given.values["config_path"] is not None:
        broker_id = given.values["broker_id"] or MASTER_ID
        return {"cluster_name": given.choose_cluster(), **given.values, "broker_id": broker_id}
    return meant_by(given)
