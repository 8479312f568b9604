"""Body about pending transactions: our request 7018, unknown to stock."""

import msgspec

from backend.remoting.bodies.base import Body


class PendingTransactionBody(Body, frozen=True, kw_only=True):
    """A half message that is neither committed nor rolled back.

    `first_offset` is the queue offset of its first record, which identifies it at the broker. Times
    are milliseconds since 1970, by the clock of the producer and of the broker.
    """

    first_offset: int
    transaction_id: str
    producer_group: str
    topic: str
    queue_id: int
    born_ms: int
    age_ms: int
    """The time since the producer created the message, by the clock of the broker."""
    check_count: int
    message_id: str
    """The offset message id of the newest record of the half message."""
    body_size: int
    producer_count: int
    """The number of connected producers of the group."""


class PendingTransactionsBody(Body, frozen=True, kw_only=True):
    """The oldest pending transactions of a broker, and the number of all."""

    total_count: int
    transactions: list[PendingTransactionBody] = msgspec.field(default_factory=list)
