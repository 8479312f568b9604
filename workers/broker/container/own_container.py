"""What a broker knows of the container that it runs in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from regent_engine import Command

if TYPE_CHECKING:
    from workers.broker.broker import Broker
    from workers.broker.requests.caller import Caller
    from workers.broker.requests.serving import Outcome


@dataclass(frozen=True, slots=True)
class LiveMaster:
    """A broker of this process that leads its group now, and how it serves a request."""

    broker: "Broker"
    dispatch: "Callable[[Caller, Command], Outcome]"


class OwnContainer(Protocol):
    """The container of a broker, as far as a broker may use it."""

    @property
    def address(self) -> str:
        """Return where tools reach the container."""

    def list_masters(self) -> Sequence[LiveMaster]:
        """List the brokers of this process that lead their groups and take messages now."""
