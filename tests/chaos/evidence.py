"""The remains of a run, and the violations that it can have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.domain.share_mode import ShareMode
from tests.chaos.journal import (
    Acknowledgement,
    Commit,
    Delivery,
    Look,
    Reading,
    Settlement,
)
from tests.chaos.stores import BrokerStore


class Breach(StrEnum):
    """The kinds of violations."""

    LOST = "an acknowledged message is lost"
    OFFSET_TWICE = "a queue offset was used twice"
    TWO_MASTERS = "two masters acknowledged at a time"
    UNLIKE = "replicas are not alike"
    UNREAD = "what a consumer was shown is not there any more"
    BROKEN_QUEUE = "a queue is not what its log says"
    BROKEN_EPOCHS = "the epochs are out of order"
    STORED_TWICE = "a message that was sent once is stored twice"
    OFFSET_BACK = "a committed offset went back"
    OFFSET_INVENTED = "an offset was never committed"
    UNDELIVERED = "an acknowledged delayed message was never delivered"
    EARLY = "a consumer received a message before its time"
    ANOTHER_KEY = "copies of a message have different keys"
    INVENTED = "a message was never sent"
    UNCOMMITTED = "a consumer received a message before its transaction was committed"
    COMMITTED_TWICE = "a committed message is at two places"
    NEVER_VISIBLE = "a committed message was never received"
    TWO_HOLDERS = "two clients had the lock of a queue at a time"
    FINISHED_AGAIN = "a finished message was handed out again"
    FORGOTTEN = "a message was finished without an act of a consumer"
    HELD_TWICE = "two consumers had a message at a time"
    TWO_OWNERS = "two brokers handed out messages at a time"


@dataclass(frozen=True, slots=True)
class Violation:
    """One violation."""

    breach: Breach
    text: str

    def __str__(self) -> str:
        return f"{self.breach}: {self.text}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The remains of a run."""

    topic: str
    acknowledgements: Sequence[Acknowledgement]
    readings: Sequence[Reading]
    masters: Mapping[int, int]
    """The elected master of each epoch, by the controller's history."""

    stores: Mapping[int, BrokerStore]
    last_master: int
    deferred: Sequence[int] = ()
    """The numbers of acknowledged messages of `delayed_topic`."""

    delayed_topic: str = ""
    committing_group: str = ""
    commits: Sequence[Commit] = ()
    looks: Sequence[Look] = ()
    deliveries: Sequence[Delivery] = ()
    settlements: Sequence[Settlement] = ()
    share_mode: ShareMode = ShareMode.PRIMARY


def number_of(body: bytes) -> int:
    """Return the message of a body: its digits up to the colon."""
    return int(body.partition(b":")[0])
