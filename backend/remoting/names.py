"""Check topic and group names against the protocol's rules, and build the derived names."""

from typing import Final

from backend.rules.consumer_group import created_consumer_group_name_fault
from backend.rules.topic import DEAD_LETTER_PREFIX, RETRY_PREFIX, created_topic_name_fault

SYSTEM_TOPIC_PREFIX: Final = "rmq_sys_"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"

TEMPLATE_TOPIC: Final = "TBW102"
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
TIMER_TOPIC: Final = "rmq_sys_wheel_timer"
"""The topic in which messages for a time wait."""

SELF_TEST_TOPIC: Final = "SELF_TEST_TOPIC"
BENCHMARK_TOPIC: Final = "BenchmarkTest"
OFFSET_MOVED_TOPIC: Final = "OFFSET_MOVED_EVENT"
HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
HALF_OPERATION_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
TRANSACTION_CHECK_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
TRANSACTION_GROUP: Final = "CID_RMQ_SYS_TRANS"
"""The group whose committed offsets are the progress of transactions."""

STATE_TOPIC: Final = "rmq_sys_REGENT_STATE"
"""Ours: the topic of the state, besides messages, that survives a failover (D14). No client sees
it."""

SHARE_STATE_PREFIX: Final = "rmq_sys_SHARE_STATE_"
"""Ours: the topic of the state of share queues, by cluster (D30). No client sees it."""

SYSTEM_TOPICS: Final = frozenset(
    {
        TEMPLATE_TOPIC,
        SCHEDULE_TOPIC,
        BENCHMARK_TOPIC,
        HALF_TOPIC,
        "RMQ_SYS_TRACE_TOPIC",
        HALF_OPERATION_TOPIC,
        TRANSACTION_CHECK_TOPIC,
        SELF_TEST_TOPIC,
        OFFSET_MOVED_TOPIC,
        "CHECKPOINT_TOPIC",
    }
)

# Topics that clients may not send to (remoting.md 2.2).
CLOSED_TOPICS: Final = frozenset(
    {
        SCHEDULE_TOPIC,
        TIMER_TOPIC,
        HALF_TOPIC,
        HALF_OPERATION_TOPIC,
        TRANSACTION_CHECK_TOPIC,
        SELF_TEST_TOPIC,
        OFFSET_MOVED_TOPIC,
        STATE_TOPIC,
    }
)

BUILT_IN_GROUPS: Final = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    TRANSACTION_GROUP,
)


class InvalidName(ValueError):
    """A topic or group name breaks the naming rules."""

    def __init__(self, kind: str, name: str, reason: str) -> None:
        super().__init__(f"the specified {kind} {reason}")
        self.kind, self.name = kind, name


def check_topic_name(name: str) -> None:
    """Accept a topic name, or raise why it is invalid.

    Raises:
        InvalidName: the name is blank, too long or holds a forbidden character.
    """
    _check("topic", name, created_topic_name_fault(name))


def check_consumer_group_name(name: str) -> None:
    """Accept a producer or consumer group name, or raise why it is invalid.

    Raises:
        InvalidName: the name is blank, too long or holds a forbidden character.
    """
    _check("group", name, created_consumer_group_name_fault(name))


def is_system_topic(name: str) -> bool:
    """Return whether the topic belongs to every broker, so that it can't be created or deleted."""
    return name in SYSTEM_TOPICS or name.startswith(SYSTEM_TOPIC_PREFIX)


def retry_topic(group: str) -> str:
    """Return the topic from which a group receives its failed messages again."""
    return RETRY_PREFIX + group


def pop_retry_topic(group: str, topic: str) -> str:
    """Return the topic from which a group receives messages of a topic later, by POP."""
    return f"{RETRY_PREFIX}{group}+{topic}"


def old_pop_retry_topic(group: str, topic: str) -> str:
    """Return the topic that brokers of the first versions of POP used for the same purpose."""
    return f"{RETRY_PREFIX}{group}_{topic}"


def share_state_topic(cluster_name: str) -> str:
    """Return the topic of the state of share queues."""
    return SHARE_STATE_PREFIX + cluster_name


def is_state_topic(name: str) -> bool:
    """Return whether a topic contains state of brokers, which no client sees."""
    return name == STATE_TOPIC or name.startswith(SHARE_STATE_PREFIX)


def dead_letter_topic(group: str) -> str:
    """Return the topic that keeps the messages that a group finally failed to consume."""
    return DEAD_LETTER_PREFIX + group


def sync_member_topic(broker_name: str) -> str:
    """Name the topic whose route has the members of a broker group, for old name servers."""
    return f"rmq_sys_SYNC_BROKER_MEMBER_{broker_name}"


def reply_topic(cluster_name: str) -> str:
    """Return the topic that carries request-reply answers of a cluster."""
    return f"{cluster_name}_REPLY_TOPIC"


def _check(kind: str, name: str, fault: str | None) -> None:
    if fault is not None:
        raise InvalidName(kind, name, fault)
