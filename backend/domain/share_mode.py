"""Name who owns the share queues of a topic (queue-ownership.md 4.2)."""

from enum import StrEnum

from backend.rules.attributes import PRIMARY_MODE, SHARED_MODE


class ShareMode(StrEnum):
    """Name who owns the share queues of a topic: the master, or any member in sync by lease."""

    PRIMARY = PRIMARY_MODE
    SHARED = SHARED_MODE
