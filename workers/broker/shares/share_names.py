"""Name share queues, and say what a member of a broker group knows and does with them (ADR 23)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class ShareName(NamedTuple):
    """Identify a share queue in its broker group."""

    topic: str
    queue_id: int
    group: str


@dataclass(frozen=True, slots=True)
class SeenShare:
    """Hold what a member has read of a share queue in the lane.

    Attributes:
        known_epoch: The highest lease epoch of an owner.
        owner: The id of the broker that owns it by the lane; None without an owner.
        has_messages: Whether there is a message that consumers could get.
    """

    known_epoch: int
    owner: int | None
    has_messages: bool


class MemberShares(Protocol):
    """The share queues of one member: what it reads in lanes, and what it owns.

    All methods belong to the loop's thread.
    """

    def is_shared(self, topic: str) -> bool:
        """Return whether members share the queues of a topic by lease."""

    def seen(self) -> Mapping[ShareName, SeenShare]:
        """Return what the lanes say about each share queue of shared topics."""

    def owned(self) -> Mapping[ShareName, int]:
        """Return the share queues that this member serves, with their lease epochs."""

    async def own(self, name: ShareName, epoch: int) -> bool:
        """Serve a share queue from its OWN record on; False if the lane has a higher epoch.

        A repeated call with the epoch of an own record changes nothing.
        """

    async def give_back(self, name: ShareName, *, wants_again: bool) -> None:
        """Stop to serve a share queue, append what is outstanding, then UNOWN.

        It returns when this member has read its own UNOWN record (queue-ownership.md 4.7).
        """

    def stop(self, name: ShareName) -> None:
        """Stop to serve a share queue at once, without a record: its lease may be over."""

    async def own_as_sequencer(self, name: ShareName) -> int | None:
        """Serve a share queue by the next epoch, without a lease; None if this is no sequencer."""

    def owner_of(self, topic: str, queue_id: int, group: str) -> int | None:
        """Return the id of the broker that owns a share queue by the lane, if any."""
