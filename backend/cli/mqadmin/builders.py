"""Translate stock's options into regent's arguments, command by command."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from backend.cli.errors import CommandError, ExitCode

READ, WRITE = 4, 2
ASK_BROKERS: Final = "RocketMQ's mqadmin can ask the brokers"
"""The next step where regent has no counterpart."""


@dataclass(frozen=True, slots=True)
class BrokerPlace:
    """Write the name of a broker as regent does."""

    cluster_name: str
    broker_group_name: str
    own_id: int


class Directory(Protocol):
    """Look up facts that stock's options do not contain."""

    def find_broker(self, address: str) -> BrokerPlace:
        """Find the broker with an address."""
        ...

    def has_topic(self, cluster_name: str | None, topic_name: str) -> bool:
        """Return whether a topic exists."""
        ...

    def list_broker_groups(self, cluster_name: str) -> list[str]:
        """List the names of the broker groups of a cluster."""
        ...

    def has_group(
        self, cluster_name: str | None, broker_group: str | None, consumer_group_name: str
    ) -> bool:
        """Return whether a broker group, or any, knows a consumer group."""
        ...


Given = Mapping[str, str]


def cluster_words(given: Given) -> list[str]:
    """Write the option of the given cluster."""
    return ["--cluster", given["c"]] if "c" in given else []


def _place(given: Given, directory: Directory) -> list[str]:
    """Write the place: a cluster, or the broker group of the broker with the given address."""
    if "b" not in given:
        return cluster_words(given)
    broker = directory.find_broker(given["b"])
    return ["--cluster", broker.cluster_name, "--broker-group", broker.broker_group_name]


def _broker(given: Given, directory: Directory) -> tuple[str, list[str]]:
    if "b" not in given:
        raise misuse("-b must be given", "one broker is meant at a time")
    broker = directory.find_broker(given["b"])
    id_text = str(broker.own_id)
    return broker.broker_group_name, ["--cluster", broker.cluster_name, "--broker", id_text]


def _permission(text: str) -> list[str]:
    if text not in {"2", "4", "6"}:
        raise misuse(f"-p {text} is no permission", "2 is to write, 4 to read, 6 both")
    bits = int(text)
    return [
        "--readable" if bits & READ else "--no-readable",
        "--writable" if bits & WRITE else "--no-writable",
    ]


def _truth(given: Given, name: str, option: str) -> list[str]:
    if name not in given:
        return []
    return [f"--{option}" if given[name].lower() == "true" else f"--no-{option}"]


def topic(given: Given, directory: Directory) -> list[str]:
    """Create or change a topic."""
    where = _place(given, directory)
    cluster = where[1] if where else None
    verb = "set" if directory.has_topic(cluster, given["t"]) else "create"
    words = ["topic", verb, given["t"], *where]
    for name, option in (("w", "--queues"), ("r", "--read-queues")):
        words += [option, given[name]] if name in given else []
    words += _permission(given["p"]) if "p" in given else []
    words += _truth(given, "o", "ordered")
    for attribute in filter(None, given.get("a", "").split(",")):
        words += _attribute(attribute.strip(), is_new=verb == "create")
    return words


def _attribute(text: str, *, is_new: bool) -> list[str]:
    name, _, value = text.partition("=")
    if name == "+message.type":
        return ["--message-type", value]
    if name == "+share.mode":
        return ["--share-mode", value]
    if name == "+share.timeShare" and value.lower() in {"true", "false"}:
        return ["--time-share" if value.lower() == "true" else "--no-time-share"]
    if name == "+replicate" and value.lower() in {"true", "false"}:
        if not is_new:
            why = "it is set when the topic is created"
            raise misuse(
                f"{text} can't be set", why, next_step="leave it out, or create another topic"
            )
        return ["--replicated" if value.lower() == "true" else "--no-replicated"]
    known = "+message.type=…, +share.mode=…, +share.timeShare=…, +replicate=…"
    raise misuse(
        f"the attribute {text} can't be set", f"regent sets only {known}", next_step=ASK_BROKERS
    )


