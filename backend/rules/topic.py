"""Say whether a topic can be served: one rule for all that create, copy or announce topics."""

from typing import Final

from backend.rules.names import announced_name_fault, created_name_fault

RETRY_PREFIX: Final = "%RETRY%"
DEAD_LETTER_PREFIX: Final = "%DLQ%"
LIGHT_QUEUE_PREFIX: Final = "%LMQ%"
"""Of queues whose messages belong to other topics; only RocketMQ brokers have such."""
CREATED_NAME_LENGTH_MAX: Final = 127
NAME_SIZE_MAX: Final = 255
"""In bytes, of what brokers announce; also of retry topics and of those of dead letters."""

QUEUE_COUNT_MAX: Final = 65_535
PERMISSIONS_MAX: Final = 15
SYS_FLAG_MAX: Final = (1 << 31) - 1
FILTER_TYPES: Final = ("SINGLE_TAG", "MULTI_TAG")


def topic_fault(
    name: str,
    *,
    read_queue_count: int,
    write_queue_count: int,
    permissions: int,
    topic_sys_flag: int,
    filter_type: str = FILTER_TYPES[0],
) -> str | None:
    """Say why no broker can serve a topic; nothing where one can."""
    fault = topic_name_fault(name)
    if fault is not None:
        return f"its name {fault}"
    for field, value, high in (
        ("readQueueNums", read_queue_count, QUEUE_COUNT_MAX),
        ("writeQueueNums", write_queue_count, QUEUE_COUNT_MAX),
        ("perm", permissions, PERMISSIONS_MAX),
        ("topicSysFlag", topic_sys_flag, SYS_FLAG_MAX),
    ):
        if not 0 <= value <= high:
            return f"{field} is {value}; 0 to {high} is allowed"
    if filter_type not in FILTER_TYPES:
        return f"topicFilterType is {filter_type[:40]!r}; {' or '.join(FILTER_TYPES)} is allowed"
    return None


def topic_name_fault(name: str) -> str | None:
    """Say why no broker may announce a topic of this name.

    In that of a retry topic, stock's POP consumption joins group and topic by a plus.
    """
    checked = name.replace("+", "_") if name.startswith(RETRY_PREFIX) else name
    return announced_name_fault(checked, size_max=NAME_SIZE_MAX)


def created_topic_name_fault(name: str) -> str | None:
    """Say why no client may create a topic of this name."""
    if name.startswith(LIGHT_QUEUE_PREFIX):
        return f"begins with {LIGHT_QUEUE_PREFIX}: only RocketMQ brokers serve light queues"
    is_derived = name.startswith((RETRY_PREFIX, DEAD_LETTER_PREFIX))
    length_max = NAME_SIZE_MAX if is_derived else CREATED_NAME_LENGTH_MAX
    return created_name_fault(name, length_max=length_max)
