"""Declare the tables of the event stream: staged events, numbered events, and the end."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Identity,
    SmallInteger,
    Table,
    Text,
    Uuid,
)
from sqlalchemy.dialects.postgresql import JSONB

from backend.db.schema import instant, metadata


def _what_happened() -> tuple[Column[object], ...]:
    return (
        Column("kind", Text, nullable=False),
        Column("cluster_name", Text, nullable=False),
        Column("subject", Text, nullable=False),
        instant("happened_at"),
        Column("details", JSONB, nullable=False),
        Column("operation_id", Uuid),
    )


# Written in the transaction of the change; an id is greater than every id that this transaction
# could see.
staged_events = Table(
    "staged_events",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    *_what_happened(),
)

events = Table(
    "events",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    *_what_happened(),
)

# One row: the holder of its lock assigns numbers. Events up to `expired_number` are no longer kept.
event_stream = Table(
    "event_stream",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("newest_number", BigInteger, nullable=False),
    Column("expired_number", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="single"),
    CheckConstraint("0 <= expired_number AND expired_number <= newest_number", name="numbers"),
)
