"""Map each command of mqadmin to the regent command that does the same, or to the reason for none.

A translated command runs as a regent command, so a change goes through the engine of operations
(D19). For other commands, the table only names the counterpart.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from backend.cli.mqadmin import builders
from backend.cli.mqadmin.builders import Directory, Given, cluster_words, group_of

Build = Callable[[Given, Directory], list[str]]


@dataclass(frozen=True, slots=True)
class Translated:
    """Hold the translation of a command, and the differences.

    `reads` are the supported options; a command with another option is refused.
    """

    regent: str
    build: Build
    reads: str
    note: str = ""
    is_change: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """Name the counterpart of a command; stock's options are not translated."""

    regent: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Declined:
    """Say why a command has no counterpart."""

    reason: str


Counterpart = Translated | Named | Declined


_NO_LITE: Final = Declined("our agents have no lite topics")
_NO_ROCKSDB: Final = Declined("our agents keep queues and metadata in files, not in RocksDB")
_NO_COLD: Final = Declined("our agents do not throttle cold reads")
_NO_ACL: Final = Declined(
    "not built yet: remoting has no users and no access rules;"
    " `regent user` manages users of the control plane"
)
_NO_NAMESERVER: Final = Declined(
    "key-values and settings belong to one name server; use RocketMQ's mqadmin for them"
)
_NO_PRODUCER: Final = Declined(
    "the control plane measures no send times; measure them at the producers"
)
_NO_FILE: Final = Declined(
    "each plan changes one topic or one group; run one command for each entry of the file"
)

