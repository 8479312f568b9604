"""The common part of the members of a group without a controller (control-plane.md 5)."""

from collections.abc import Iterable
from typing import ClassVar

from backend.rules.pre_online import PreOnlinePhase
from workers.broker.acting.lock_quorum import LockQuorum
from workers.broker.broker import Broker
from workers.broker.group.uncontrolled import Uncontrolled


class FixedRole(Uncontrolled):
    """A membership whose role is in the settings."""

    # The log of every member must store an order.
    keeps_room: ClassVar[bool] = False
    hears_appends: ClassVar[bool] = True

    def __init__(self, broker: Broker) -> None:
        """Be offline: clients find this broker once it has registered."""
        self._broker = broker
        self.is_online = False
        self.notice_count = 0
        """The number of changes of the least id that name servers have sent."""

        self.not_online_reason = ""
        self._phase, self._phase_peer = PreOnlinePhase.NAME_SERVER, ""
        self.members: dict[int, str] = {}
        """The living members by id, by the last poll of a name server."""

        self.quorum = LockQuorum(broker, self._find_others)
        self.lock, self.unlock = self.quorum.lock, self.quorum.unlock

    def enter(self, phase: PreOnlinePhase, peer: str = "") -> None:
        """Note what this broker does before it is online, and with which other broker."""
        self._phase, self._phase_peer = phase, peer

    def figures(self) -> dict[str, str | int]:
        """Return whether this broker is online, what it waits for, and what it holds of clients."""
        broker = self._broker
        return {
            "online": str(self.is_online).lower(),
            "notOnlineReason": self.not_online_reason,
            "preOnlinePhase": PreOnlinePhase.DONE if self.is_online else self._phase,
            "preOnlinePeer": "" if self.is_online else self._phase_peer,
            "offsetVersion": broker.offsets.data_version.state_version,
            "lockCount": sum(1 for _ in broker.locks.all(broker.elapsed_ms())),
        }

    def _find_others(self) -> Iterable[str]:
        """Return the addresses of the other living members."""
        own_id = self.own_id
        return [address for broker_id, address in self.members.items() if broker_id != own_id]

    def begin_topic(self, name: str) -> None:
        """Do nothing: the log shows which messages of a former topic are deleted."""
