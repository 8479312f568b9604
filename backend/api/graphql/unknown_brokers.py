"""Name in the graph the brokers that did not tell what they were asked for."""

from typing import Self

import strawberry

from backend.api.graphql.scalars import Int64
from backend.services import broker_questions


@strawberry.type
class UnknownBroker:
    """Present a broker that did not tell all it was asked for, and why."""

    group_name: str
    broker_id: Int64
    address: str
    why: str

    @classmethod
    def of(cls, unknown: broker_questions.UnknownBroker) -> Self:
        """Present such a broker."""
        broker = unknown.broker
        return cls(
            group_name=broker.group_name,
            broker_id=Int64(broker.broker_id),
            address=broker.address,
            why=unknown.why,
        )