def static_topic(given: Given, directory: Directory) -> list[str]:
    """Create or expand a static topic, or go on from a mapping file."""
    if "mf" in given:
        return _mapping_file(given)
    if _is_forced(given):
        next_step = "leave it out, or give the mapping file of the interrupted command (-mf)"
        raise misuse("-fr has no effect on a new plan", next_step)
    verb = "expand" if directory.has_topic(given.get("c"), given["t"]) else "create"
    words = ["topic", "static", verb, given["t"], "--queues", given["qn"]]
    return words + _targets(given, directory, "--broker-group")


def static_topic_remapping(given: Given, directory: Directory) -> list[str]:
    """Spread the queues of a static topic over broker groups, or go on from a mapping file."""
    if "mf" in given:
        return _mapping_file(given)
    words = ["topic", "static", "move", given["t"], *_targets(given, directory, "--target")]
    return [*words, "--force"] if _is_forced(given) else words


def _mapping_file(given: Given) -> list[str]:
    words = ["topic", "static", "import", given["t"], "--file", given["mf"], *cluster_words(given)]
    return [*words, "--force"] if _is_forced(given) else words


def _is_forced(given: Given) -> bool:
    return given.get("fr", "").lower() == "true"


def _targets(given: Given, directory: Directory, option: str) -> list[str]:
    """Write the broker groups, or all of the given cluster, as values of an option."""
    if "," in given.get("c", ""):
        raise misuse("-c names several clusters", "a static topic is in one cluster")
    if "b" in given:
        names = [name for one in given["b"].split(",") if (name := one.strip())]
    elif "c" in given:
        names = directory.list_broker_groups(given["c"])
    else:
        raise misuse("-b or -c must be given", "they name the broker groups of the queues")
    return [*cluster_words(given), *(word for name in names for word in (option, name))]


def topic_permission(given: Given, directory: Directory) -> list[str]:
    """Change the permissions of a topic."""
    return ["topic", "set", given["t"], *_permission(given["p"]), *_place(given, directory)]


def group(given: Given, directory: Directory) -> list[str]:
    """Create or change a consumer group."""
    where = _place(given, directory)
    cluster, broker_group = where[1] if where else None, where[3] if "b" in given else None
    verb = "set" if directory.has_group(cluster, broker_group, given["g"]) else "create"
    words = ["group", verb, given["g"], *where]
    for name, option in (
        ("s", "consume"),
        ("m", "consume-from-min"),
        ("d", "broadcast"),
        ("o", "ordered"),
        ("a", "notify-members"),
    ):
        words += _truth(given, name, option)
    for name, option in (("q", "--retry-queues"), ("r", "--retries")):
        words += [option, given[name]] if name in given else []
    return words


def consume_mode(given: Given, directory: Directory) -> list[str]:
    """Set how a consumer group receives a topic."""
    words = ["group", "mode", given["g"], given["t"], given["m"].upper()]
    words += ["--shared-clients", given["q"]] if "q" in given else []
    return [*words, *_place(given, directory)]


def group_deletion(given: Given, directory: Directory) -> list[str]:
    """Delete a consumer group."""
    words = ["group", "delete", given["g"], *_place(given, directory)]
    return [*words, "--clean"] if given.get("r", "").lower() == "true" else words


def config_change(given: Given, directory: Directory) -> list[str]:
    """Set a broker's property."""
    group, which = _broker(given, directory)
    return ["broker", "config", "set", group, f"{given['k']}={given['v']}", *which]


def config(given: Given, directory: Directory) -> list[str]:
    """Show a broker's properties."""
    group, which = _broker(given, directory)
    return ["broker", "config", "get", group, *which]


def broker_status(given: Given, directory: Directory) -> list[str]:
    """Show a broker's figures."""
    group, which = _broker(given, directory)
    return ["broker", "status", group, *which]


