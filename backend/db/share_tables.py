"""Declare the table of leases of share queues (queue-ownership.md 4.17)."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

from backend.db.schema import instant, metadata

# A row stays when its lease is free: the next epoch is greater than the stored one. All instants
# are of the clock of Postgres.
share_leases = Table(
    "share_leases",
    metadata,
    Column(
        "broker_group_id",
        BigInteger,
        ForeignKey("broker_groups.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("topic_name", Text, primary_key=True),
    Column("queue_id", Integer, primary_key=True),
    Column("consumer_group_name", Text, primary_key=True),
    # It grows with every write. A change is written only if the row is that which it was decided
    # from.
    Column("revision", BigInteger, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("owner_id", BigInteger),
    # The run of the owner's process.
    Column("owner_life", BigInteger),
    instant("slice_ends_at", nullable=True),
    instant("ends_at", nullable=True),
    # In the order of their first requests: id, end of the request, and whether there are messages.
    Column("waiters", JSONB, nullable=False),
    CheckConstraint("revision > 0 AND epoch >= 0", name="numbers"),
    CheckConstraint("state IN ('free', 'held', 'releasing')", name="state"),
    CheckConstraint(
        "num_nulls(owner_id, owner_life, ends_at) = CASE state WHEN 'free' THEN 3 ELSE 0 END",
        name="owner",
    ),
)
