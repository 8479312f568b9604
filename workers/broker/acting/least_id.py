"""Decide what a change of the least broker id of a group means (control-plane.md 5.3).

Pure: it knows what was said last, and has neither sockets nor a clock.
"""

from dataclasses import dataclass

from backend.rules.broker import MASTER_ID


@dataclass(frozen=True, slots=True)
class Least:
    """The member with the least id, as a name server names it."""

    broker_id: int
    address: str
    offline_address: str | None = None
    """The broker that has left; None if that is not known, or none has."""

    ha_address: str | None = None
    """The replication address of the member, if the name server names it."""


class LeastId:
    """The least id that is known; at first the master's, so that no replica acts too soon."""

    def __init__(self) -> None:
        self.known = Least(MASTER_ID, "")

    def begin(self, least: Least) -> None:
        """Note the least id at the start of the service."""
        self.known = least

    def take(self, least: Least) -> Least | None:
        """Return the news in what a name server said; None without any.

        A larger id than before means that its former holder is gone, even without a notice.
        """
        known = self.known
        if (least.broker_id, least.address) == (known.broker_id, known.address):
            return None
        if least.offline_address is None and least.broker_id > known.broker_id:
            least = Least(least.broker_id, least.address, known.address or None, least.ha_address)
        self.known = least
        return least


def least_of(addresses: dict[int, str]) -> Least | None:
    """Return the member with the least id of a group; None if it has no member."""
    if not addresses:
        return None
    broker_id = min(addresses)
    return Least(broker_id, addresses[broker_id])
