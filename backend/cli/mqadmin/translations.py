"""Say for each command of mqadmin which command of regent does the same, or why none does.

A translated command is written as regent's own words and carried out by them, so a write goes
through the engine of operations as from any door (D19). A named one has its counterpart told.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from backend.cli.errors import CommandError, ExitCode

READ, WRITE = 4, 2


@dataclass(frozen=True, slots=True)
class BrokerPlace:
    """Name a broker as regent does."""

    cluster_name: str
    group_name: str
    broker_id: int


class Directory(Protocol):
    """Look up what stock's options do not say."""

    def find_broker(self, address: str) -> BrokerPlace:
        """Find the broker of an address."""
        ...

    def has_topic(self, cluster_name: str | None, topic_name: str) -> bool:
        """Tell whether there is a topic of that name."""
        ...

    def has_group(
        self, cluster_name: str | None, broker_group: str | None, group_name: str
    ) -> bool:
        """Tell whether a broker group, or any, knows a consumer group."""
        ...


Given = Mapping[str, str]
Build = Callable[[Given, Directory], list[str]]


@dataclass(frozen=True, slots=True)
class Translated:
    """Hold how a command is written in regent's words, and what differs.

    `reads` are the options that are taken over; others that are given are refused by name.
    """

    regent: str
    build: Build
    reads: str
    note: str = ""
    is_change: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """Name the command that does it; stock's options are not translated."""

    regent: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Declined:
    """Say why no command does it."""

    reason: str


Counterpart = Translated | Named | Declined


def _cluster(given: Given) -> list[str]:
    return ["--cluster", given["c"]] if "c" in given else []


def _place(given: Given, directory: Directory) -> list[str]:
    """Say where: in a cluster, or on the group of the broker whose address is given."""
    if "b" not in given:
        return _cluster(given)
    broker = directory.find_broker(given["b"])
    return ["--cluster", broker.cluster_name, "--broker-group", broker.group_name]


def _broker(given: Given, directory: Directory) -> tuple[str, list[str]]:
    if "b" not in given:
        raise misuse("-b must be given", "one broker is meant at a time")
    broker = directory.find_broker(given["b"])
    id_text = str(broker.broker_id)
    return broker.group_name, ["--cluster", broker.cluster_name, "--broker", id_text]


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


def _topic(given: Given, directory: Directory) -> list[str]:
    where = _place(given, directory)
    cluster = where[1] if where else None
    verb = "set" if directory.has_topic(cluster, given["t"]) else "create"
    words = ["topic", verb, given["t"], *where]
    for name, option in (("w", "--queues"), ("r", "--read-queues")):
        words += [option, given[name]] if name in given else []
    words += _permission(given["p"]) if "p" in given else []
    words += _truth(given, "o", "ordered")
    if "a" in given:
        name, _, value = given["a"].partition("=")
        if name != "+message.type":
            raise misuse(f"-a {given['a']} can't be set", "of the attributes only +message.type=…")
        words += ["--message-type", value]
    return words


def _topic_permission(given: Given, directory: Directory) -> list[str]:
    return ["topic", "set", given["t"], *_permission(given["p"]), *_place(given, directory)]


def _group(given: Given, directory: Directory) -> list[str]:
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


def _group_deletion(given: Given, directory: Directory) -> list[str]:
    words = ["group", "delete", given["g"], *_place(given, directory)]
    return [*words, "--clean-offsets"] if given.get("r", "").lower() == "true" else words


def _config_change(given: Given, directory: Directory) -> list[str]:
    group, which = _broker(given, directory)
    return ["broker", "config", "set", group, f"{given['k']}={given['v']}", *which]


def _config(given: Given, directory: Directory) -> list[str]:
    group, which = _broker(given, directory)
    return ["broker", "config", "get", group, *which]


def _reset(given: Given, directory: Directory) -> list[str]:
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


def _skip(given: Given, _directory: Directory) -> list[str]:
    return ["offset", "reset", given["g"], given["t"], "--to", "latest", *_cluster(given)]


def _group_of(given: Given) -> str:
    if "b" not in given:
        raise misuse("-b must be given", "one broker group is meant at a time")
    return given["b"]


def _lag(given: Given, directory: Directory) -> list[str]:
    group, which = _broker(given, directory)
    return ["replica", "lag", group, *which[:2]]


