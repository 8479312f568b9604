"""Say whether a consumer group can be served: one rule for all that create or copy groups."""

from typing import Final

from backend.rules.names import created_name_fault
from backend.rules.topic import QUEUE_COUNT_MAX

CREATED_NAME_LENGTH_MAX: Final = 120
NAME_LENGTH_MAX: Final = 255
"""Stock makes a group of this length on first use, and refuses one above 120 by request."""


def group_fault(name: str, *, retry_queue_count: int) -> str | None:
    """Say why no broker can serve a consumer group; nothing where one can."""
    fault = consumer_group_name_fault(name)
    if fault is not None:
        return f"its name {fault}"
    if not 0 <= retry_queue_count <= QUEUE_COUNT_MAX:
        return f"retryQueueNums is {retry_queue_count}; 0 to {QUEUE_COUNT_MAX} is allowed"
    return None


def consumer_group_name_fault(name: str) -> str | None:
    """Say why no broker can hold a consumer group of this name."""
    return created_name_fault(name, length_max=NAME_LENGTH_MAX)


def created_consumer_group_name_fault(name: str) -> str | None:
    """Say why no client may create a group of this name."""
    return created_name_fault(name, length_max=CREATED_NAME_LENGTH_MAX)
