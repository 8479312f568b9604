"""Name the brokers that did not answer what they were asked for."""

from dataclasses import dataclass
from typing import Self

from backend.services.cluster.broker_questions import UnknownBroker
from backend.views.copying import copied


@dataclass(frozen=True, slots=True)
class UnknownBrokerOut:
    """A broker whose answer is missing or incomplete, and why."""

    broker_group_name: str
    name: str
    address: str
    why: str

    @classmethod
    def of(cls, unknown: UnknownBroker) -> Self:
        """Name such a broker."""
        return copied(cls, unknown.broker, name=str(unknown.broker.name), why=unknown.why)
