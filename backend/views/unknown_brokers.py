"""Name the brokers whose answer is missing or incomplete."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.services.cluster.broker_questions import UnknownBroker
from backend.views.copying import copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    BROKER_NAME,
    CLUSTER_NAME,
    UNKNOWN_WHY,
)


@dataclass(frozen=True, slots=True)
class UnknownBrokerOut:
    """A broker whose answer is missing or incomplete, and why."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    name: Annotated[str, BROKER_NAME]
    address: Annotated[str, BROKER_ADDRESS]
    why: Annotated[str, UNKNOWN_WHY]

    @classmethod
    def of(cls, unknown: UnknownBroker) -> Self:
        """Name such a broker."""
        return copied(cls, unknown.broker, name=str(unknown.broker.name), why=unknown.why)
