"""The commands `protect` and `unprotect` of topics, consumer groups and brokers."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.broker_names import find_broker
from backend.cli.broker_orders import NAME as BROKER_NAME
from backend.cli.broker_orders import OWN_ID
from backend.cli.clusters import cluster_path
from backend.cli.errors import CommandError, ExitCode
from backend.cli.order_commands import Given, field_of, option_of, orders
from backend.domain.orders.broker import BrokerOrder
from backend.domain.orders.protection import ChangeProtection

LISTED_MAX: Final = 10_000
NAME: Final = field_of(ChangeProtection, "resource_name")
TOPIC: Final = {"resource_name": option_of(NAME, word="name", text="Name of the topic.")}
GROUP: Final = {"resource_name": option_of(NAME, word="name", text="Name of the consumer group.")}
BROKER: Final = {"resource_name": BROKER_NAME}
FIXED: Final = dict.fromkeys(("resource_kind", "is_protected"))
BROKER_OPTIONS: Final = {
    **FIXED,
    "broker_id": OWN_ID,
    "address": option_of(
        field_of(BrokerOrder, "address"),
        text="Address of the broker, if Regent has no record of the broker.",
    ),
}


def name_resource(order: Mapping[str, Any]) -> str:
    """Write the kind and the name of the resource, for people."""
    return f"{order['resource_kind'].replace('_', ' ')} {order['resource_name']}"


@orders(ChangeProtection, name_resource, places=TOPIC, own=FIXED)
def protect_topic(given: Given) -> Mapping[str, Any]:
    """Protect a topic from deletion.

    The protection blocks deletions of a topic with this name, even if the topic is created later.
    It does not block tools that send requests directly to a broker, such as RocketMQ's mqadmin.

    Example:
        regent topic protect orders --reason "production"
    """
    return {**given.values, "resource_kind": "topic", "is_protected": True}


@orders(ChangeProtection, name_resource, places=TOPIC, own=FIXED)
def unprotect_topic(given: Given) -> Mapping[str, Any]:
    """Remove the protection of a topic, so that the topic can be deleted again.

    The command asks for the name and a reason. Then you can repeat the plans that the protection
    blocked.

    Example:
        regent topic unprotect orders --yes --reason "moved away"
    """
    return {**given.values, "resource_kind": "topic", "is_protected": False}


@orders(ChangeProtection, name_resource, places=GROUP, own=FIXED)
def protect_group(given: Given) -> Mapping[str, Any]:
    """Protect a consumer group from deletion.

    The protection blocks deletions of a consumer group with this name, even if the group is created
    later. It does not block tools that send requests directly to a broker, such as RocketMQ's
    mqadmin.

    Example:
        regent group protect billing --reason "production"
    """
    return {**given.values, "resource_kind": "consumer_group", "is_protected": True}


@orders(ChangeProtection, name_resource, places=GROUP, own=FIXED)
def unprotect_group(given: Given) -> Mapping[str, Any]:
    """Remove the protection of a consumer group, so that the group can be deleted again.

    The command asks for the name and a reason. Then you can repeat the plans that the protection
    blocked.

    Example:
        regent group unprotect billing --yes --reason "moved away"
    """
    return {**given.values, "resource_kind": "consumer_group", "is_protected": False}


@orders(ChangeProtection, name_resource, places=BROKER, own=BROKER_OPTIONS)
def protect_broker(given: Given) -> Mapping[str, Any]:
    """Protect a broker from being forgotten.

    The protection blocks `regent broker forget` and `regent controller forget` for this broker. The
    protection belongs to the broker's address, because a new master changes the broker's id.

    Example:
        regent broker protect broker-a-2 --reason "production"
    """
    return _broker(given, is_protected=True)


@orders(ChangeProtection, name_resource, places=BROKER, own=BROKER_OPTIONS)
def unprotect_broker(given: Given) -> Mapping[str, Any]:
    """Remove the protection of a broker, so that the broker can be forgotten again.

    The command asks for the name and a reason. Then you can repeat the plans that the protection
    blocked.

    Example:
        regent broker unprotect broker-a-2 --yes --reason "moved away"
    """
    return _broker(given, is_protected=False)


def _broker(given: Given, *, is_protected: bool) -> Mapping[str, Any]:
    group, address = given.values["resource_name"], given.values["address"]
    cluster_name = given.choose_cluster()
    if address is None:
        group, address = _find_address(given, cluster_name)
    return {
        "cluster_name": cluster_name,
        "resource_kind": "broker",
        "resource_name": f"{group}/{address}",
        "is_protected": is_protected,
    }


def _find_address(given: Given, cluster_name: str) -> tuple[str, str]:
    values, client = given.values, given.client
    try:
        meant = find_broker(client, cluster_name, values["resource_name"], values["broker_id"])
        found = client.get(cluster_path(client, cluster_name, "brokers", str(meant)))
    except CommandError as error:
        if error.exit_code is not ExitCode.NOT_FOUND:
            raise
        raise CommandError(
            error.what,
            next_step="regent broker list, or name it by --address",
            exit_code=ExitCode.NOT_FOUND,
        ) from error
    return str(found["broker_group_name"]), str(found["address"])