def _sync_state(given: Given, _directory: Directory) -> list[str]:
    names = [given["b"]] if "b" in given else []
    return ["controller", "sync-state", *names, *_cluster(given)]


def _elect(given: Given, _directory: Directory) -> list[str]:
    return ["controller", "elect", given["bn"], "--broker", given["b"], *_cluster(given)]


def _forget(given: Given, _directory: Directory) -> list[str]:
    ids = [one for one in given.get("b", "").split(";") if one]
    words = ["controller", "forget", given["bn"], *_cluster(given)]
    words += [word for one in ids for word in ("--broker", one)]
    return [*words, "--living"] if "l" in given else words


def misuse(what: str, why: str) -> CommandError:
    """Say that options can't be translated."""
    return CommandError(what, why=why, exit_code=ExitCode.USAGE)


_NO_POP: Final = Declined("our agents serve no pop consumers")
_NO_LITE: Final = Declined("our agents have no lite topics")
_NO_ROCKSDB: Final = Declined("our agents keep queues and metadata in files, not in RocksDB")
_NO_COLD: Final = Declined("our agents do not throttle cold reads")
_NO_CONTAINER: Final = Declined("our agents are processes of their own, not brokers in a container")
_NO_ACL: Final = Declined(
    "not built yet: remoting has no users and rules; `regent user` is access to the control plane"
)
_NO_STATIC: Final = Declined("not built yet: logical queues")
_NO_NAMESERVER: Final = Declined(
    "key-values and settings of a name server are read and written with stock's mqadmin"
)
_NO_PROBE: Final = Declined("not built yet: measuring sends")