def broker_removal(given: Given, _directory: Directory) -> list[str]:
    """Have a container stop the broker that cluster, broker group and id name."""
    cluster, mark, rest = given["b"].partition(":")
    group, second_mark, broker_id = rest.partition(":")
    if not (mark and second_mark and broker_id.isascii() and broker_id.isdecimal()):
        raise misuse(f"-b {given['b']} names no broker", "write CLUSTER:BROKER_GROUP:ID")
    words = ["container", "remove-broker", group, "--broker", broker_id]
    return [*words, "--cluster", cluster, "--container", given["c"]]


def consume_stats(given: Given, directory: Directory) -> list[str]:
    """Show the offsets of groups on a broker."""
    group, which = _broker(given, directory)
    words = ["broker", "consume-stats", group, *which]
    return [*words, "--lag-min", given["l"]] if "l" in given else words


def offset_clone(given: Given, _directory: Directory) -> list[str]:
    """Copy the offsets of another group."""
    words = ["offset", "clone", given["s"], given["d"], given["t"]]
    return [*words, "--mode", "offline"] if given.get("o", "").lower() == "true" else words


def allocation(given: Given, _directory: Directory) -> list[str]:
    """Allocate queues to clients."""
    clients = [one.strip() for one in given["i"].split(",") if one.strip()]
    return ["topic", "allocate", given["t"], *(word for c in clients for word in ("--client", c))]


def offset_reset(given: Given, directory: Directory) -> list[str]:
    """Set a group's offsets."""
    to = given["o"] if "o" in given else _moment(given["s"])
    words = ["offset", "reset", given["g"], given["t"], "--to", to, *_place(given, directory)]
    return [*words, "--queue", given["q"]] if "q" in given else words


def _moment(text: str) -> str:
    """Read a time as stock does: `now`, milliseconds since 1970, or 2026-03-02#12:00:00:000."""
    if text == "now":
        return "latest"
    try:
        if text.isdecimal():
            at = datetime.fromtimestamp(int(text) / 1000).astimezone()
        else:
            at = datetime.strptime(text, "%Y-%m-%d#%H:%M:%S:%f").astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise misuse(f"-s {text} is no time", "such as 2026-03-02#12:00:00:000, or now") from error
    return at.isoformat(timespec="milliseconds")


def offset_skip(given: Given, _directory: Directory) -> list[str]:
    """Set a group's offsets to the end."""
    return ["offset", "reset", given["g"], given["t"], "--to", "latest", *cluster_words(given)]


def group_of(given: Given) -> str:
    """Return the broker group that is given."""
    if "b" not in given:
        raise misuse("-b must be given", "one broker group is meant at a time")
    return given["b"]


def replica_lag(given: Given, directory: Directory) -> list[str]:
    """Show the lag of replicas."""
    group, which = _broker(given, directory)
    return ["replica", "lag", group, *which[:2]]


def sync_state(given: Given, _directory: Directory) -> list[str]:
    """Show sync-state sets."""
    names = [given["b"]] if "b" in given else []
    return ["controller", "sync-state", *names, *cluster_words(given)]


def election(given: Given, _directory: Directory) -> list[str]:
    """Elect a master."""
    return ["controller", "elect", given["bn"], "--broker", given["b"], *cluster_words(given)]


def forgetting(given: Given, _directory: Directory) -> list[str]:
    """Forget replicas."""
    ids = [one for one in given.get("b", "").split(";") if one]
    words = ["controller", "forget", given["bn"], *cluster_words(given)]
    words += [word for one in ids for word in ("--broker", one)]
    return [*words, "--living"] if "l" in given else words


def misuse(what: str, why: str, *, next_step: str | None = None) -> CommandError:
    """Refuse options that can't be translated."""
    return CommandError(what, why=why, next_step=next_step, exit_code=ExitCode.USAGE)
