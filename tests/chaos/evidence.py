"""The remains of a run, and the violations that it can have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.chaos.journal import Acknowledgement, Commit, Look, Reading
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
    commits: Sequence[Commit] = ()
    looks: Sequence[Look] = ()


def number_of(body: bytes) -> int:
    """Return the message of a body: its digits up to the colon."""
    return int(body.partition(b":")[0])
