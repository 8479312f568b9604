"""Name over REST the brokers that did not tell what they were asked for."""

from pydantic import BaseModel

from backend.services.broker_questions import UnknownBroker


class UnknownBrokerOut(BaseModel):
    """A broker that did not tell all it was asked for, and why."""

    group_name: str
    broker_id: int
    address: str
    why: str


def unknown_out(unknown: UnknownBroker) -> UnknownBrokerOut:
    """Name such a broker."""
    broker = unknown.broker
    return UnknownBrokerOut(
        group_name=broker.group_name,
        broker_id=broker.broker_id,
        address=broker.address,
        why=unknown.why,
    )
