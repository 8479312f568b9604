"""Declare the tables of leases and incidents of share queues (queue-ownership.md 4.17)."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    text,
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

# What members report, or the control plane notices. It is kept when its broker group is deleted.
share_incidents = Table(
    "share_incidents",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("cluster_name", Text, nullable=False),
    Column("broker_group_name", Text, nullable=False),
    Column("broker_id", BigInteger, nullable=False),
    # The process that reported it last, and whether it still does.
    Column("life", BigInteger, nullable=False),
    Column("is_named", Boolean, nullable=False),
    Column("kind", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("lane", Integer, nullable=False),
    Column("position", BigInteger),
    Column("topic", Text),
    Column("queue_id", Integer),
    Column("consumer_group_name", Text),
    Column("reason", Text),
    Column("outcome", Text),
    instant("opened_at"),
    instant("resolved_at", nullable=True),
    Column("resolution", Text),
    CheckConstraint("num_nulls(resolved_at, resolution) IN (0, 2)", name="resolved"),
    # A report that is repeated is the same incident.
    Index(
        "uq_share_incidents_report",
        *("cluster_name", "broker_group_name", "broker_id", "kind", "epoch", "lane", "position"),
        *("topic", "queue_id", "consumer_group_name"),
        unique=True,
        postgresql_nulls_not_distinct=True,
    ),
    Index("ix_share_incidents_open", "id", postgresql_where=text("resolved_at IS NULL")),
    Index(None, "resolved_at", postgresql_where=text("resolved_at IS NOT NULL")),
)
