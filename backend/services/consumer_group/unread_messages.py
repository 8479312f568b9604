"""Ask a broker for its unread messages."""

from dataclasses import dataclass
from typing import Final

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.errors import BrokerRefused
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.figures import GetDelayedCount
from backend.brokers.requests.offsets import GetGroupsWithOffsets, GetProgress
from backend.domain.queue_reading import add_lags
from backend.domain.unread_messages import UnreadMessages

GROUPS_AT_ONCE_MAX: Final = 16


@dataclass(frozen=True, slots=True)
class _GetGroupLag(Inquiry[tuple[int, bool]]):
    """Ask for the number of unread messages of a group, and whether it has a reader."""

    name: str

    async def put(self, brokers: Brokers, address: str) -> tuple[int, bool]:
        progress = await brokers.ask(address, GetProgress(self.name))
        online = await brokers.ask(address, GetOnlineGroup(self.name))
        if online is not None and online.is_broadcasting:
            # Its members keep their own offsets: what is stored here is of former times.
            return 0, True
        lag = add_lags(progress)
        if lag is None:
            raise BrokerRefused(
                address, f"it does not report how much {self.name} has left to read"
            )
        return lag, online is not None


class FindUnreadMessages(Inquiry[UnreadMessages]):
    """Ask how far every consumer group of a broker is, and what is delayed there."""

    async def put(self, brokers: Brokers, address: str) -> UnreadMessages:
        """Ask which groups there are, then about each, then for the delayed messages."""
        names = await brokers.ask(address, GetGroupsWithOffsets())
        asked = {name: _GetGroupLag(name) for name in names}
        answers = await brokers.ask_each(address, asked, at_once_max=GROUPS_AT_ONCE_MAX)
        return UnreadMessages(
            lags={name: lag for name, (lag, _) in answers.items()},
            online=frozenset(name for name, (_, is_online) in answers.items() if is_online),
            delayed_count=await brokers.ask(address, GetDelayedCount()),
        )
