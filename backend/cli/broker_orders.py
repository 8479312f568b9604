"""The commands `regent broker cordon`, `uncordon`, `drain` and `forget`, and `config set`."""

from collections.abc import Mapping
from typing import Any, Final

from backend.cli.errors import CommandError, ExitCode
from backend.cli.order_commands import Given, Option, orders
from backend.domain.orders.broker import (
    ChangeBrokerConfig,
    CordonBroker,
    DrainBroker,
    ForgetBroker,
    UncordonBroker,
)

GROUP: Final = {"group_name": "group"}


def name_broker(order: Mapping[str, Any]) -> str:
    """Say which broker is meant."""
    which = order.get("address") or f"broker {order['broker_id']}"
    return f"{which} of {order['group_name']}"


@orders(CordonBroker, name_broker, places=GROUP)
def cordon(given: Given) -> Mapping[str, Any]:
    """Keep producers away from a broker: its topics can't be written there, but are still read.

    Routes say so everywhere within seconds, and clients look at them every 30 s. It stays so when
    the broker is restarted.

    Examples:
        regent broker cordon broker-a --dry-run
        regent broker cordon broker-a --yes --reason "disk to be replaced"
    """
    return given.values


@orders(UncordonBroker, name_broker, places=GROUP)
def uncordon(given: Given) -> Mapping[str, Any]:
    """Let producers come to a broker again.

    Example:
        regent broker uncordon broker-a
    """
    return given.values


@orders(DrainBroker, name_broker, places=GROUP)
def drain(given: Given) -> Mapping[str, Any]:
    """Empty a broker so that it can be stopped: producers leave, then mastership or the messages.

    A master under a controller hands over to a replica of its set, which holds all messages. Of
    another broker the consumer groups are waited for until they have read to the end; that can be
    paused and cancelled, and `regent operation get` shows how far they are.

    Examples:
        regent broker drain broker-a --dry-run
        regent broker drain broker-a --waive old-group --yes --reason "to be replaced" --watch
    """
    return given.values


@orders(ForgetBroker, name_broker, places=GROUP)
def forget(given: Given) -> Mapping[str, Any]:
    """Remove a broker that is gone from the records; one that registers again is back in them.

    Refused while the broker is registered. Its id under a controller is another matter:
    `regent controller forget`. It begins ten seconds after it was confirmed.

    Example:
        regent broker forget broker-a --yes --accept-loss --reason "it will not come back"
    """
    return given.values


@orders(
    ChangeBrokerConfig,
    name_broker,
    places={
        **GROUP,
        "changes": Option(word="assignments", text="NAME=VALUE, one or more.", takes_rest=True),
    },
    own={"address": None},
)
def set_config(given: Given) -> Mapping[str, Any]:
    """Set properties of one broker: only those named change, in force and in its file.

    An unknown name is refused with the near ones, and so is what only the file can change. Says
    what counts after a restart, reads back, and is taken back by the former values. An empty value
    is the default; sizes may be written as 64MiB.

    Examples:
        regent broker config set broker-a fileReservedTime=48 --dry-run
        regent broker config set broker-a deleteWhen=02 maxMessageSize=8MiB --broker 1
    """
    changes = [_change(one) for one in given.values.get("changes", ())]
    if not changes:
        raise CommandError("nothing to set: give NAME=VALUE", exit_code=ExitCode.USAGE)
    return {**given.values, "changes": changes}


def _change(assignment: str) -> dict[str, str]:
    name, mark, value = assignment.partition("=")
    if not name or not mark:
        raise CommandError(f"{assignment!r} is not NAME=VALUE", exit_code=ExitCode.USAGE)
    return {"name": name.strip(), "value": value}
