"""Declare the tables of maintenance: runs of tasks, findings, and the end of deleted entries."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from backend.db.schema import instant, metadata

# The last slot of each periodic task: one run does its work, and a lost run is repeated.
maintenance_runs = Table(
    "maintenance_runs",
    metadata,
    Column("task_name", Text, primary_key=True),
    Column("slot", BigInteger, nullable=False),
    Column("interval_ms", BigInteger, nullable=False),
    Column("run_id", Uuid, nullable=False),
    instant("began_at"),
    # A run that has not ended by then is treated as lost.
    instant("lost_at"),
    instant("ended_at", nullable=True),
    Column("outcome", JSONB(none_as_null=True)),
    CheckConstraint("interval_ms > 0", name="interval"),
)

# A broken invariant: suspected, then open, then closed. Evidence is of the last check.
findings = Table(
    "findings",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("code", Text, nullable=False),
    Column("cluster_name", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("evidence", JSONB, nullable=False),
    # The evidence of the first suspicion, to compare with.
    Column("first_evidence", JSONB, nullable=False),
    instant("suspected_at"),
    instant("opened_at", nullable=True),
    instant("cleared_at", nullable=True),
    instant("closed_at", nullable=True),
    CheckConstraint("closed_at IS NULL OR opened_at IS NOT NULL", name="closed"),
    Index(
        "uq_findings_present",
        *("code", "cluster_name", "subject"),
        unique=True,
        postgresql_where=text("closed_at IS NULL"),
    ),
    Index(None, "cluster_name", "id"),
    Index(None, "closed_at", postgresql_where=text("closed_at IS NOT NULL")),
)

# One row: the last deleted entry of the audit, after which the chain starts.
audit_checkpoint = Table(
    "audit_checkpoint",
    metadata,
    Column("id", SmallInteger, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    instant("removed_at"),
    CheckConstraint("id = 1", name="single"),
    CheckConstraint("number >= 1", name="number"),
)

# What a periodic check that asks brokers suspected at its last run, until a scan of findings
# follows it: members of a consumer group that contradict each other, a static topic that differs.
suspicions = Table(
    "suspicions",
    metadata,
    Column("cluster_name", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("code", Text, primary_key=True),
    Column("evidence", JSONB, nullable=False),
    instant("seen_at"),
)

# The lag of each consumer group when its masters were last asked, by broker group.
recorded_lags = Table(
    "recorded_lags",
    metadata,
    Column("cluster_name", Text, primary_key=True),
    Column("consumer_group_name", Text, primary_key=True),
    Column("topic_name", Text, primary_key=True),
    Column("broker_group_name", Text, primary_key=True),
    Column("queue_count", Integer, nullable=False),
    Column("lag", BigInteger, nullable=False),
    instant("measured_at"),
    Column("expired_count", BigInteger, nullable=False, server_default=text("0")),
    CheckConstraint("lag >= 0 AND queue_count >= 0", name="counts"),
    Index(None, "cluster_name", "broker_group_name"),
)
