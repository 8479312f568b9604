"""Write and read the handle by which a waiting message is recalled (storage-and-ha.md 6.3)."""

import base64
import binascii
from dataclasses import dataclass
from typing import Final

VERSION: Final = "v1"
_TIME_LENGTH_MAX: Final = 18


@dataclass(frozen=True, slots=True)
class RecallHandle:
    """Name a waiting message: its topic, broker group, time in ms since 1970, and unique key."""

    topic: str
    broker_name: str
    due_ms: int
    unique_key: str

    def encode(self) -> str:
        """Return the handle as its producer gets it."""
        text = f"{VERSION} {self.topic} {self.broker_name} {self.due_ms} {self.unique_key}"
        return base64.urlsafe_b64encode(text.encode()).decode()


def decode_recall_handle(text: str) -> RecallHandle:
    """Read a handle.

    Raises:
        ValueError: it is malformed.
    """
    try:
        parts = base64.b64decode(text.encode(), altchars=b"-_", validate=True).decode().split(" ")
        version, topic, broker_name, due, unique_key = parts
    except (ValueError, binascii.Error) as error:
        raise ValueError("the handle is malformed") from error
    if version != VERSION or not due.isdecimal() or len(due) > _TIME_LENGTH_MAX:
        raise ValueError("the handle is malformed")
    return RecallHandle(topic, broker_name, int(due), unique_key)