COUNTERPARTS: Final[Mapping[str, Counterpart]] = {
    "updateTopic": Translated(
        "topic create, or topic set if the topic exists",
        builders.topic,
        "b c t r w p o a",
        "options that you leave out keep their values, where RocketMQ sets its defaults",
        is_change=True,
    ),
    "updateTopicList": _NO_FILE,
    "deleteTopic": Translated(
        "topic delete",
        lambda g, _: ["topic", "delete", g["t"], *cluster_words(g)],
        "t c",
        is_change=True,
    ),
    "updateSubGroup": Translated(
        "group create, or group set if the group exists",
        builders.group,
        "b c g s m d o q r a",
        "options that you leave out keep their values, where RocketMQ sets its defaults",
        is_change=True,
    ),
    "updateSubGroupList": _NO_FILE,
    "setConsumeMode": Translated(
        "group mode",
        builders.consume_mode,
        "b c t g m q",
        "the plan names the members that rebalance",
        is_change=True,
    ),
    "deleteSubGroup": Translated(
        "group delete",
        builders.group_deletion,
        "b c g r",
        "retries and dead letters go with -r true, not by -c alone",
        is_change=True,
    ),
    "updateBrokerConfig": Translated(
        "broker config set", builders.config_change, "b k v", "one broker at a time", is_change=True
    ),
    "updateTopicPerm": Translated(
        "topic set", builders.topic_permission, "b c t p", is_change=True
    ),
    "topicRoute": Translated("topic get", lambda g, _: ["topic", "get", g["t"]], "t l"),
    "topicStatus": Translated(
        "topic offsets", lambda g, _: ["topic", "offsets", g["t"], *cluster_words(g)], "t c"
    ),
    "topicClusterList": Translated(
        "topic clusters", lambda g, _: ["topic", "clusters", g["t"]], "t"
    ),
    "addBroker": Named(
        "container add-broker", "the order names the broker group, which the plan finds in the file"
    ),
    "removeBroker": Translated(
        "container remove-broker", builders.broker_removal, "c b", is_change=True
    ),
    "resetMasterFlushOffset": Declined(
        "the SyncStateSet decides the confirmed positions (D7); no request can set them"
    ),
    "brokerStatus": Translated(
        "broker status", builders.broker_status, "b", "one broker at a time"
    ),
    "queryMsgById": Named("message get"),
    "queryMsgByKey": Named("message find"),
    "queryMsgByUniqueKey": Named("message find"),
    "queryMsgByOffset": Named("message get"),
    "queryMsgTraceById": Named(
        "message find", "traces are messages too: regent message find RMQ_SYS_TRACE_TOPIC --key ID"
    ),
    "printMsg": Named("message list"),
    "printMsgByQueue": Named("message list"),
    "sendMsgStatus": _NO_PRODUCER,
    "brokerConsumeStats": Translated(
        "broker consume-stats",
        builders.consume_stats,
        "b l",
        "-l is the smallest lag of a queue, as in RocketMQ; --sort in place of -o",
    ),
    "producerConnection": Named("client list"),
    "consumerConnection": Named("client list"),
    "consumerProgress": Named("group lag"),
    "consumerStatus": Named("client get"),
    "cloneGroupOffset": Translated(
        "offset clone",
        builders.offset_clone,
        "s d t o",
        "offsets are shown before they are set, and can be taken back",
        is_change=True,
    ),
    "producer": Named("client list"),
    "clusterList": Translated(
        "broker list", lambda g, _: ["broker", "list", *cluster_words(g)], "c m"
    ),
    "topicList": Translated("topic list", lambda *_: ["topic", "list"], "c"),
    "updateKvConfig": _NO_NAMESERVER,
    "deleteKvConfig": _NO_NAMESERVER,
    "wipeWritePerm": Translated(
        "broker cordon",
        lambda g, _: ["broker", "cordon", group_of(g)],
        "b",
        "takes the broker's own permission, which a registration does not bring back",
        is_change=True,
    ),
    "addWritePerm": Translated(
        "broker uncordon",
        lambda g, _: ["broker", "uncordon", group_of(g)],
        "b",
        "gives the broker's own permission back",
        is_change=True,
    ),
    "resetOffsetByTime": Translated(
        "offset reset",
        builders.offset_reset,
        "g t s f c b q o",
        "also where it goes back; -f is not needed",
        is_change=True,
    ),
    "skipAccumulatedMessage": Translated(
        "offset reset --to latest", builders.offset_skip, "g t f c", is_change=True
    ),
    "updateOrderConf": _NO_NAMESERVER,
    "cleanExpiredCQ": Declined(
        "agents automatically remove queue entries that the commit log no longer holds"
    ),
    "deleteExpiredCommitLog": Declined("agents automatically remove expired files"),
    "cleanUnusedTopic": Declined(
        "it deletes queues without a plan; RocketMQ's mqadmin can run it against agents"
    ),
    "startMonitoring": Named("finding list", "what is wrong is looked for all the time"),
    "statsAll": Translated(
        "topic stats",
        lambda g, _: ["topic", "stats", *(["--search", g["t"]] if "t" in g else [])],
        "t",
        "rates of what is taken in, and lags; topics whose name holds -t",
    ),
    "allocateMQ": Translated(
        "topic allocate",
        builders.allocation,
        "t i",
        "by both rules that clients have; -i split at commas",
    ),
    "checkMsgSendRT": _NO_PRODUCER,
    "clusterRT": _NO_PRODUCER,
    "getNamesrvConfig": _NO_NAMESERVER,
    "updateNamesrvConfig": _NO_NAMESERVER,
    "getBrokerConfig": Translated(
        "broker config get", builders.config, "b", "one broker at a time"
    ),
    "getConsumerConfig": Named("group get"),
    "queryCq": Named("store dump", "reads the files, on the broker's machine"),
    "sendMessage": Named("message send"),
    "consumeMessage": Named("message tail"),
    "updateStaticTopic": Translated(
        "topic static create, or topic static expand if the topic exists",
        builders.static_topic,
        "c b t qn mf fr",
        "one cluster; -mf is topic static import, and -fr goes with it",
        is_change=True,
    ),
    "remappingStaticTopic": Translated(
        "topic static move --target",
        builders.static_topic_remapping,
        "c b t mf fr",
        "one cluster; -mf is topic static import; -fr moves queues whose broker group is gone",
        is_change=True,
    ),
    "exportMetadata": Declined("not built yet: export of a cluster"),
    "exportConfigs": Declined("not built yet: export of a cluster"),
    "exportMetrics": Declined("/metrics and the Parquet history hold the metrics"),
    "exportMetadataInRocksDB": _NO_ROCKSDB,
    "exportPopRecord": Declined(
        "agents keep no records of deliveries; `regent queue share list` shows what consumers have"
    ),
    "haStatus": Translated(
        "replica lag", builders.replica_lag, "b c", "one broker group at a time"
    ),
    "getSyncStateSet": Translated("controller sync-state", builders.sync_state, "c b"),
    "getBrokerEpoch": Translated(
        "replica epochs",
        lambda g, _: ["replica", "epochs", group_of(g), *cluster_words(g)],
        "c b",
        "one broker group at a time",
    ),
    "getControllerMetaData": Translated(
        "controller status", lambda *_: ["controller", "status"], ""
    ),
    "getControllerConfig": Translated(
        "controller config get", lambda *_: ["controller", "config", "get"], ""
    ),
    "updateControllerConfig": Declined("no request can change the settings of elections (D26)"),
    "electMaster": Translated("controller elect", builders.election, "b bn c", is_change=True),
    "cleanBrokerMetadata": Translated(
        "controller forget", builders.forgetting, "b bn c l", is_change=True
    ),
    "dumpCompactionLog": Declined("our agents have no compacted topics"),
    "getColdDataFlowCtrInfo": _NO_COLD,
    "updateColdDataFlowCtrGroupConfig": _NO_COLD,
    "removeColdDataFlowCtrGroupConfig": _NO_COLD,
    "setCommitLogReadAheadMode": Declined(
        "agents choose the read-ahead of their file maps themselves (D24)"
    ),
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