COUNTERPARTS: Final[Mapping[str, Counterpart]] = {
    "updateTopic": Translated(
        "topic create, or topic set where there is one",
        _topic,
        "b c t r w p o a",
        "what is left out stays as it is, where stock sets its defaults",
        is_change=True,
    ),
    "updateTopicList": Declined("not built yet: changes from a file"),
    "deleteTopic": Translated(
        "topic delete",
        lambda g, _: ["topic", "delete", g["t"], *_cluster(g)],
        "t c",
        is_change=True,
    ),
    "updateSubGroup": Translated(
        "group create, or group set where there is one",
        _group,
        "b c g s m d o q r a",
        "what is left out stays as it is, where stock sets its defaults",
        is_change=True,
    ),
    "updateSubGroupList": Declined("not built yet: changes from a file"),
    "setConsumeMode": _NO_POP,
    "deleteSubGroup": Translated("group delete", _group_deletion, "b c g r", is_change=True),
    "updateBrokerConfig": Translated(
        "broker config set", _config_change, "b k v", "one broker at a time", is_change=True
    ),
    "updateTopicPerm": Translated("topic set", _topic_permission, "b c t p", is_change=True),
    "topicRoute": Translated("topic get", lambda g, _: ["topic", "get", g["t"]], "t l"),
    "topicStatus": Named("topic offsets"),
    "topicClusterList": Named("topic clusters"),
    "addBroker": _NO_CONTAINER,
    "removeBroker": _NO_CONTAINER,
    "resetMasterFlushOffset": Declined(
        "confirmed positions are the SyncStateSet's (D7); no request may set one"
    ),
    "brokerStatus": Named("broker status"),
    "queryMsgById": Named("message get"),
    "queryMsgByKey": Named("message find"),
    "queryMsgByUniqueKey": Named("message find"),
    "queryMsgByOffset": Named("message get"),
    "queryMsgTraceById": Named("message trace"),
    "printMsg": Named("message list"),
    "printMsgByQueue": Named("message list"),
    "sendMsgStatus": _NO_PROBE,
    "brokerConsumeStats": Named("broker consume-stats"),
    "producerConnection": Named("client list"),
    "consumerConnection": Named("client list"),
    "consumerProgress": Named("group lag"),
    "consumerStatus": Named("client get"),
    "cloneGroupOffset": Named("offset clone"),
    "producer": Named("client list"),
    "clusterList": Translated("broker list", lambda g, _: ["broker", "list", *_cluster(g)], "c m"),
    "topicList": Translated("topic list", lambda *_: ["topic", "list"], "c"),
    "updateKvConfig": _NO_NAMESERVER,
    "deleteKvConfig": _NO_NAMESERVER,
    "wipeWritePerm": Translated(
        "broker cordon",
        lambda g, _: ["broker", "cordon", _group_of(g)],
        "b",
        "takes the broker's own permission, which a registration does not bring back",
        is_change=True,
    ),
    "addWritePerm": Translated(
        "broker uncordon",
        lambda g, _: ["broker", "uncordon", _group_of(g)],
        "b",
        "gives the broker's own permission back",
        is_change=True,
    ),
    "resetOffsetByTime": Translated(
        "offset reset",
        _reset,
        "g t s f c b q o",
        "also where it goes back; -f is not needed",
        is_change=True,
    ),
    "skipAccumulatedMessage": Translated(
        "offset reset --to latest", _skip, "g t f c", is_change=True
    ),
    "updateOrderConf": Named("topic order"),
    "cleanExpiredCQ": Declined("agents remove what the log no longer holds by themselves"),
    "deleteExpiredCommitLog": Declined("agents remove files past their time by themselves"),
    "cleanUnusedTopic": Declined("not built yet; `regent topic delete --only-empty` deletes one"),
    "startMonitoring": Named("finding list", "what is wrong is looked for all the time"),
    "statsAll": Named("topic stats"),
    "allocateMQ": Named("topic allocate"),
    "checkMsgSendRT": _NO_PROBE,
    "clusterRT": _NO_PROBE,
    "getNamesrvConfig": _NO_NAMESERVER,
    "updateNamesrvConfig": _NO_NAMESERVER,
    "getBrokerConfig": Translated("broker config get", _config, "b", "one broker at a time"),
    "getConsumerConfig": Named("group get"),
    "queryCq": Named("store dump", "reads the files, on the broker's machine"),
    "sendMessage": Named("message send"),
    "consumeMessage": Named("message tail"),
    "updateStaticTopic": _NO_STATIC,
    "remappingStaticTopic": _NO_STATIC,
    "exportMetadata": Declined("not built yet: export of a cluster"),
    "exportConfigs": Declined("not built yet: export of a cluster"),
    "exportMetrics": Declined("/metrics and the Parquet history hold them"),
    "exportMetadataInRocksDB": _NO_ROCKSDB,
    "exportPopRecord": _NO_POP,
    "haStatus": Translated("replica lag", _lag, "b c", "one broker group at a time"),
    "getSyncStateSet": Translated("controller sync-state", _sync_state, "c b"),
    "getBrokerEpoch": Translated(
        "replica epochs",
        lambda g, _: ["replica", "epochs", _group_of(g), *_cluster(g)],
        "c b",
        "one broker group at a time",
    ),
    "getControllerMetaData": Translated(
        "controller status", lambda *_: ["controller", "status"], ""
    ),
    "getControllerConfig": Translated(
        "controller config get", lambda *_: ["controller", "config", "get"], ""
    ),
    "updateControllerConfig": Declined("no request changes what decides elections (D26)"),
    "electMaster": Translated("controller elect", _elect, "b bn c", is_change=True),
    "cleanBrokerMetadata": Translated("controller forget", _forget, "b bn c l", is_change=True),
    "dumpCompactionLog": Declined("our agents have no compacted topics"),
    "getColdDataFlowCtrInfo": _NO_COLD,
    "updateColdDataFlowCtrGroupConfig": _NO_COLD,
    "removeColdDataFlowCtrGroupConfig": _NO_COLD,
    "setCommitLogReadAheadMode": Declined("an agent's maps are advised by what it reads (D24)"),
    **dict.fromkeys(
        (
            *("createUser", "updateUser", "deleteUser", "getUser", "listUser", "copyUser"),
            *("createAcl", "updateAcl", "deleteAcl", "getAcl", "listAcl", "copyAcl"),
        ),
        _NO_ACL,
    ),
    "rocksDBConfigToJson": _NO_ROCKSDB,
    "checkRocksdbCqWriteProgress": _NO_ROCKSDB,
    "switchTimerEngine": Declined("our agents have one engine for delays"),
    **dict.fromkeys(
        (
            *("getBrokerLiteInfo", "getParentTopicInfo", "getLiteTopicInfo"),
            *("getLiteClientInfo", "getLiteGroupInfo", "triggerLiteDispatch"),
        ),
        _NO_LITE,
    ),
}
